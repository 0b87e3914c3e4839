// The latency-throughput curve: accepted load and latency of messages, both over the offered load.
// Points fill in while the page computes.

import { Chart, Plot, logTicks, number } from "./chart.tsx";
import { LOADS, TWO_JOBS, type Config } from "./config.ts";
import { machine } from "./machines.ts";
import type { Found } from "./runs.ts";
import { differences, jobNames } from "./words.ts";

interface Row {
  curve: string;
  x: number;
  accepted: number;
  mean: number | null;
  p99: number | null;
  saturated: boolean;
}

export interface Curve {
  name: string;
  colour: string;
  dash: string;
  rows: Row[];
}

const COLOURS = ["var(--one)", "var(--two)", "var(--three)"];
const DASHES = ["none", "6 3", "2 3"];

/**
 * All curves: the configuration's own first, then those that are kept. A job has its dash, a
 * configuration its colour.
 */
export function curves(shown: Found[], unit: (config: Config, percent: number) => number): Curve[] {
  const [now] = shown;
  return shown.flatMap((found, place) => {
    const { config } = found;
    const about =
      place === 0 ? (shown.length > 1 ? "now" : "") : differences(config, (now as Found).config);
    return jobNames(config).map((job, number) => {
      const name =
        config.traffic === TWO_JOBS ? [about, job].filter(Boolean).join(", ") : about || job;
      const rows = found.finished.map(({ load, jobs }) => {
        const one = jobs[number];
        const parts = {
          mean: one?.mean ?? null,
          p99: one?.p99 ?? null,
          saturated: one?.saturated ?? false,
        };
        const accepted = ((one?.accepted ?? 0) / machine(config.machine).rate) * 100;
        return { curve: name, x: unit(config, load), accepted: unit(config, accepted), ...parts };
      });
      return {
        name,
        colour: COLOURS[place % COLOURS.length] as string,
        dash: DASHES[number] as string,
        rows,
      };
    });
  });
}

export function Curves({ shown, onLoad }: { shown: Found[]; onLoad: (load: number) => void }) {
  const config = (shown[0] as Found).config;
  const same = shown.every(
    (one) => machine(one.config.machine).rate === machine(config.machine).rate,
  );
  const unit = (of: Config, percent: number) =>
    same ? (machine(of.machine).rate * percent) / 100 : percent;
  const words = same ? "MB/s a node" : "% of the rate of a link";
  const found = curves(shown, unit);
  const top = unit(config, 100);
  const pick = (value: number) => onLoad(nearest((value / top) * 100));
  const stamp = JSON.stringify([
    shown.map((one) => [one.config, one.finished.length, one.finished[0]?.key]),
    config.load,
  ]);
  const most = Math.max(
    0.1 * top,
    ...found.flatMap((curve) => curve.rows.map((row) => row.accepted)),
  );
  const common = (y: keyof Row & ("accepted" | "mean")): Plot.Markish[] => [
    Plot.ruleX([unit(config, config.load)], { stroke: "var(--quiet)", strokeWidth: 1 }),
    ...found.flatMap((curve) => {
      const rows = curve.rows.filter((row) => row[y] !== null);
      return [
        Plot.line(rows, {
          x: "x",
          y,
          stroke: curve.colour,
          strokeWidth: 2,
          strokeDasharray: curve.dash,
        }),
        Plot.dot(rows, {
          x: "x",
          y,
          r: 3.5,
          stroke: curve.colour,
          fill: (row: Row) => (row.saturated ? "var(--page)" : curve.colour),
          strokeWidth: 1.6,
          title: (row: Row) =>
            `${curve.name}: ${number(row[y] ?? 0)} ${y === "mean" ? "µs" : words} at ` +
            `${number(row.x)}`,
          tip: true,
        }),
      ];
    }),
  ];
  const axis = {
    domain: [0, top * 1.02],
    label: null,
    ticks: 6,
    tickFormat: (value: number) => number(value),
  };
  return (
    <>
      <ul class="legend">
        {found.map((curve) => (
          <li key={curve.name}>
            <svg width="26" height="10" aria-hidden="true">
              <line
                x1="0"
                x2="26"
                y1="5"
                y2="5"
                style={{ stroke: curve.colour, strokeDasharray: curve.dash, strokeWidth: 2.4 }}
              />
            </svg>
            {curve.name}
          </li>
        ))}
        <li class="quiet">hollow: saturated, where latencies grow with the measured time</li>
      </ul>
      <div class="pair">
        <div>
          <h3>Accepted load, {words}</h3>
          <Chart
            stamp={stamp}
            height={230}
            label={`Accepted load over offered load; the table below has the values.`}
            onPick={pick}
            options={() => ({
              marginLeft: 52,
              marginTop: 10,
              marginBottom: 26,
              x: axis,
              y: {
                domain: [0, most * 1.12],
                label: null,
                grid: true,
                ticks: 5,
                tickFormat: (value: number) => number(value),
              },
              marks: [
                Plot.line(
                  [
                    { x: 0, y: 0 },
                    { x: most * 1.12, y: most * 1.12 },
                  ],
                  { x: "x", y: "y", stroke: "var(--line-strong)", strokeDasharray: "2 3" },
                ),
                ...common("accepted"),
              ],
            })}
          />
        </div>
        <div>
          <h3>Mean latency of messages, µs</h3>
          <Chart
            stamp={stamp}
            height={230}
            label="Mean latency of messages over offered load; the table below has the values."
            onPick={pick}
            options={() => ({
              marginLeft: 52,
              marginTop: 10,
              marginBottom: 26,
              x: axis,
              y: {
                type: "log",
                label: null,
                grid: true,
                ...logTicks(found.flatMap((curve) => curve.rows.map((row) => row.mean))),
                tickFormat: (value: number) => number(value),
              },
              marks: common("mean"),
            })}
          />
        </div>
      </div>
      <p class="axis">
        offered load, {words}; the line is the chosen load, and a click chooses another one
      </p>
      <Table curves={found} words={words} />
    </>
  );
}

export function nearest(percent: number): number {
  return LOADS.reduce((best, load) =>
    Math.abs(load - percent) < Math.abs(best - percent) ? load : best,
  );
}

function Table({ curves: found, words }: { curves: Curve[]; words: string }) {
  return (
    <details class="data">
      <summary>Values</summary>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Values of the curves">
        <table>
          <caption>Loads in {words}, latencies in µs</caption>
          <thead>
            <tr>
              {["curve", "offered", "accepted", "mean", "99%", "saturated"].map((head) => (
                <th scope="col" key={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.flatMap((curve) =>
              curve.rows.map((row) => (
                <tr key={`${curve.name} ${row.x}`}>
                  <th scope="row">{curve.name}</th>
                  <td>{number(row.x)}</td>
                  <td>{number(row.accepted)}</td>
                  <td>{row.mean === null ? "–" : number(row.mean)}</td>
                  <td>{row.p99 === null ? "–" : number(row.p99)}</td>
                  <td>{row.saturated ? "yes" : "no"}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </details>
  );
}
