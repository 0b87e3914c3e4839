// The watch view: packets, and the channels that they hold, over some microseconds at the chosen
// load.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Config } from "./config.ts";
import { colour, distance, drawSpots, frame, paths, spotAt, stroke, type Frame } from "./draw.ts";
import { times } from "./experiment.ts";
import type { Layout, Line } from "./layout.ts";
import { shape, tints, useLayout } from "./network.tsx";
import type { Watched } from "./runs.ts";
import { counts, doings, moments, packets, stateOf, type Doing, type Packet } from "./scene.ts";

export const MOST_NODES = 64;
/** Most channels whose lines lie side by side; further ones share a line. */
const CHANNELS = 4;
const SPEEDS = [
  { label: "slow", part: 1 / 60 },
  { label: "normal", part: 1 / 20 },
  { label: "fast", part: 1 / 6 },
];

export function Watch({ config, watched }: { config: Config; watched: Watched }) {
  const length = times(config).watch * 1e3;
  const all = useMemo(
    () => packets(watched.records.tables.circuits, times(config).warmUp),
    [watched],
  );
  const steps = useMemo(() => moments(all, length), [all, length]);
  const [chosen, setRail] = useState(0);
  const several = config.rails > 1;
  const rail = Math.min(chosen, config.rails - 1);
  const drawn = useLayout({ config, wiring: watched.wiring }, several ? rail : undefined);
  const lines = useMemo(() => new Map(drawn?.lines.map((line) => [line.link, line])), [drawn]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [time, setTime] = useState(length / 2);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [picked, setPicked] = useState<Packet | null>(null);
  const now = useMemo(
    () => doings(all, time).filter(({ hold }) => !several || lines.has(hold.link)),
    [all, time, lines, several],
  );

  useEffect(() => {
    setTime(length / 2);
    setPicked(null);
  }, [watched]);
  useEffect(() => {
    if (!playing) return;
    let last: number | null = null;
    let request = requestAnimationFrame(function next(at) {
      const passed = last === null ? 0 : at - last;
      last = at;
      setTime((before) =>
        before >= length
          ? 0
          : Math.min(length, before + (passed / 1000) * length * (SPEEDS[speed]?.part ?? 0.05)),
      );
      request = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(request);
  }, [playing, speed, length]);
  useEffect(() => {
    const redraw = () => {
      if (canvas.current && drawn)
        draw(frame(canvas.current), drawn, lines, now, time, picked, tints(config));
    };
    redraw();
    const watcher = new ResizeObserver(redraw);
    if (canvas.current) watcher.observe(canvas.current);
    return () => watcher.disconnect();
  }, [drawn, lines, now, time, picked]);

  const step = (by: 1 | -1) => {
    setPlaying(false);
    const next = by > 0 ? steps.find((one) => one > time) : steps.findLast((one) => one < time);
    if (next !== undefined) setTime(next);
  };
  const pick = (event: MouseEvent) => {
    if (!canvas.current || !drawn) return;
    const at = { width: canvas.current.clientWidth, height: canvas.current.clientHeight } as Frame;
    let [best, nearest] = [10, null as Packet | null];
    for (const { packet, hold } of now) {
      const line = lines.get(hold.link);
      const away = line
        ? distance(
            paths(drawn, line, at, hold.channel % CHANNELS, CHANNELS),
            event.offsetX,
            event.offsetY,
          )
        : Infinity;
      if (away < best) [best, nearest] = [away, packet];
    }
    setPicked(nearest);
  };
  const sum = counts(now);
  const waiting = now
    .filter(({ state }) => state === "waits")
    .sort((one, other) => one.hold.waits - other.hold.waits);
  if (!all.length)
    return (
      <p>
        No packet was under way in the {times(config).watch} µs that were watched. Choose a higher
        load.
      </p>
    );
  return (
    <>
      <div class="row">
        <button type="button" onClick={() => setPlaying(!playing)} aria-pressed={playing}>
          {playing ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => step(-1)} aria-label="Previous change">
          ◂
        </button>
        <button type="button" onClick={() => step(1)} aria-label="Next change">
          ▸
        </button>
        <label>
          speed{" "}
          <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
            {SPEEDS.map((one, place) => (
              <option key={one.label} value={place}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
        {several && (
          <label>
            rail{" "}
            <select value={rail} onChange={(event) => setRail(Number(event.currentTarget.value))}>
              {Array.from({ length: config.rails }, (_, one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )}
        <label class="grow">
          <span class="clock">{(time / 1e3).toFixed(2)} µs</span>
          <input
            type="range"
            aria-label="Watched time, ns"
            min={0}
            max={Math.round(length)}
            value={Math.round(time)}
            onInput={(event) => {
              setPlaying(false);
              setTime(Number(event.currentTarget.value));
            }}
          />
        </label>
      </div>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Packets at ${(time / 1e3).toFixed(2)} µs. ${said(sum)}`}
        style={shape(drawn)}
        onClick={pick}
      />
      <ul class="legend states">
        <li class="carries">flits cross: {sum.carries}</li>
        <li class="opens">channel open, no flit yet: {sum.opens}</li>
        <li class="held">held after the last flit: {sum.held}</li>
        <li class="waits">headers that wait: {sum.waits}</li>
      </ul>
      {picked ? (
        <About packet={picked} time={time} names={watched.wiring} onClose={() => setPicked(null)} />
      ) : (
        <p class="pointed">
          {waiting[0] ? (
            <>
              Longest wait: {((time - waiting[0].hold.waits) / 1e3).toFixed(2)} µs.{" "}
              <button
                type="button"
                class="link"
                onClick={() => setPicked((waiting[0] as Doing).packet)}
              >
                Follow this packet
              </button>{" "}
              or choose a line of the drawing.
            </>
          ) : (
            "No header waits. Choose a line to follow its packet."
          )}
        </p>
      )}
    </>
  );
}

function said(sum: ReturnType<typeof counts>): string {
  return (
    `${sum.carries} channels with flits, ${sum.opens} open, ${sum.held} held, ${sum.waits} ` +
    "headers wait."
  );
}

function About({
  packet,
  time,
  names,
  onClose,
}: {
  packet: Packet;
  time: number;
  names: Watched["wiring"];
  onClose: () => void;
}) {
  const name = (link: number) => {
    const row = names.link.indexOf(link);
    return `${names.from[row]} → ${names.to[row]}`;
  };
  const moment = (one: number | null) => (one === null ? "–" : (one / 1e3).toFixed(2));
  return (
    <div class="packet">
      <p>
        Packet {packet.sequence} from node {packet.source} to node {packet.destination},{" "}
        {packet.flits} flits; delivered {moment(packet.delivered)}, acknowledged{" "}
        {moment(packet.acknowledged)} µs.{" "}
        <button type="button" class="link" onClick={onClose}>
          Show all packets
        </button>
      </p>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Channels of the packet">
        <table>
          <thead>
            <tr>
              {[
                "link",
                "state",
                "waits from",
                "channel",
                "first flit",
                "last flit",
                "free, µs",
              ].map((head) => (
                <th scope="col" key={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {packet.way.map((hold) => (
              <tr key={hold.link}>
                <th scope="row">{name(hold.link)}</th>
                <td>{stateOf(hold, time) ?? (time < hold.waits ? "not yet" : "free again")}</td>
                {[hold.waits, hold.opened, hold.head, hold.tail, hold.closed].map((one, place) => (
                  <td key={place}>{moment(one)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function hue(packet: Packet, alpha: number): string {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return `hsl(${(packet.source * 137.508) % 360} ${dark ? 70 : 75}% ${dark ? 62 : 40}% / ${alpha})`;
}

function draw(
  at: Frame,
  drawn: Layout,
  lines: Map<number, Line>,
  now: Doing[],
  time: number,
  picked: Packet | null,
  tint: (node: number) => string,
): void {
  const { context } = at;
  context.strokeStyle = colour("--line-strong");
  context.lineWidth = 0.6;
  for (const line of lines.values()) stroke(context, paths(drawn, line, at, 0, CHANNELS));
  for (const { packet, hold, state } of now) {
    const line = lines.get(hold.link);
    if (!line || state === "waits") continue;
    context.strokeStyle = hue(packet, picked && picked !== packet ? 0.15 : 1);
    context.lineWidth = (state === "carries" ? 3.4 : 1.4) + (picked === packet ? 1.2 : 0);
    context.setLineDash({ carries: [8, 3], opens: [], held: [2, 3] }[state]);
    // flits move along the line
    context.lineDashOffset = state === "carries" ? -(time / 12) % 11 : 0;
    stroke(context, paths(drawn, line, at, hold.channel % CHANNELS, CHANNELS));
  }
  context.setLineDash([]);
  drawSpots(drawn, at, tint);
  // Headers that wait stand at the spot from which their link leads.
  const queues = new Map<number, number>();
  context.fillStyle = colour("--waits");
  for (const { packet, hold, state } of now) {
    const line = lines.get(hold.link);
    if (!line || state !== "waits") continue;
    const place = queues.get(line.from) ?? 0;
    queues.set(line.from, place + 1);
    const { x, y } = spotAt(drawn, line.from, at);
    context.globalAlpha = picked && picked !== packet ? 0.2 : 1;
    context.beginPath();
    context.arc(x - 8 + 5 * (place % 4), y - 10 - 5 * Math.floor(place / 4), 2.2, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
}
