// The results of configurations: planned, simulated load by load, and kept by the key of each
// point.
//
// Equal keys have equal results, so that a configuration that comes back costs nothing. The chosen
// load is simulated first, then the others from coarse to fine. When the configuration changes, the
// runs of the former one are cancelled.

import {
  Engine,
  EngineError,
  type MachineFile,
  type Point,
  type Records,
  type Warning,
  type Wiring,
} from "../engine/engine.js";
import { LOADS, TWO_JOBS, type Config } from "./config.ts";
import { experiment, watched } from "./experiment.ts";
import { addMachine, machine, ownMachine } from "./machines.ts";
import { summary, type JobResult } from "./measures.ts";

/** Most bytes of a machine file that is opened. */
const MOST_BYTES = 1_000_000;

/** The finished point of a load. */
export interface Finished {
  load: number;
  key: string;
  jobs: JobResult[];
  records: Records;
}

/** A configuration with what is known of it so far. */
export interface Found {
  config: Config;
  finished: Finished[];
  wiring: Wiring | null;
  warnings: Warning[];
  /** The part of the points that is simulated, 0 to 1. */
  share: number;
  error: string | null;
}

export interface Watched {
  records: Records;
  wiring: Wiring;
}

/** Loads from coarse to fine, the chosen one first. */
export function order(chosen: number): number[] {
  const coarse = LOADS.filter((load) => load % 20 === 0);
  const middle = LOADS.filter((load) => load % 20 === 10);
  const fine = LOADS.filter((load) => load % 10 === 5);
  return [...new Set([chosen, ...coarse, ...middle, ...fine])];
}

export class Runs {
  private started: Engine | null = null;
  private files: Promise<MachineFile[]> | null = null;
  private readonly results = new Map<string, Records>();
  private readonly plans = new Map<string, Promise<Point[]>>();

  /**
   * The engine, which loads and compiles its module when it is first asked: the page is drawn
   * before.
   */
  get engine(): Engine {
    this.started ??= new Engine();
    return this.started;
  }

  /** The text of a machine: a shipped one, or one that was opened in the page. */
  private async machine(name: string): Promise<string> {
    const own = machine(name).text;
    if (own !== undefined) return own;
    this.files ??= this.engine.machines();
    const found = (await this.files).find((one) => one.name === name);
    if (!found) throw new EngineError(`this build has no machine ${name}`, 2, []);
    return found.text;
  }

  private async plan(config: Config, loads: number[], overrides: string[]): Promise<Point[]> {
    const text = experiment(config, loads);
    const file = await this.machine(config.machine);
    const id = JSON.stringify([text, overrides, file]);
    let planned = this.plans.get(id);
    if (!planned) {
      const machineFile = config.machine.replace(/(\.toml)?$/, ".toml");
      planned = this.engine.plan({
        machine: file,
        machineFile,
        experiment: text,
        experimentFile: "explore.toml",
        overrides,
      });
      this.plans.set(id, planned);
    }
    return planned;
  }

  /** Adds a machine file to the choices. Throws the simulator's message if the file is wrong. */
  async open(file: File): Promise<string> {
    if (file.size > MOST_BYTES)
      throw new Error(
        `${file.name} has ${file.size.toLocaleString("en")} bytes; a machine file has at ` +
          `most ${MOST_BYTES.toLocaleString("en")}.`,
      );
    // A shipped machine keeps its name.
    const name = file.name.endsWith(".toml") ? file.name : `${file.name}.toml`;
    const text = await file.text();
    addMachine(ownMachine(name, text, await this.engine.machine(text, [], name)));
    return name;
  }

  private async simulated(
    point: Point,
    signal: AbortSignal,
    onShare?: (share: number) => void,
  ): Promise<Records> {
    const before = this.results.get(point.key);
    if (before) return before;
    const records = await this.engine.simulate(point, {
      signal,
      onProgress: ({ share }) => onShare?.(share ?? 0),
    });
    this.results.set(point.key, records);
    return records;
  }

  /** Simulate all loads of a configuration; `onFound` is called whenever more is known. */
  async run(config: Config, signal: AbortSignal, onFound: (found: Found) => void): Promise<void> {
    const found: Found = {
      config,
      finished: [],
      wiring: null,
      warnings: [],
      share: 0,
      error: null,
    };
    const tell = () => {
      if (!signal.aborted) onFound({ ...found });
    };
    try {
      const points = await this.plan(config, LOADS, []);
      const [first] = points;
      if (!first) return;
      const running = new Map<number, number>();
      const one = async (load: number) => {
        const point = points[LOADS.indexOf(load)] as Point;
        const records = await this.simulated(point, signal, (share) => {
          running.set(load, share);
          const parts = [...running.values()].reduce((sum, part) => sum + part, 0);
          found.share = Math.min(1, (found.finished.length + parts) / LOADS.length);
          tell();
        });
        running.delete(load);
        const jobs = summary(records, config.traffic === TWO_JOBS ? ["a", "b"] : ["traffic"]);
        const finished = [...found.finished, { load, key: point.key, jobs, records }];
        found.finished = finished.sort((left, right) => left.load - right.load);
        found.share = found.finished.length / LOADS.length;
        tell();
      };
      const [wiring, warnings] = [this.engine.wiring(first), this.engine.warnings(first)];
      const all = order(config.load).map(one);
      const drawn = wiring.then(async (links) => {
        found.wiring = links;
        found.warnings = await warnings;
        tell();
      });
      await Promise.all([drawn, ...all]);
    } catch (error) {
      if (signal.aborted) return;
      found.error = error instanceof Error ? error.message : String(error);
      tell();
    }
  }

  /** The packets of a short time at the chosen load. */
  async watch(config: Config, signal: AbortSignal): Promise<Watched> {
    const [point] = await this.plan(config, [config.load], watched(config));
    if (!point) throw new EngineError("the experiment has no points", 2, []);
    const [records, wiring] = await Promise.all([
      this.simulated(point, signal),
      this.engine.wiring(point),
    ]);
    return { records, wiring };
  }
}
