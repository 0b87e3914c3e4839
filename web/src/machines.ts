// The machines of the explorer: shipped machine files, and the few of their values that choices
// depend on.
//
// The simulator reads the machine files themselves. Here are the values from which the page derives
// others: loads are parts of `rate`, windows follow from the times of a message and a packet, and a
// topology other than that of the file needs channels for its routing and delays for its levels.
// The values are in `machines.json`; a test compares them with the files.

import type { Machine } from "../engine/engine.js";
import machines from "./machines.json";

export interface MachineInfo {
  name: string;
  label: string;
  /** Rate of a link in MB/s. */
  rate: number;
  /** Payload of a full packet, in bytes. */
  payload: number;
  /** Payload sizes to choose from. */
  payloads: number[];
  /** Bytes of a transaction; a machine whose packets have no parts has those of its payload. */
  transaction: number;
  parts: boolean;
  /** Bytes of a header, and of the overhead of each transaction. */
  header: number;
  overhead: number;
  /** Bytes of a flit. */
  flit: number;
  /** Flits of a buffer. */
  buffer: number;
  /** Channels of a link for each class of ways that a routing needs. */
  channels: number;
  /**
   * Whether switches have four links down and four up, in as many levels as the nodes need; else a
   * tree has two levels.
   */
  quaternary: boolean;
  /** Flow control of the machine file. */
  flow: Flow;
  /** Delays of links and credits for a tree of two levels, and for all other networks. */
  delays?: { tree: Delays; other: Delays };
  /** Rails of the machine file, if it has several; their policy is that of the file. */
  rails?: number;
  /** Latency of a short message on an idle network, about, in us. */
  latency: number;
  /** The text of a machine file that was opened in the page; its name is that of the file. */
  text?: string;
}

export interface Delays {
  hop: string | string[];
  credit?: string | string[];
}

export type Flow = "until-acknowledged" | "until-delivered" | "wormhole" | "cut-through";

export const MACHINES = machines as MachineInfo[];

export function machine(name: string): MachineInfo {
  return MACHINES.find((one) => one.name === name) ?? (MACHINES[0] as MachineInfo);
}

/** Bytes of a packet with a payload on a link. */
export function packetBytes(info: MachineInfo, payload: number): number {
  const transaction = info.parts ? info.transaction : payload;
  return payload + info.header + Math.ceil(payload / transaction) * info.overhead;
}

/** Sizes to choose from for packets of an opened machine, in bytes, beside its own. */
const PAYLOADS = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
/** A latency of an opened machine: only the lengths of its windows depend on it. */
const LATENCY = 4;
const UNITS: Record<string, number> = {
  B: 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  "KB/s": 1e-3,
  "MB/s": 1,
  "GB/s": 1e3,
  flits: 1,
};

/** A quantity of a machine file: sizes in bytes, rates in MB/s. */
function quantity(value: unknown): number {
  const [, digits, unit] = /^([\d.]+) ?(\S*)$/.exec(String(value)) ?? [];
  return Number(digits) * (UNITS[unit || "B"] ?? NaN);
}

/**
 * A machine from the text of its file, with the values that choices depend on. `name` is the name
 * of the file.
 */
export function ownMachine(name: string, text: string, found: Machine): MachineInfo {
  const values = new Map(found.parameters.map((one) => [String(one.key), one.value]));
  const size = (key: string) => quantity(values.get(key));
  const [payload, transaction] = [size("packet.payload"), size("packet.transaction")];
  const parts = transaction < payload;
  const payloads = [
    ...new Set([
      ...PAYLOADS.filter((one) => one < payload && (!parts || one % transaction === 0)),
      payload,
    ]),
  ];
  const hops = values.get("link.hop_delay");
  const credits = values.get("link.credit_delay");
  const down = values.get("topology.down");
  const info: MachineInfo = {
    name,
    label: `${name}: ${found.title}`,
    rate: size("link.rate"),
    payload,
    payloads,
    transaction,
    parts,
    header: size("packet.header"),
    overhead: size("packet.transaction_overhead"),
    flit: size("link.flit"),
    buffer: size("link.buffer"),
    channels: down ? Number(values.get("link.channels")) : 1,
    quaternary: Array.isArray(down) && down.every((one) => one === 4) && !Array.isArray(hops),
    flow: values.get("switch.circuit") as Flow,
    rails: Number(values.get("rails.count") ?? 1),
    latency: LATENCY,
    text,
  };
  // Delays of levels: those of a tree of two levels, and that between switches for all other links.
  if (Array.isArray(hops) && hops.length > 1) {
    const levels = Array.isArray(credits) && credits.length > 1;
    info.delays = {
      tree: {
        hop: hops.slice(0, 2) as string[],
        ...(levels && { credit: credits.slice(0, 2) as string[] }),
      },
      other: { hop: hops[1] as string, ...(levels && { credit: credits[1] as string }) },
    };
  }
  const wrong = Object.entries(info).find(
    ([, value]) => typeof value === "number" && Number.isNaN(value),
  );
  if (wrong) throw new Error(`The page cannot read the ${wrong[0]} of this machine.`);
  return info;
}

/** Adds an opened machine to the choices; a machine of the same name is replaced. */
export function addMachine(info: MachineInfo): void {
  const place = MACHINES.findIndex((one) => one.name === info.name);
  MACHINES.splice(place < 0 ? MACHINES.length : place, place < 0 ? 0 : 1, info);
}
