// Configurations and results in words: names of curves, and the finding above the figures.

import { FLOWS, JOB_PATTERNS, PATTERNS, TWO_JOBS, type Config } from "./config.ts";
import { bytes, loadOf } from "./experiment.ts";
import { machine } from "./machines.ts";
import { saturation } from "./measures.ts";
import { RULES } from "./placement.ts";
import type { Found } from "./runs.ts";
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
