// Configurations and results in words: names of curves, and the finding above the figures.

import { FLOWS, JOB_PATTERNS, PATTERNS, TWO_JOBS, type Config } from "./config.ts";
import { bytes, loadOf } from "./experiment.ts";
import { machine } from "./machines.ts";
import { saturation, type JobResult } from "./measures.ts";
import { RULES } from "./placement.ts";
import type { Finished, Found } from "./runs.ts";
import { topology } from "./topologies.ts";
import { number } from "./chart.tsx";

const first = (label: string) => label.split(":")[0] as string;

function labelled(list: { name: string; label: string }[], name: string): string {
  return first(list.find((one) => one.name === name)?.label ?? name);
}

const WORDS: [keyof Config, (config: Config) => string][] = [
  ["machine", (config) => machine(config.machine).label.split(" (")[0] as string],
  [
    "topology",
    (config) => topology(config.topology).label.replace("graph: ", "").split(",")[0] as string,
  ],
  ["nodes", (config) => `${config.nodes} nodes`],
  ["over", (config) => `${config.over}:1`],
  ["routing", (config) => routing(config)],
  [
    "flow",
    (config) =>
      FLOWS.find((one) => one.name === config.flow)?.label.replace(/^o(n|ff): /, "") ?? "",
  ],
  ["rails", (config) => (config.rails === 1 ? "one rail" : `${config.rails} rails`)],
  [
    "fault",
    (config) =>
      ({ switch: "without a switch", rail: "rail 0 dead" })[config.fault] ?? "without a fault",
  ],
  ["packet", (config) => `packets of ${bytes(config.packet)}`],
  ["message", (config) => `messages of ${bytes(config.message)}`],
  [
    "traffic",
    (config) => (config.traffic === TWO_JOBS ? "two jobs" : labelled(PATTERNS, config.traffic)),
  ],
  ["jobA", (config) => `job A ${labelled(JOB_PATTERNS, config.jobA)}`],
  ["jobB", (config) => `job B ${labelled(JOB_PATTERNS, config.jobB)}`],
  [
    "placement",
    (config) =>
      labelled(
        RULES,
        RULES.some((one) => one.name === config.placement) ? config.placement : "own placement",
      ),
  ],
  ["measure", (config) => `${config.measure} times the window`],
];

function routing(config: Config): string {
  const label =
    topology(config.topology).routings.find((one) => one.name === config.routing)?.label ?? "";
  return label.startsWith("static: ") ? label.replace("static: ", "") : first(label);
}

/** The values of a configuration that another one does not have. */
export function differences(config: Config, other: Config): string {
  const single = config.traffic !== TWO_JOBS;
  const apart = WORDS.filter(
    ([key]) =>
      config[key] !== other[key] && !(single && ["jobA", "jobB", "placement"].includes(key)),
  );
  return apart.map(([, words]) => words(config)).join(", ") || "the same";
}

/** The names of the jobs of a configuration. */
export function jobNames(config: Config): string[] {
  return config.traffic === TWO_JOBS ? ["job A", "job B"] : ["all nodes"];
}

/** The finding: where a configuration saturates. */
export function finding(found: Found): string {
  const { config, finished } = found;
  if (found.error) return "The simulator refuses this network.";
  if (finished.length < 3) return "Simulating …";
  const said = jobNames(config).map((name, place) => {
    const { most, below, above } = saturation(finished, place);
    const whose =
      config.traffic === TWO_JOBS ? `${name[0]?.toUpperCase()}${name.slice(1)}` : "The network";
    if (above === null) return `${whose} carries every load up to ${number(most)} MB/s a node.`;
    const between =
      below === null
        ? `below ${number(loadOf(config, above))}`
        : `between ${number(loadOf(config, below))} and ${number(loadOf(config, above))}`;
    return `${whose} saturates ${between} MB/s a node, and accepts at most ${number(most)} MB/s.`;
  });
  return said.join(" ");
}

/** Results closer than this part of each other are the same, as far as a short window can tell. */
const CLOSE = 0.03;

function ratio(one: number, other: number): string {
  const found = one / other;
  return Math.abs(found - 1) < CLOSE ? "as" : `${Number(found.toPrecision(2))} times as`;
}

/** The results of a configuration against those of a kept one, job by job. */
export function comparison(now: Found, other: Found): string {
  const name = differences(other.config, now.config);
  const jobs = jobNames(now.config);
  if (now.error || other.error || jobs.length !== jobNames(other.config).length) return "";
  if (now.share < 1 || other.share < 1) return `Against ${name}: simulating …`;
  const { load } = now.config;
  const at = (found: Found) => found.finished.find((one) => one.load === load) as Finished;
  const said = jobs.map((job, place) => {
    const most = [now, other].map((found) => saturation(found.finished, place).most);
    const [carried, carriedThere] = most as [number, number];
    const [here, there] = [now, other].map((found) => at(found).jobs[place]) as [
      JobResult,
      JobResult,
    ];
    // Beyond saturation, latencies grow with the measured time.
    const steady = !here.saturated && !there.saturated;
    const latency =
      steady && here.mean !== null && there.mean !== null
        ? `, and at ${number(loadOf(now.config, load))} MB/s messages take ` +
          `${ratio(here.mean, there.mean)} long (${number(here.mean)} and ` +
          `${number(there.mean)} µs)`
        : "";
    const carries = jobs.length > 1 ? `${job} carries` : "all nodes carry";
    return (
      `${carries} ${ratio(carried, carriedThere)} much at most (${number(carried)} and ` +
      `${number(carriedThere)} MB/s a node)${latency}`
    );
  });
  return `Against ${name}: ${said.join("; ")}.`;
}
