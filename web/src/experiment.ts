// From a configuration to the experiment file that the simulator reads.
//
// The page simulates exactly the text that "copy as experiment file" copies: `elanite run FILE`
// plans the same points, with the same keys and digests. One job has one series with a list of
// loads. With two jobs a list in each would be a product, so that each load is a series of its own.
//
// The window follows from the times of a message and a packet: about 80,000 packets at the full
// rate, but at least 25 latencies of the idle network, so that slow and fast machines, few and many
// nodes take about as long in the browser. The first message of a process comes within the mean gap
// of its messages, and only then is the load the offered one: the warm-up is longer than this gap
// at the lowest load.

import type { Config } from "./config.ts";
import { LOADS, TWO_JOBS } from "./config.ts";
import { machine, packetBytes, type MachineInfo } from "./machines.ts";
import { letters, listed } from "./placement.ts";
import { topology, type Keys, type Value } from "./topologies.ts";

/** Packets of a window if all nodes sent at the full rate. */
const PACKETS = 80_000;
const LATENCIES = 25;
/** Most channels of a link. */
const CHANNELS = 32;
/** Most processes of a node, each of which sends a message at a time. */
const PROCESSES = 16;

/**
 * The rails of a machine whose file has none: messages take turns; the other keys are of no effect
 * on this policy.
 */
const RAILS: Keys = {
  "rails.policy": "basic",
  "rails.striping": 0.5,
  "rails.threshold": "8 KB",
  "rails.handle": 50,
  "rails.poll": "100 ns",
};

export interface Times {
  /** Discarded, measured and watched time, in us. */
  warmUp: number;
  window: number;
  watch: number;
}

/** Two leading digits, so that files read well. */
function rounded(value: number): number {
  const digit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.max(1, Math.round(Math.ceil(value / digit) * digit));
}

/** Times of a packet on a link and of a message on an idle network, in us. */
function lengths(config: Config): { packet: number; idle: number } {
  const info = machine(config.machine);
  const packet = packetBytes(info, config.packet) / info.rate;
  return { packet, idle: info.latency + Math.ceil(config.message / config.packet) * packet };
}

/**
 * Processes of a node: enough for the rate of a link on an idle network, so that the senders do not
 * saturate before the network.
 */
export function processes(config: Config): number {
  const { rate } = machine(config.machine);
  return Math.min(PROCESSES, Math.ceil((1.5 * rate * lengths(config).idle) / config.message));
}

export function times(config: Config): Times {
  const { packet, idle } = lengths(config);
  const window = Math.max((PACKETS / config.nodes) * packet, LATENCIES * idle);
  const gap = (processes(config) * config.message) / loadOf(config, LOADS[0] as number);
  return {
    warmUp: rounded(Math.max(window / 4, 10 * idle, 1.05 * gap)),
    window: rounded(window * config.measure),
    watch: rounded(Math.max(20 * packet, 2)),
  };
}

/** The keys of the machine file that a configuration changes. */
export function changes(config: Config): Keys {
  const info = machine(config.machine);
  const kind = topology(config.topology);
  const routing = kind.routings.find((one) => one.name === config.routing) ?? kind.routings[0];
  const keys: Keys = kind.keys(config.nodes, config.over, info);
  if (kind.name === "fat-tree") keys["switch.ascent"] = config.routing;
  else if (kind.name !== "torus") keys["topology.routing"] = config.routing;
  const classes = routing?.classes ?? 1;
  if (classes > 1) keys["link.channels"] = Math.min(CHANNELS, classes * info.channels);
  const delays = kind.name === "fat-tree" ? info.delays?.tree : info.delays?.other;
  if (delays) {
    keys["link.hop_delay"] = delays.hop;
    if (delays.credit) keys["link.credit_delay"] = delays.credit;
  }
  const own = info.rails ?? 1;
  if (config.rails !== own)
    Object.assign(keys, { "rails.count": config.rails }, own === 1 ? RAILS : {});
  if (config.fault !== "none") keys["faults.detect"] = "1 ns";
  if (config.flow !== info.flow) keys["switch.circuit"] = config.flow;
  if (config.packet !== info.payload) {
    keys["packet.payload"] = bytes(config.packet);
    if (!info.parts) keys["packet.transaction"] = bytes(config.packet);
  }
  const buffer = room(info, config);
  if (buffer > info.buffer) keys["link.buffer"] = `${buffer} flits`;
  return keys;
}

/** Flits of a buffer: cut-through needs room for a whole packet. */
function room(info: MachineInfo, config: Config): number {
  if (config.flow !== "cut-through") return info.buffer;
  const flits = Math.ceil(packetBytes(info, config.packet) / info.flit) + 1;
  return Math.max(info.buffer, 2 ** Math.ceil(Math.log2(flits)));
}

export function bytes(value: number): string {
  return value % 1024 === 0 ? `${value / 1024} KB` : `${value} B`;
}

/** An offered load in MB/s. */
export function loadOf(config: Config, percent: number): number {
  return (machine(config.machine).rate * percent) / 100;
}

/**
 * The part that is dead, as the experiment file names it: the first switch of the top level of a
 * tree, or the first rail.
 */
function fault(config: Config, keys: Keys): string[] {
  if (config.fault === "none") return [];
  const levels = keys["topology.down"];
  const part =
    config.fault === "rail"
      ? "rail = 0"
      : `switch = "${Array.isArray(levels) ? levels.length : 1}.0"`;
  return ["[[series.fault]]", part, 'at = "0 us"'];
}

function toml(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** What is simulated, in words. */
export function title(config: Config): string {
  const info = machine(config.machine);
  const over = config.over > 1 ? ` with ${config.over}:1 oversubscription` : "";
  const traffic =
    config.traffic === TWO_JOBS
      ? `two jobs, ${config.placement.slice(0, 40)}`
      : `${config.traffic.replace("-", " ")} traffic`;
  const name = topology(config.topology).label.replace(/^graph: /, "");
  return `${info.name}: ${name} of ${config.nodes} nodes${over}, ${traffic}`;
}

function job(
  config: Config,
  name: string,
  pattern: string,
  nodes: string,
  first: string,
  loads: number[],
): string[] {
  const load = loads.map((one) => `${loadOf(config, one)} MB/s`);
  const hot = pattern === "hot-spot";
  return [
    `[series.jobs.${name}]`,
    `pattern = ${toml(hot ? "uniform" : pattern)}`,
    `nodes = ${nodes}`,
    ...(hot ? [`servers = ${toml(first)}`] : []),
    `message = ${toml(bytes(config.message))}`,
    'sizes = "fixed"',
    'arrivals = "exponential"',
    `load = ${toml(load.length === 1 ? (load[0] as string) : load)}`,
    `processes = ${processes(config)}`,
  ];
}

/** The experiment file of a configuration, with the points of some loads. */
export function experiment(config: Config, loads: number[] = LOADS): string {
  const { warmUp, window } = times(config);
  const changed = changes(config);
  const keys = Object.entries(changed).map(([key, value]) => `${key} = ${toml(value)}`);
  const lines = [
    `title = ${toml(title(config))}`,
    `machine = ${toml(config.machine)}`,
    "",
    "[run]",
    `warm_up = "${warmUp} us"`,
    `window = "${window} us"`,
    "batches = 4",
    "seeds = 1",
  ];
  const series = (name: string, jobs: string[][]) => {
    lines.push(
      "",
      "[[series]]",
      `name = ${toml(name)}`,
      `machine = { ${keys.join(", ")} }`,
      ...fault(config, changed),
      ...jobs.flat(),
    );
  };
  if (config.traffic === TWO_JOBS) {
    const text = letters(config.placement, config.nodes);
    for (const load of loads) {
      const jobs = (["a", "b"] as const).map((name) => {
        const nodes = listed(text, name);
        const pattern = name === "a" ? config.jobA : config.jobB;
        return job(config, name, pattern, toml(nodes), String(text.indexOf(name)), [load]);
      });
      series(`load-${load}`, jobs);
    }
  } else {
    series("load", [job(config, "traffic", config.traffic, String(config.nodes), "0", loads)]);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * What a watched run changes: a short window of the engine that knows when the last flit leaves
 * every link.
 */
export function watched(config: Config): string[] {
  const { watch } = times(config);
  return [`run.watch=${watch} us`, `run.window=${watch} us`, "run.batches=1", "fabric.engine=flit"];
}

/** The same experiment as a command for a shell. */
export function command(config: Config, loads: number[] = LOADS): string {
  return `elanite run - --format json <<'EXPERIMENT'\n${experiment(config, loads)}EXPERIMENT\n`;
}
