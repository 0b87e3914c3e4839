// The topologies of the explorer: for each size of a network, the keys of the machine file.
//
// Fat trees of the Quadrics machines have switches with four links down and four up; those of the
// others have two levels with as many leaves as nodes at a leaf. Oversubscription takes links up
// from the leaves. The other networks have shapes with about as many links between switches as a
// network of this size is built with.

import type { MachineInfo } from "./machines.ts";

export type Value = number | string | boolean | Value[];
export type Keys = Record<string, Value>;

export interface Topology {
  name: string;
  label: string;
  /** Ways to choose from: the name, the words, and how many classes of channels it needs. */
  routings: Routing[];
  /** Whether links of leaves to nodes may outnumber those to switches. */
  oversubscribed: boolean;
  keys(nodes: number, over: number, info: MachineInfo): Keys;
}

export interface Routing {
  name: string;
  label: string;
  classes: number;
}

const DETOURS: Routing[] = [
  { name: "ugal-local", label: "UGAL-L: minimal or a detour", classes: 3 },
  { name: "minimal", label: "minimal", classes: 2 },
  { name: "valiant", label: "Valiant: always a detour", classes: 3 },
];

/** Classes of channels of a graph: layers of the shortest ways, twice as many with detours. */
function layered(layers: number): Routing[] {
  return [
    { name: "minimal", label: "minimal", classes: layers },
    { name: "ugal-local", label: "UGAL-L: minimal or a detour", classes: 2 * layers },
    { name: "valiant", label: "Valiant: always a detour", classes: 2 * layers },
    { name: "up-down", label: "up*/down*", classes: 1 },
  ];
}

export const NODES = [16, 64, 256, 1024];

function bySize<T>(nodes: number, ...values: T[]): T {
  return values[NODES.indexOf(nodes)] as T;
}

export const TOPOLOGIES: Topology[] = [
  {
    name: "fat-tree",
    label: "fat tree",
    oversubscribed: true,
    routings: [
      { name: "adaptive", label: "adaptive: the least loaded link up", classes: 1 },
      { name: "destination-modulo", label: "static: by destination (D-mod-k)", classes: 1 },
      { name: "flow-hash", label: "static: hash of source and destination", classes: 1 },
      { name: "deterministic", label: "static: tables of the Elan3", classes: 1 },
    ],
    keys(nodes, over, info): Keys {
      if (info.quaternary) {
        const levels = Math.round(Math.log2(nodes) / 2);
        const up = Array.from({ length: levels - 1 }, (_, level) => (level === 0 ? 4 / over : 4));
        return {
          "topology.nodes": nodes,
          "topology.down": Array(levels).fill(4) as number[],
          "topology.up": up,
        };
      }
      const leaf = Math.round(Math.sqrt(nodes));
      return {
        "topology.kind": "fat-tree",
        "topology.nodes": nodes,
        "topology.down": [leaf, leaf],
        "topology.up": [leaf / over],
        "topology.parallel": [1],
      };
    },
  },
  {
    name: "torus",
    label: "torus, two dimensions",
    oversubscribed: false,
    routings: [{ name: "dimension-order", label: "dimension by dimension", classes: 2 }],
    keys(nodes) {
      const side = Math.round(Math.sqrt(nodes));
      return {
        "topology.kind": "torus",
        "topology.nodes": nodes,
        "topology.dimensions": [side, side],
      };
    },
  },
  {
    name: "dragonfly",
    label: "dragonfly",
    oversubscribed: false,
    routings: DETOURS,
    keys(nodes) {
      const [terminals, group, global, groups] = bySize(
        nodes,
        [2, 2, 2, 5],
        [2, 4, 2, 9],
        [4, 4, 4, 17],
        [4, 8, 4, 33],
      );
      return {
        "topology.kind": "dragonfly",
        "topology.nodes": nodes,
        "topology.terminals": terminals as number,
        "topology.group": group as number,
        "topology.global": global as number,
        "topology.groups": groups as number,
      };
    },
  },
  {
    name: "hyperx",
    label: "HyperX, two dimensions",
    oversubscribed: false,
    routings: DETOURS.map((one) => ({ ...one, classes: one.name === "minimal" ? 1 : 2 })),
    keys(nodes) {
      const [rows, columns, terminals] = bySize(nodes, [4, 4, 1], [4, 4, 4], [8, 8, 4], [8, 16, 8]);
      return {
        "topology.kind": "hyperx",
        "topology.nodes": nodes,
        "topology.dimensions": [rows as number, columns as number],
        "topology.terminals": terminals as number,
      };
    },
  },
  {
    name: "slim-fly",
    label: "graph: Slim Fly",
    oversubscribed: false,
    routings: layered(2),
    keys(nodes) {
      const [order, terminals] = bySize(nodes, [5, 1], [5, 2], [7, 3], [13, 4]);
      return {
        "topology.kind": "slim-fly",
        "topology.nodes": nodes,
        "topology.order": order as number,
        "topology.terminals": terminals as number,
      };
    },
  },
  {
    name: "jellyfish",
    label: "graph: Jellyfish (random)",
    oversubscribed: false,
    routings: layered(3),
    keys(nodes) {
      const [switches, degree, terminals] = bySize(
        nodes,
        [8, 4, 2],
        [16, 6, 4],
        [64, 8, 4],
        [128, 12, 8],
      );
      return {
        "topology.kind": "jellyfish",
        "topology.nodes": nodes,
        "topology.switches": switches as number,
        "topology.degree": degree as number,
        "topology.terminals": terminals as number,
      };
    },
  },
];

export function topology(name: string): Topology {
  return TOPOLOGIES.find((one) => one.name === name) ?? (TOPOLOGIES[0] as Topology);
}
