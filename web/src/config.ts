// The state of the page: one configuration that is shown, and up to two that are kept beside it.
// The address holds all of it.
//
// `settled` replaces values that do not go together: a routing that the topology does not have, an
// oversubscription of a torus. The address names only values that are not the usual ones, and a
// value that it has and the page does not know is left out and reported.

import { MACHINES, machine, type Flow } from "./machines.ts";
import { NODES, TOPOLOGIES, topology } from "./topologies.ts";
import { isPlacement } from "./placement.ts";

export interface Config {
  machine: string;
  topology: string;
  nodes: number;
  over: number;
  routing: string;
  flow: Flow;
  /** Networks side by side, with an adapter of each node on each. */
  rails: number;
  fault: string;
  /** Payload of a packet, in bytes. */
  packet: number;
  /** Payload of a message, in bytes. */
  message: number;
  traffic: string;
  /** Patterns of the two jobs, if `traffic` is "two-jobs". */
  jobA: string;
  jobB: string;
  placement: string;
  /** Offered load of each node, in per cent of the rate of a link. */
  load: number;
  /** Length of the measured window, as a multiple of the usual one. */
  measure: number;
}

export const FLOWS: { name: Flow; label: string }[] = [
  { name: "until-acknowledged", label: "on: held until acknowledged" },
  { name: "until-delivered", label: "on: held until delivered" },
  { name: "wormhole", label: "off: wormhole" },
  { name: "cut-through", label: "off: cut-through" },
];

/** The numbers of rails to choose from: one, two, or as many as the machine's file has. */
export function railsOf(name: string): number[] {
  return [...new Set([1, 2, machine(name).rails ?? 1])].sort((one, other) => one - other);
}

/** What is dead from the start of a run, known to the sources. */
export const FAULTS = [
  { name: "none", label: "none" },
  { name: "switch", label: "a switch of the top level" },
  { name: "rail", label: "rail 0" },
];

/**
 * The faults that a configuration can have: a tree has other switches of the top, a second rail
 * replaces the first.
 */
export function faults(config: Pick<Config, "topology" | "rails">): typeof FAULTS {
  return FAULTS.filter(
    ({ name }) =>
      name === "none" ||
      (name === "rail" ? config.rails > 1 : config.topology === "fat-tree" && config.rails === 1),
  );
}

export const PATTERNS: { name: string; label: string }[] = [
  { name: "uniform", label: "uniform: a random node for each message" },
  { name: "hot-spot", label: "hot spot: all to node 0" },
  { name: "neighbor", label: "neighbor: pairs 0-1, 2-3, ..." },
  { name: "complement", label: "complement: i to N-1-i" },
  { name: "bit-reversal", label: "bit reversal" },
  { name: "butterfly", label: "butterfly" },
  { name: "shuffle", label: "shuffle" },
  { name: "transpose", label: "transpose" },
  { name: "tornado", label: "tornado: nearly half way round" },
];

/** Patterns of a job of any size. */
export const JOB_PATTERNS = PATTERNS.filter((one) =>
  ["uniform", "hot-spot", "complement", "tornado"].includes(one.name),
);

export const TWO_JOBS = "two-jobs";
export const MESSAGES = [64, 256, 1024, 4096, 16384, 65536];
export const LOADS = Array.from({ length: 20 }, (_, place) => 5 * (place + 1));
export const OVERS = [1, 2, 4];
export const MEASURES = [1, 4, 16];

export function usual(name = "es40-qsnet"): Config {
  const info = machine(name);
  return {
    machine: info.name,
    topology: info.name.includes("dragonfly") ? "dragonfly" : "fat-tree",
    nodes: 64,
    over: 1,
    routing: info.name.includes("dragonfly") ? "ugal-local" : "adaptive",
    flow: info.flow,
    rails: info.rails ?? 1,
    fault: "none",
    packet: info.payload,
    message: 4096,
    traffic: "uniform",
    jobA: "uniform",
    jobB: "uniform",
    placement: "packed",
    load: 50,
    measure: 1,
  };
}

const SHORT: Record<keyof Config, string> = {
  machine: "m",
  topology: "t",
  nodes: "n",
  over: "o",
  routing: "r",
  flow: "c",
  rails: "k",
  fault: "f",
  packet: "p",
  message: "s",
  traffic: "j",
  jobA: "a",
  jobB: "b",
  placement: "w",
  load: "l",
  measure: "x",
};

const names = (list: readonly { name: string }[]) => list.map((one) => one.name);

/** Whether a key may have a value on a machine. */
function allowed(config: Config, key: keyof Config, value: string | number): boolean {
  const lists: Partial<Record<keyof Config, readonly (string | number)[]>> = {
    machine: names(MACHINES),
    topology: names(TOPOLOGIES),
    nodes: NODES,
    over: topology(config.topology).oversubscribed ? OVERS : [1],
    routing: names(topology(config.topology).routings),
    flow: names(FLOWS),
    rails: railsOf(config.machine),
    fault: names(faults(config)),
    packet: machine(config.machine).payloads,
    message: MESSAGES,
    traffic: [...names(PATTERNS), TWO_JOBS],
    jobA: names(JOB_PATTERNS),
    jobB: names(JOB_PATTERNS),
    load: LOADS,
    measure: MEASURES,
  };
  return key === "placement"
    ? isPlacement(String(value), config.nodes)
    : (lists[key]?.includes(value) ?? false);
}

/**
 * A configuration whose values go together: each wrong one has the usual value, or the first
 * possible one.
 */
export function settled(config: Config): Config {
  const found = { ...config };
  const base = usual(config.machine);
  for (const key of Object.keys(SHORT) as (keyof Config)[]) {
    if (allowed(found, key, found[key])) continue;
    const first = key === "routing" ? topology(found.topology).routings[0]?.name : base[key];
    Object.assign(found, { [key]: key === "over" ? 1 : key === "placement" ? "packed" : first });
  }
  return found;
}

/** The parameters of an address for a configuration. */
export function encoded(config: Config): string {
  const base = usual(config.machine);
  const parts = new URLSearchParams();
  for (const [key, short] of Object.entries(SHORT) as [keyof Config, string][]) {
    if (key === "machine" || config[key] !== base[key]) parts.set(short, String(config[key]));
  }
  return parts.toString();
}

/** The configuration of the parameters of an address, and the parameters that were left out. */
export function decoded(text: string): { config: Config; refused: string[] } {
  const parts = new URLSearchParams(text);
  const config = usual(parts.get(SHORT.machine) ?? undefined);
  const refused: string[] = [];
  for (const [key, short] of Object.entries(SHORT) as [keyof Config, string][]) {
    const text = parts.get(short);
    if (text === null) continue;
    const value = typeof config[key] === "number" ? Number(text) : text;
    if (allowed(config, key, value)) Object.assign(config, { [key]: value });
    else refused.push(`${short}=${text}`);
  }
  return { config: settled(config), refused };
}

export interface Shared {
  config: Config;
  kept: Config[];
  /** The tour and its step, from 0 on. */
  tour: { name: string; step: number } | null;
  refused: string[];
}

export const MOST_KEPT = 2;

/** The part of an address behind the `#`. */
export function address(config: Config, kept: Config[], tour: Shared["tour"]): string {
  const parts = new URLSearchParams(encoded(config));
  for (const one of kept) parts.append("keep", encoded(one));
  if (tour) parts.set("tour", `${tour.name}.${tour.step + 1}`);
  return parts.toString();
}

export function opened(hash: string): Shared {
  const text = hash.replace(/^#/, "");
  const parts = new URLSearchParams(text);
  const { config, refused } = decoded(text);
  const kept = parts.getAll("keep").slice(0, MOST_KEPT).map(decoded);
  const [, name, step] = /^([a-z]+)\.([1-5])$/.exec(parts.get("tour") ?? "") ?? [];
  return {
    config,
    kept: kept.map((one) => one.config),
    tour: name && step ? { name, step: Number(step) - 1 } : null,
    refused: [...refused, ...kept.flatMap((one) => one.refused)],
  };
}
