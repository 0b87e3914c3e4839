// What the page reads from the tables of a point: loads and latencies of jobs, bins of latencies,
// and how hot links are.

import type { Records, Wiring } from "../engine/engine.js";

/**
 * The results of a job at a load. Loads in MB/s of each node, latencies in us; null if no message
 * ended in the window.
 */
export interface JobResult {
  job: string;
  accepted: number;
  offered: number;
  saturated: boolean;
  messages: number;
  mean: number | null;
  p50: number | null;
  p99: number | null;
  max: number | null;
}

/**
 * A job that accepts a smaller part of what is offered is saturated, also in windows too short for
 * the simulator's own rule.
 */
const ACCEPTED = 0.9;

export function summary(records: Records, jobs: string[]): JobResult[] {
  const { rows } = records.tables;
  return jobs.map((job) => {
    const of = (metric: string) =>
      rows.value.filter((_, row) => rows.job[row] === job && rows.metric[row] === metric);
    const mean = (metric: string) => {
      const values = of(metric);
      return values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null;
    };
    return {
      job,
      accepted: mean("accepted") ?? 0,
      offered: mean("offered") ?? 0,
      saturated:
        mean("saturated") === 1 || (mean("accepted") ?? 0) < ACCEPTED * (mean("offered") ?? 0),
      messages: mean("messages") ?? 0,
      mean: mean("latency_mean"),
      p50: mean("latency_p50"),
      p99: mean("latency_p99"),
      max: mean("latency_max"),
    };
  });
}

/** A bar of a histogram: from and to in us, and the part of the messages. */
export interface Bar {
  from: number;
  to: number;
  part: number;
}

const BARS = 36;

/** The latencies of a job in bars of equal width on a logarithmic scale. */
export function histogram(records: Records, job: string): Bar[] {
  const found = records.latencies.find((one) => one.job === job);
  const bins = (found?.lower_ps ?? []).map((at, place) => ({
    at: Math.max(at / 1e6, 1e-3),
    count: found?.count[place] ?? 0,
  }));
  if (!bins.length) return [];
  const least = Math.min(...bins.map((bin) => bin.at));
  const most = Math.max(...bins.map((bin) => bin.at)) * 1.001;
  // Latencies that hardly differ would fill one bar each: the scale covers at least a factor of
  // two.
  const [low, high] = most / least < 2 ? [least / 1.2, (least / 1.2) * 2] : [least / 1.02, most];
  const width = Math.log(high / low) / BARS;
  const total = bins.reduce((sum, bin) => sum + bin.count, 0);
  const counts = new Array<number>(BARS).fill(0);
  for (const bin of bins) {
    const place = Math.min(BARS - 1, Math.floor(Math.log(bin.at / low) / width));
    counts[place] = (counts[place] ?? 0) + bin.count;
  }
  return counts.map((count, place) => ({
    from: low * Math.exp(place * width),
    to: low * Math.exp((place + 1) * width),
    part: count / total,
  }));
}

/** A link with its load. */
export interface HotLink {
  link: number;
  from: string;
  to: string;
  /**
   * The mean number of packets that wait for the link: the time that packets waited, in the window,
   * over the window.
   */
  waiting: number;
  /** The part of the window in which flits or tokens cross the link. */
  busy: number;
}

/**
 * All links by number. Links from nodes have no wait: what waits there is the backlog of the
 * adapter.
 */
export function hotLinks(records: Records, wiring: Wiring, windowUs: number): HotLink[] {
  const { links } = records.tables;
  const row = new Map(links.link.map((link, place) => [link, place]));
  return wiring.link.map((link, place) => {
    const here = row.get(link);
    const of = (column: number[]) =>
      here === undefined ? 0 : (column[here] ?? 0) / (windowUs * 1e6);
    return {
      link,
      from: wiring.from[place] ?? "",
      to: wiring.to[place] ?? "",
      waiting: wiring.switch[place] === null ? 0 : of(links.waiting_ps),
      busy: of(links.busy_ps),
    };
  });
}

/**
 * Where a job saturates: the greatest accepted load, and the last load of the row of loads that are
 * not saturated.
 */
export interface Saturation {
  most: number;
  below: number | null;
  above: number | null;
}

export function saturation(
  points: { load: number; jobs: JobResult[] }[],
  place: number,
): Saturation {
  const of = points.map((point) => ({ load: point.load, job: point.jobs[place] as JobResult }));
  const full = of.filter((one) => one.job.saturated);
  const above = full.length ? Math.min(...full.map((one) => one.load)) : null;
  const free = of.filter((one) => !one.job.saturated && (above === null || one.load < above));
  return {
    most: Math.max(0, ...of.map((one) => one.job.accepted)),
    below: free.length ? Math.max(...free.map((one) => one.load)) : null,
    above,
  };
}
