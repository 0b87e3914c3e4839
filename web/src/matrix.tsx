// The congestion matrix: a block for each switch with a cell for each link that leaves it, in rows
// of levels, groups or columns of switches.
//
// The cells have the measure and the colours of the drawing beside them. In trees the links up are
// the upper row of a block, the links down the lower one. The drawing shows where a hot link is,
// the matrix how alike the links of a level are.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Wiring } from "../engine/engine.js";
import { number } from "./chart.tsx";
import { heat } from "./draw.ts";
import type { HotLink } from "./measures.ts";

const CELL = 10;
const GAP = 5;
const HEAD = 18;
/** Most links in a row of a block; further ones are in a second row. */
const MOST = 8;
/** Switches in the table. */
const LISTED = 12;

interface Block {
  name: string;
  /** Rows of links. */
  rows: HotLink[][];
}

interface Cell {
  x: number;
  y: number;
  link: HotLink;
}

interface Drawn {
  heads: { y: number; text: string }[];
  cells: Cell[];
  height: number;
}

interface MatrixProps {
  links: HotLink[];
  wiring: Wiring;
  tree: boolean;
  /** The colour's part of a number of waiting packets. */
  part: (waiting: number) => number;
}

/** A switch's row of blocks: its level in a tree, else its group or its column. */
function rowOf(name: string, level: number, tree: boolean): string {
  if (tree) return `level ${level}`;
  const place = name.replace(/ of rail \d+$/, "").replace("switch ", "");
  if (place.includes(",")) return `switches ${place.replace(/,.*/, "")},…`;
  return place.includes(".") ? `group ${place.replace(/\..*/, "")}` : "switches";
}

function blocks(links: HotLink[], wiring: Wiring, tree: boolean): Map<string, Block[]> {
  const at = new Map(wiring.link.map((link, row) => [link, row]));
  const found = new Map<string, Block[]>();
  const bySwitch = new Map<string, Block>();
  for (const link of links) {
    const row = at.get(link.link) ?? 0;
    if (wiring.switch[row] === null) continue;
    let block = bySwitch.get(link.from);
    if (!block) {
      block = { name: link.from, rows: [] };
      bySwitch.set(link.from, block);
      const name = rowOf(link.from, wiring.level[row] ?? 1, tree);
      found.set(name, [...(found.get(name) ?? []), block]);
    }
    const place = tree ? (wiring.up[row] ? 0 : 1) : Math.floor(block.rows.flat().length / MOST);
    while (block.rows.length <= place) block.rows.push([]);
    (block.rows[place] as HotLink[]).push(link);
  }
  // Trees from the top, others in their order.
  return tree
    ? new Map(
        [...found].sort(([one], [other]) => other.localeCompare(one, "en", { numeric: true })),
      )
    : found;
}

function place(found: Map<string, Block[]>, width: number): Drawn {
  const drawn: Drawn = { heads: [], cells: [], height: 0 };
  let y = 0;
  for (const [text, row] of found) {
    drawn.heads.push({ y: y + HEAD - 6, text });
    y += HEAD;
    let x = 0;
    let tall = 0;
    for (const block of row) {
      const wide = CELL * Math.max(...block.rows.map((cells) => cells.length));
      if (x > 0 && x + wide > width) [x, y, tall] = [0, y + tall + GAP, 0];
      block.rows.forEach((cells, line) =>
        cells.forEach((link, step) =>
          drawn.cells.push({ x: x + step * CELL, y: y + line * CELL, link }),
        ),
      );
      tall = Math.max(tall, block.rows.length * CELL);
      x += wide + GAP;
    }
    y += tall + GAP;
  }
  drawn.height = y;
  return drawn;
}

export function Matrix({ links, wiring, tree, part }: MatrixProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<HotLink | null>(null);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    if (box.current) watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);
  const found = useMemo(() => blocks(links, wiring, tree), [links, wiring, tree]);
  const drawn = useMemo(() => place(found, width), [found, width]);
  // One path for each colour: a network of 1,024 nodes has thousands of cells.
  const colours = new Map<string, string>();
  for (const { x, y, link } of drawn.cells) {
    const colour = link.waiting > 0 ? heat(part(link.waiting)) : "var(--line)";
    colours.set(
      colour,
      `${colours.get(colour) ?? ""}M${x} ${y}h${CELL - 1}v${CELL - 1}h${1 - CELL}z`,
    );
  }
  const sums = useMemo(
    () =>
      [...found.values()]
        .flat()
        .map(({ name, rows }) => ({
          name,
          waiting: rows.flat().reduce((sum, link) => sum + link.waiting, 0),
          most: Math.max(...rows.flat().map((link) => link.waiting)),
        }))
        .filter(({ waiting }) => waiting > 0)
        .sort((one, other) => other.waiting - one.waiting)
        .slice(0, LISTED),
    [found],
  );
  const point = (event: PointerEvent) => {
    const at = (event.currentTarget as SVGElement).getBoundingClientRect();
    const [x, y] = [event.clientX - at.left, event.clientY - at.top];
    setPointed(
      drawn.cells.find(
        (cell) => x >= cell.x && x < cell.x + CELL && y >= cell.y && y < cell.y + CELL,
      )?.link ?? null,
    );
  };
  const most = sums[0];
  const label =
    `Congestion matrix: ${drawn.cells.length} links by the switches that they leave. ` +
    `${most ? `Most packets wait in ${most.name}.` : "No packet waits."}`;
  return (
    <div class="matrix" ref={box}>
      <h3>Congestion matrix: each cell is a link, each block the links that leave a switch</h3>
      <svg
        role="img"
        aria-label={label}
        width={width}
        height={drawn.height}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        {drawn.heads.map(({ y, text }) => (
          <text key={text} x={0} y={y}>
            {text}
          </text>
        ))}
        {[...colours].map(([colour, way]) => (
          <path key={colour} d={way} style={{ fill: colour }} />
        ))}
      </svg>
      <p class="pointed">
        {pointed
          ? `${pointed.from} → ${pointed.to}: ${number(pointed.waiting)} packets wait, busy ` +
            `${Math.round(100 * pointed.busy)}% of the time`
          : "Point at a cell."}
      </p>
      {sums.length > 0 && (
        <details class="data">
          <summary>Waits by switch</summary>
          <table>
            <caption>The switches in which most packets wait, on average</caption>
            <thead>
              <tr>
                <th scope="col">switch</th>
                <th scope="col">waiting packets</th>
                <th scope="col">for one link, at most</th>
              </tr>
            </thead>
            <tbody>
              {sums.map((one) => (
                <tr key={one.name}>
                  <th scope="row">{one.name}</th>
                  <td>{number(one.waiting)}</td>
                  <td>{number(one.most)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </div>
  );
}
