// The latencies of the messages at the chosen load: bars of equal width on a logarithmic scale.

import { Chart, Plot, logTicks, number } from "./chart.tsx";
import { TWO_JOBS } from "./config.ts";
import { loadOf } from "./experiment.ts";
import { histogram } from "./measures.ts";
import type { Finished, Found } from "./runs.ts";
import { differences, jobNames } from "./words.ts";

/** The finished point of a configuration at its chosen load. */
export function chosen(found: Found, load = found.config.load): Finished | undefined {
  return found.finished.find((one) => one.load === load);
}

// The colours of the curves.
const COLOURS = ["var(--one)", "var(--two)", "var(--three)"];

export function Histogram({ shown }: { shown: Found[] }) {
  const now = shown[0] as Found;
  const { load } = now.config;
  const parts = shown.flatMap((found, place) => {
    const point = chosen(found, load);
    if (!point) return [];
    const jobs = found.config.traffic === TWO_JOBS ? ["a", "b"] : ["traffic"];
    return jobs.map((job, number) => ({
      job: point.jobs[number],
      bars: histogram(point.records, job),
      colour: COLOURS[place] as string,
      dash: number ? "5 3" : "none",
      filled: place === 0 && number === 0,
      name: [
        place ? differences(found.config, now.config) : shown.length > 1 ? "now" : "",
        jobNames(found.config)[number],
      ]
        .filter(Boolean)
        .join(", "),
    }));
  });
  const stamp = JSON.stringify([
    load,
    parts.map((part) => [part.name, part.colour, part.job, part.bars.length]),
  ]);
  const said = parts.flatMap(({ job, name }) =>
    job && job.mean !== null
      ? [
          `${name}: half of the messages within ${number(job.p50 ?? 0)} µs, 99% within ` +
            `${number(job.p99 ?? 0)} µs, mean ${number(job.mean)} µs, ` +
            `${job.messages.toLocaleString("en")} messages`,
        ]
      : [`${name}: no message ended in the window`],
  );
  return (
    <>
      <Chart
        stamp={stamp}
        height={190}
        label={
          `Histogram of latencies at ${number(loadOf(now.config, load))} MB/s a node. ` +
          `${said.join(". ")}`
        }
        options={() => ({
          marginLeft: 44,
          marginTop: 10,
          marginBottom: 34,
          x: {
            type: "log",
            label: "latency of a message, µs",
            labelAnchor: "center",
            labelArrow: "none",
            ...logTicks(
              parts.flatMap((part) => [...part.bars.map((bar) => bar.from), part.job?.p99 ?? null]),
            ),
            tickFormat: (value: number) => number(value),
          },
          y: {
            label: null,
            grid: true,
            ticks: 4,
            tickFormat: (value: number) => `${number(value * 100)}%`,
          },
          marks: parts.flatMap((part) => [
            ...(part.filled
              ? [
                  Plot.rectY(part.bars, {
                    x1: "from",
                    x2: "to",
                    y: "part",
                    fill: part.colour,
                    fillOpacity: 0.55,
                    insetLeft: 0.5,
                  }),
                ]
              : []),
            Plot.line(part.bars, {
              x: "from",
              y: "part",
              curve: "step-after",
              stroke: part.colour,
              strokeWidth: part.filled ? 0 : 1.8,
              strokeDasharray: part.dash,
            }),
            ...(part.job?.p99 && part.filled
              ? [
                  Plot.ruleX([part.job.p99], { stroke: part.colour, strokeDasharray: "3 3" }),
                  Plot.text([part.job.p99], {
                    x: (value: number) => value,
                    text: () => "99%",
                    frameAnchor: "top",
                    dx: -14,
                    fill: "currentColor",
                  }),
                ]
              : []),
          ]),
        })}
      />
      <ul class="said">
        {said.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}
