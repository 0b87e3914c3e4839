// Where the nodes, switches and links of a network are drawn: numbers from 0 to 1, from the wiring
// alone.
//
// Trees have a row for each level, with the nodes at the bottom. Tori and HyperX networks are
// grids; a link around the end of a ring is a stub at both of its ends, and a link that passes
// switches of its row is an arc. Dragonflies and graphs are rings of switches, group after group,
// with their nodes outside.

import type { Wiring } from "../engine/engine.js";

export interface Spot {
  x: number;
  y: number;
  name: string;
  node: boolean;
}

export interface Line {
  link: number;
  /** Numbers of spots. */
  from: number;
  to: number;
  /** Which of the links between the same two spots in this direction. */
  lane: number;
  shape: "line" | "arc" | "stub";
}

export interface Layout {
  /** Nodes first, then switches by their number. */
  spots: Spot[];
  lines: Line[];
  nodes: number;
  /** Height of a drawing over its width. */
  height: number;
}

/** The layout of a rail; of a network with one rail without a number. */
export function layout(wiring: Wiring, topology: string, nodes: number, rail?: number): Layout {
  const here = rail === undefined ? wiring : ofRail(wiring, rail);
  return placedOn(here, topology, nodes);
}

/** The links of a rail, with the names of its ends in a network of one rail. */
function ofRail(wiring: Wiring, rail: number): Wiring {
  const ending = ` of rail ${rail}`;
  const rows = wiring.link.flatMap((_, row) => (wiring.from[row]?.endsWith(ending) ? [row] : []));
  const pick = <T>(column: T[]) => rows.map((row) => column[row] as T);
  const named = (column: string[]) => pick(column).map((name) => name.slice(0, -ending.length));
  return {
    ...{
      link: pick(wiring.link),
      from: named(wiring.from),
      to: named(wiring.to),
      up: pick(wiring.up),
      link_level: pick(wiring.link_level),
    },
    ...{ way: pick(wiring.way), level: pick(wiring.level), switch: pick(wiring.switch) },
    ...{ enters_level: pick(wiring.enters_level), enters: pick(wiring.enters) },
  };
}

function placedOn(wiring: Wiring, topology: string, nodes: number): Layout {
  const names = new Map<number, string>();
  const levels = new Map<number, number>();
  const seats = new Map<number, number>();
  wiring.link.forEach((_, row) => {
    const [leaves, enters] = [wiring.switch[row], wiring.enters[row]];
    for (const [id, name, level] of [
      [leaves, wiring.from[row], wiring.level[row]],
      [enters, wiring.to[row], wiring.enters_level[row]],
    ] as const) {
      if (id === null || id === undefined) continue;
      names.set(id, (name ?? "").replace("switch ", ""));
      levels.set(id, level ?? 1);
    }
    const node = nodeOf(wiring.from[row]);
    if (node !== null && enters !== null && enters !== undefined) seats.set(node, enters);
  });
  const ids = [...names.keys()].sort((one, other) => one - other);
  const switches = ids.map((id) => ({ id, name: names.get(id) ?? "", level: levels.get(id) ?? 1 }));
  const placed =
    topology === "fat-tree"
      ? tree(switches, nodes)
      : /,/.test(switches[0]?.name ?? "")
        ? grid(switches, seats, nodes)
        : ring(switches, seats, nodes);
  return { ...placed, nodes, lines: lines(wiring, placed.spots, nodes) };
}

type Switch = { id: number; name: string; level: number };
type Placed = { spots: Spot[]; height: number };

function nodeOf(name: string | undefined): number | null {
  const found = /^node (\d+)$/.exec(name ?? "");
  return found ? Number(found[1]) : null;
}

function nodeSpot(node: number, x: number, y: number): Spot {
  return { x, y, name: `node ${node}`, node: true };
}

function tree(switches: Switch[], nodes: number): Placed {
  const top = Math.max(...switches.map((one) => one.level));
  const spots: Spot[] = Array.from({ length: nodes }, (_, node) =>
    nodeSpot(node, (node + 0.5) / nodes, 0.93),
  );
  for (const one of switches) {
    const row = switches.filter((other) => other.level === one.level);
    const x = (row.indexOf(one) + 0.5) / row.length;
    spots[nodes + one.id] = {
      x,
      y: 0.93 - (0.86 * one.level) / top,
      name: `switch ${one.name}`,
      node: false,
    };
  }
  return { spots, height: 0.36 + 0.06 * top };
}

function grid(switches: Switch[], seats: Map<number, number>, nodes: number): Placed {
  const places = switches.map((one) => one.name.split(",").map(Number));
  const [columns, rows] = [0, 1].map(
    (axis) => Math.max(...places.map((place) => place[axis] ?? 0)) + 1,
  ) as [number, number];
  const spots: Spot[] = [];
  for (const [place, one] of switches.entries()) {
    const [x, y] = places[place] as [number, number];
    spots[nodes + one.id] = {
      x: (x + 0.42) / columns,
      y: (y + 0.42) / rows,
      name: `switch ${one.name}`,
      node: false,
    };
  }
  for (const [node, mates, place] of seated(seats, nodes)) {
    const at = spots[nodes + (seats.get(node) ?? 0)] as Spot;
    const aside = ((place + 0.5) / mates - 0.5) * Math.min(0.5, 0.14 * mates);
    spots[node] = nodeSpot(
      node,
      at.x + (0.24 + aside * 0.3) / columns,
      at.y + (0.3 - aside * 0.3) / rows,
    );
  }
  return { spots, height: Math.min(1, Math.max(0.5, rows / columns)) };
}

/** All nodes with the number of nodes at their switch, and their place among these. */
function* seated(seats: Map<number, number>, nodes: number): Generator<[number, number, number]> {
  const mates = new Map<number, number[]>();
  for (let node = 0; node < nodes; node += 1) {
    const at = seats.get(node) ?? 0;
    mates.set(at, [...(mates.get(at) ?? []), node]);
  }
  for (const here of mates.values()) {
    for (const [place, node] of here.entries()) yield [node, here.length, place];
  }
}

/** A ring of switches in the order of their names; a name such as "3.1" is of the group 3. */
function ring(switches: Switch[], seats: Map<number, number>, nodes: number): Placed {
  const group = (one: Switch) => (one.name.includes(".") ? (one.name.split(".")[0] ?? "") : "");
  const sorted = [...switches].sort((one, other) =>
    one.name.localeCompare(other.name, "en", { numeric: true }),
  );
  const groups = new Set(sorted.map(group)).size;
  const gap = groups > 1 ? 1.2 : 0;
  const steps = sorted.length + gap * groups;
  const angles = new Map<number, number>();
  let at = 0;
  sorted.forEach((one, place) => {
    const before = sorted[place - 1];
    if (before && group(before) !== group(one)) at += gap;
    angles.set(one.id, (2 * Math.PI * at) / steps - Math.PI / 2);
    at += 1;
  });
  const spots: Spot[] = [];
  for (const one of switches) {
    const angle = angles.get(one.id) ?? 0;
    const [x, y] = [0.5 + 0.4 * Math.cos(angle), 0.5 + 0.4 * Math.sin(angle)];
    spots[nodes + one.id] = { x, y, name: `switch ${one.name}`, node: false };
  }
  for (const [node, mates, place] of seated(seats, nodes)) {
    const angle =
      (angles.get(seats.get(node) ?? 0) ?? 0) +
      (((place + 0.5) / mates - 0.5) * 2 * Math.PI * 0.8) / steps;
    spots[node] = nodeSpot(node, 0.5 + 0.465 * Math.cos(angle), 0.5 + 0.465 * Math.sin(angle));
  }
  return { spots, height: 1 };
}

function lines(wiring: Wiring, spots: Spot[], nodes: number): Line[] {
  const lanes = new Map<string, number>();
  const found: Line[] = [];
  const isGrid = spots.some((spot) => !spot.node && spot.name.includes(","));
  wiring.link.forEach((link, row) => {
    const end = (name: string | undefined, id: number | null | undefined) =>
      id === null || id === undefined ? (nodeOf(name) ?? -1) : nodes + id;
    const [from, to] = [
      end(wiring.from[row], wiring.switch[row]),
      end(wiring.to[row], wiring.enters[row]),
    ];
    const [start, finish] = [spots[from], spots[to]];
    if (!start || !finish) return; // an empty position
    const lane = lanes.get(`${from} ${to}`) ?? 0;
    lanes.set(`${from} ${to}`, lane + 1);
    found.push({
      link,
      from,
      to,
      lane,
      shape: isGrid && !start.node && !finish.node ? shapeOf(start.name, finish.name) : "line",
    });
  });
  // Where no link passes a switch without joining the two ends of a row, links between ends go
  // around: a torus.
  const sides = [0, 1].map((axis) =>
    Math.max(0, ...spots.filter((spot) => !spot.node).map((spot) => places(spot.name)[axis] ?? 0)),
  );
  const arcs = found.filter((line) => line.shape === "arc");
  if (arcs.every((line) => isWrap(spots, line, sides)))
    for (const line of arcs) line.shape = "stub";
  return found;
}

function places(name: string): number[] {
  return name.replace("switch ", "").split(",").map(Number);
}

function shapeOf(from: string, to: string): Line["shape"] {
  const [one, other] = [places(from), places(to)];
  const apart = one.reduce((sum, value, axis) => sum + Math.abs(value - (other[axis] ?? 0)), 0);
  return apart > 1 ? "arc" : "line";
}

/** Whether a link joins the two ends of a row or a column. */
function isWrap(spots: Spot[], line: Line, sides: number[]): boolean {
  const [one, other] = [places(spots[line.from]?.name ?? ""), places(spots[line.to]?.name ?? "")];
  return one.some((value, axis) => Math.abs(value - (other[axis] ?? 0)) === sides[axis]);
}
