// The network with its hot links: how many packets wait for each link, on one scale for all
// networks that are shown.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Config } from "./config.ts";
import { TWO_JOBS } from "./config.ts";
import { number } from "./chart.tsx";
import { colour, distance, drawSpots, frame, heat, paths, stroke } from "./draw.ts";
import { times } from "./experiment.ts";
import { chosen } from "./histogram.tsx";
import { layout, type Layout } from "./layout.ts";
import { Matrix } from "./matrix.tsx";
import { hotLinks, type HotLink } from "./measures.ts";
import { letters } from "./placement.ts";
import type { Found } from "./runs.ts";
import { differences } from "./words.ts";

const LISTED = 6;
/** Most pixels of the height of a drawing. */
const HEIGHT = 640;

export function Networks({ shown }: { shown: Found[] }) {
  const now = shown[0] as Found;
  const drawn = shown.map((found) => {
    const point = chosen(found, now.config.load);
    return {
      found,
      links:
        point && found.wiring
          ? hotLinks(point.records, found.wiring, times(found.config).window)
          : [],
    };
  });
  const most = Math.max(1, ...drawn.flatMap(({ links }) => links.map((link) => link.waiting)));
  return (
    <>
      <Scale most={most} />
      <div class={shown.length > 1 || now.config.rails > 1 ? "pair" : "alone"}>
        {drawn.flatMap(({ found, links }, place) => {
          const name =
            shown.length > 1 ? (place ? differences(found.config, now.config) : "now") : "";
          const rails =
            found.config.rails > 1
              ? Array.from({ length: found.config.rails }, (_, rail) => rail)
              : [undefined];
          return rails.map((rail) => (
            <Network
              key={`${place} ${rail}`}
              found={found}
              links={
                rail === undefined
                  ? links
                  : links.filter((link) => link.from.endsWith(` of rail ${rail}`))
              }
              most={most}
              rail={rail}
              heading={[name, rail === undefined ? "" : `rail ${rail}`].filter(Boolean).join(", ")}
            />
          ));
        })}
      </div>
    </>
  );
}

/**
 * The part of the colours that a number of waiting packets has: its root, so that small numbers
 * differ, too.
 */
function part(waiting: number, most: number): number {
  return Math.sqrt(waiting / most);
}

function Scale({ most }: { most: number }) {
  const steps = Array.from({ length: 8 }, (_, step) => (step + 0.5) / 8);
  return (
    <p class="scale">
      <span>packets that wait for a link: 0</span>
      <span class="ramp" aria-hidden="true">
        {steps.map((step) => (
          <i key={step} style={{ background: heat(step) }} />
        ))}
      </span>
      <span>{number(most)}</span>
    </p>
  );
}

export function useLayout(
  found: { config: Config; wiring: Found["wiring"] },
  rail?: number,
): Layout | null {
  const { config, wiring } = found;
  const make = () => (wiring ? layout(wiring, config.topology, config.nodes, rail) : null);
  return useMemo(make, [wiring, config.topology, config.nodes, rail]);
}

/** The two ends of a link; the heading of a drawing names its rail. */
function ends(link: HotLink): string {
  return `${link.from} → ${link.to}`.replace(/ of rail \d+/g, "");
}

/** The form of a canvas: as wide as its place, and not higher than a screen. */
export function shape(drawn: Layout | null): { aspectRatio: string; maxWidth: string } {
  const height = drawn?.height ?? 0.6;
  return { aspectRatio: `1 / ${height}`, maxWidth: `${Math.round(HEIGHT / height)}px` };
}

/** The colour of a node: that of its job. */
export function tints(config: Config): (node: number) => string {
  const quiet = colour("--quiet");
  if (config.traffic !== TWO_JOBS) return () => quiet;
  const text = letters(config.placement, config.nodes);
  const [a, b, idle] = [colour("--job-a"), colour("--job-b"), colour("--line-strong")];
  return (node) => (text[node] === "a" ? a : text[node] === "b" ? b : idle);
}

interface NetworkProps {
  found: Found;
  links: HotLink[];
  most: number;
  rail: number | undefined;
  heading: string;
}

function Network({ found, links, most, rail, heading }: NetworkProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useLayout(found, rail);
  const [pointed, setPointed] = useState<number | null>(null);
  const hottest = useMemo(
    () =>
      [...links]
        .sort((one, other) => other.waiting - one.waiting)
        .filter((link) => link.waiting > 0)
        .slice(0, LISTED),
    [links],
  );
  const byLink = useMemo(() => new Map(links.map((link) => [link.link, link])), [links]);
  useEffect(() => {
    const draw = () => {
      if (!canvas.current || !drawn) return;
      const at = frame(canvas.current);
      const { context } = at;
      context.lineWidth = 0.6;
      context.strokeStyle = colour("--line-strong");
      for (const line of drawn.lines) stroke(context, paths(drawn, line, at));
      const hot = drawn.lines
        .map((line) => ({ line, waiting: byLink.get(line.link)?.waiting ?? 0 }))
        .filter(({ waiting }) => waiting > 0.005 * most)
        .sort((one, other) => one.waiting - other.waiting);
      for (const { line, waiting } of hot) {
        context.strokeStyle = heat(part(waiting, most));
        context.lineWidth = 1 + 3.2 * part(waiting, most);
        stroke(context, paths(drawn, line, at));
      }
      const chosenLine = drawn.lines.find((line) => line.link === pointed);
      if (chosenLine) {
        context.strokeStyle = colour("--accent");
        context.lineWidth = 4;
        stroke(context, paths(drawn, chosenLine, at));
      }
      drawSpots(drawn, at, tints(found.config));
    };
    draw();
    const watcher = new ResizeObserver(draw);
    if (canvas.current) watcher.observe(canvas.current);
    return () => watcher.disconnect();
  }, [drawn, byLink, most, pointed, found.config]);
  const point = (event: PointerEvent) => {
    if (!canvas.current || !drawn) return;
    const at = {
      width: canvas.current.clientWidth,
      height: canvas.current.clientHeight,
    } as ReturnType<typeof frame>;
    let [best, nearest] = [8, null as number | null];
    for (const line of drawn.lines) {
      const away = distance(paths(drawn, line, at), event.offsetX, event.offsetY);
      if (away < best) [best, nearest] = [away, line.link];
    }
    setPointed(nearest);
  };
  const here = pointed === null ? undefined : byLink.get(pointed);
  const label = hottest[0]
    ? `Drawing of the network. Most packets wait from ${hottest[0].from} to ${hottest[0].to}.`
    : "Drawing of the network.";
  return (
    <div class="network">
      {heading && <h3>{heading}</h3>}
      <div class="drawn">
        <canvas
          ref={canvas}
          role="img"
          aria-label={label}
          style={shape(drawn)}
          onPointerMove={point}
          onPointerLeave={() => setPointed(null)}
        />
        <p class="pointed">
          {here
            ? `${ends(here)}: ${number(here.waiting)} packets wait, busy ` +
              `${Math.round(100 * here.busy)}% of the time`
            : links.length
              ? hottest.length
                ? "Point at a link, or choose a row."
                : "No packet waits for a link between switches."
              : "The chosen load is being simulated …"}
        </p>
      </div>
      <table class="hottest" hidden={!hottest.length}>
        <caption>Hottest links at the chosen load</caption>
        <thead>
          <tr>
            <th scope="col">link</th>
            <th scope="col">waiting packets</th>
            <th scope="col">busy</th>
          </tr>
        </thead>
        <tbody>
          {hottest.map((link) => (
            <tr
              key={link.link}
              onPointerEnter={() => setPointed(link.link)}
              onPointerLeave={() => setPointed(null)}
            >
              <th scope="row">
                <button
                  type="button"
                  onFocus={() => setPointed(link.link)}
                  onBlur={() => setPointed(null)}
                >
                  {ends(link)}
                </button>
              </th>
              <td>{number(link.waiting)}</td>
              <td>{Math.round(100 * link.busy)}%</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.wiring && links.length > 0 && (
        <Matrix
          links={links}
          wiring={found.wiring}
          tree={found.config.topology === "fat-tree"}
          part={(waiting) => part(waiting, most)}
        />
      )}
    </div>
  );
}
