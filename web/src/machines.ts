// The machines of the explorer: shipped machine files, and the few of their values that choices depend on.
//
// The simulator reads the machine files themselves. Here are the values from which the page derives others: loads are
// parts of `rate`, windows follow from the times of a message and a packet, and a topology other than that of the file
// needs channels for its routing and delays for its levels. The values are in `machines.json`; a test compares them with the files.

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
  /** Whether switches have four links down and four up, in as many levels as the nodes need; else a tree has two levels. */
  quaternary: boolean;
  /** Flow control of the machine file. */
  flow: Flow;
  /** Delays of links and credits for a tree of two levels, and for all other networks. */
  delays?: { tree: Delays; other: Delays };
  /** Latency of a short message on an idle network, about, in us. */
  latency: number;
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
