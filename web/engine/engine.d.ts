/** The calls of the engine, for a page: types of `engine.js`. */

/** A shipped machine file; its file name is `NAME.toml`. */
export interface MachineFile {
  name: string;
  title: string;
  text: string;
}

/** A parameter of a machine with its provenance, as `elanite show MACHINE --format json` has it. */
export interface Parameter {
  [field: string]: unknown;
}

export interface Machine {
  name: string;
  title: string;
  parameters: Parameter[];
  /** Of a graph with shortest ways. */
  layers: number | null;
}

/** A limit of a machine that a simulation keeps to in silence. */
export interface Warning {
  key: string;
  value: string;
  share: number;
  message: string;
}

/** What is planned: the texts of both files, and the options of `elanite run`. */
export interface Request {
  machine: string;
  experiment: string;
  /** The names of the files in errors. */
  machineFile?: string;
  experimentFile?: string;
  /** The name of the experiment in its points. */
  name?: string;
  /** `KEY=VALUE` for keys of both files, as `--set`. */
  overrides?: string[];
  /** The first seed. */
  seed?: number;
}

export interface Point {
  /** The point as JSON, for other calls. */
  point: string;
  /** All that decides the result: points with equal keys have equal results. */
  key: string;
  /** What distinguishes the point within its experiment. */
  parameters: Record<string, unknown>;
}

type Some<T> = T | null;

/**
 * Tables by columns, all columns of a table equally long. `elanite explain COLUMN` describes each,
 * and `crates/workload/src` defines the tables.
 */
export interface Tables {
  /** Measured values; the metrics are listed in `crates/workload/src/rows.rs`. */
  rows: {
    job: Some<string>[];
    metric: string[];
    unit: string[];
    batch: Some<number>[];
    value: number[];
  };
  /** In MB/s. */
  nodes: { job: string[]; node: number[]; offered: number[]; accepted: number[] };
  /** Links that carried anything in the window, or were dead. */
  links: {
    link: number[];
    from: string[];
    to: string[];
    level: number[];
    up: boolean[];
    packets: number[];
    flits: number[];
    busy_ps: number[];
    waiting_ps: number[];
    delay_ps: number[];
    errors: number[];
    down_ps: number[];
  };
  switches: {
    switch: number[];
    name: string[];
    level: number[];
    packets: number[];
    flits: number[];
    busy_ps: number[];
    waiting_ps: number[];
  };
  /** With `run.slices`. */
  slices: { slice: number[]; link: number[]; waiting_ps: number[]; delay_ps: number[] };
  /** Of a collective operation or a noise test. */
  distribution: { lower_ps: number[]; count: number[] };
  /**
   * With `run.watch`; times from the start of the run. `tail_ps` is complete with
   * `fabric.engine=flit` only.
   */
  circuits: {
    source: number[];
    rail: number[];
    sequence: number[];
    first: number[];
    last: number[];
    flits: number[];
    hop: number[];
    link: number[];
    channel: Some<number>[];
    waits_ps: number[];
    opened_ps: Some<number>[];
    head_ps: Some<number>[];
    tail_ps: Some<number>[];
    closed_ps: Some<number>[];
    delivered_ps: Some<number>[];
    acknowledged_ps: Some<number>[];
  };
  deadlock: Record<string, unknown[]>;
  allocation: Record<string, unknown[]>;
  faults: Record<string, unknown[]>;
  flows: Record<string, unknown[]>;
  shares: Record<string, unknown[]>;
}

/**
 * The latencies of the messages of a job in the window. A bin is at most a thousandth of its least
 * time wide.
 */
export interface Latencies {
  job: string;
  lower_ps: number[];
  count: number[];
}

/** The result of a run. */
export interface Records {
  tables: Tables;
  latencies: Latencies[];
  /** Of all packets and tables: that of the native engine. */
  digest: string;
  base: string;
  packets: number;
  events: number;
  simulated_ps: number;
  random: boolean;
  peak_memory_bytes: number;
  /** Wall time in the worker. */
  milliseconds: number;
}

/** Every link of the network of a point's machine; each direction is a link. */
export interface Wiring {
  link: number[];
  /** `node 3` or `switch 1.0`. */
  from: string[];
  to: string[];
  up: boolean[];
  link_level: number[];
  way: string[];
  /** Level and number of the switch that it leaves; null where it leaves a node. */
  level: Some<number>[];
  switch: Some<number>[];
  /** The same of the switch that it enters. */
  enters_level: Some<number>[];
  enters: Some<number>[];
}

export interface Progress {
  simulated_ps: number;
  events: number;
  /** From 0 to 1; null where the end of the run is unknown. */
  share: number | null;
}

/** A diagnostic of a file, as `elanite check --format json` has it. */
export interface Problem {
  [field: string]: unknown;
}

/** An error of a call; its message is that of the command line. */
export class EngineError extends Error {
  constructor(message: string, code: number, problems?: Problem[]);
  /**
   * 1 a bound was passed, 2 wrong input, 3 a simulated deadlock, 4 a bug of the engine, 130
   * cancelled.
   */
  code: number;
  /** Of files and overrides. */
  problems: Problem[];
}

export class Engine {
  /** `workers`: simulations at a time; one less than the processors, at most four. */
  constructor(options?: { workers?: number });
  /** The model revision, and the fingerprint of the engine's sources. */
  version(): Promise<{ revision: number; engine: string }>;
  machines(): Promise<MachineFile[]>;
  machine(text: string, overrides?: string[], file?: string): Promise<Machine>;
  plan(request: Request): Promise<Point[]>;
  wiring(point: Point): Promise<Wiring>;
  warnings(point: Point): Promise<Warning[]>;
  /** `onProgress` is called at most twenty times a second; to abort `signal` cancels the run. */
  simulate(
    point: Point,
    options?: { onProgress?: (progress: Progress) => void; signal?: AbortSignal },
  ): Promise<Records>;
  /** Ends all workers; calls without an answer are rejected. */
  close(): void;
}
