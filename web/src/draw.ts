// Drawing of a network on a canvas: the lines of links, switches and nodes. The heat of links and
// the packets of a moment are drawn by the same geometry.

import type { Layout, Line } from "./layout.ts";

export interface Frame {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

/** The canvas with one unit to a pixel of the page, cleared. */
export function frame(canvas: HTMLCanvasElement): Frame {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

export type Path = { x: number; y: number }[];

/**
 * Distance between the two directions of a cable, and between the channels of a link, in pixels.
 */
const LANE = 2.4;
const MARGIN = 14;

export function spotAt(found: Layout, place: number, at: Frame): { x: number; y: number } {
  const spot = found.spots[place] ?? { x: 0, y: 0 };
  return {
    x: MARGIN + spot.x * (at.width - 2 * MARGIN),
    y: MARGIN + spot.y * (at.height - 2 * MARGIN),
  };
}

/**
 * The way of a line on the canvas, beside its middle by some lanes; a link around a ring has a
 * second part.
 */
export function paths(found: Layout, line: Line, at: Frame, channel = 0, channels = 1): Path[] {
  const [from, to] = [spotAt(found, line.from, at), spotAt(found, line.to, at)];
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const aside = LANE * (0.5 + line.lane * channels + channel);
  const [ax, ay] = [(-dy / length) * aside, (dx / length) * aside];
  const [a, b] = [
    { x: from.x + ax, y: from.y + ay },
    { x: to.x + ax, y: to.y + ay },
  ];
  if (line.shape === "line") return [[a, b]];
  if (line.shape === "stub") {
    const [ux, uy] = [(dx / length) * 22, (dy / length) * 22];
    return [
      [a, { x: a.x - ux, y: a.y - uy }],
      [{ x: b.x + ux, y: b.y + uy }, b],
    ];
  }
  const bow = 0.16 * length + aside;
  const [cx, cy] = [(a.x + b.x) / 2 - (dy / length) * bow, (a.y + b.y) / 2 + (dx / length) * bow];
  const steps = 8;
  return [
    Array.from({ length: steps + 1 }, (_, step) => {
      const t = step / steps;
      const [p, q, r] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
      return { x: p * a.x + q * cx + r * b.x, y: p * a.y + q * cy + r * b.y };
    }),
  ];
}

export function stroke(context: CanvasRenderingContext2D, parts: Path[]): void {
  context.beginPath();
  for (const part of parts) {
    part.forEach((point, place) =>
      place ? context.lineTo(point.x, point.y) : context.moveTo(point.x, point.y),
    );
  }
  context.stroke();
}

/** A colour of the page by its name in the style sheet. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Switches and nodes above their links; `tint` is the colour of a node. */
export function drawSpots(found: Layout, at: Frame, tint: (node: number) => string): void {
  const { context } = at;
  const count = found.spots.length - found.nodes;
  const size = Math.max(2, Math.min(7, (at.width / Math.max(count, found.nodes / 2)) * 0.42));
  const radius = Math.max(1.2, Math.min(4, (at.width / found.nodes) * 0.3));
  const [fill, edge] = [colour("--switch"), colour("--quiet")];
  context.lineWidth = 1;
  context.setLineDash([]);
  found.spots.forEach((spot, place) => {
    const { x, y } = spotAt(found, place, at);
    context.beginPath();
    context.strokeStyle = edge;
    if (spot.node) {
      context.fillStyle = tint(place);
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    } else {
      context.fillStyle = fill;
      context.roundRect(x - size, y - size * 0.8, 2 * size, 1.6 * size, Math.min(3, size / 2));
      context.fill();
      context.stroke();
    }
  });
}

/** The distance of a point from a way, in pixels. */
export function distance(parts: Path[], x: number, y: number): number {
  let best = Infinity;
  for (const part of parts) {
    for (let step = 1; step < part.length; step += 1) {
      const [one, other] = [part[step - 1], part[step]] as [Path[0], Path[0]];
      const [dx, dy] = [other.x - one.x, other.y - one.y];
      const along = Math.max(
        0,
        Math.min(1, ((x - one.x) * dx + (y - one.y) * dy) / (dx * dx + dy * dy || 1)),
      );
      best = Math.min(best, Math.hypot(x - one.x - along * dx, y - one.y - along * dy));
    }
  }
  return best;
}

/** White to dark red (OrRd of ColorBrewer) as in the report: lightness alone shows the order. */
const HEAT = [
  "#fee8c8",
  "#fdd49e",
  "#fdbb84",
  "#fc8d59",
  "#ef6548",
  "#d7301f",
  "#b30000",
  "#7f0000",
];
/** The same on a dark page, dark to light. */
const GLOW = [
  "#4a2a22",
  "#6e2f22",
  "#963423",
  "#c03f24",
  "#e0562d",
  "#f27a3f",
  "#fba35c",
  "#ffd08f",
];

/** The colour of a part between 0 and 1. */
export function heat(part: number): string {
  const scale = matchMedia("(prefers-color-scheme: dark)").matches ? GLOW : HEAT;
  return scale[Math.min(scale.length - 1, Math.floor(part * scale.length))] as string;
}
