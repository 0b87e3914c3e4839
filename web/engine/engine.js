// @ts-check
/**
 * The engine for a page: a pool of workers, each with an instance of the WebAssembly module.
 *
 * The module is compiled once; a worker gets it by a message and is ready after some milliseconds.
 * Simulations wait in the order of the calls until one of the workers is idle. Other calls have a
 * worker of their own, so that no simulation delays them. A simulation cannot be interrupted from
 * within, so a cancelled one ends together with its worker, in place of which another one starts
 * when it is needed.
 *
 * Types and their descriptions are in `engine.d.ts`.
 */

/** @typedef {import("./engine.js").Progress} Progress */

/**
 * @typedef {object} Task A call and its caller.
 * @property {number} id
 * @property {string} call
 * @property {string} words The arguments, as JSON.
 * @property {(found: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {(progress: Progress) => void} seen
 */

const CANCELLED = 130;
const BROKEN = 4;

/** @type {typeof import("./engine.js").EngineError} */
export const EngineError = class EngineError extends Error {
  name = "EngineError";

  /**
   * @param {string} message @param {number} code @param {import("./engine.js").Problem[]} problems
   */
  constructor(message, code, problems = []) {
    super(message);
    this.code = code;
    this.problems = problems;
  }
};

/** A worker, which starts with its first call, and the calls that it has not answered. */
class Slot {
  /** @type {Worker | undefined} */
  #worker;
  /** @type {Map<number, Task>} */
  tasks = new Map();

  /**
   * @param {Promise<WebAssembly.Module>} module @param {() => void} freed Called when the slot has
   * no more calls.
   */
  constructor(module, freed) {
    this.module = module;
    this.freed = freed;
  }

  /** @param {Task} task */
  async start(task) {
    this.tasks.set(task.id, task);
    try {
      const module = await this.module;
      if (!this.tasks.has(task.id)) return;
      this.#worker ??= this.#started(module);
      this.#worker.postMessage({ id: task.id, call: task.call, words: task.words });
    } catch (error) {
      this.#fail(`the engine cannot be loaded: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** @param {WebAssembly.Module} module */
  #started(module) {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => this.#heard(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message || "the worker of the engine cannot be loaded");
    };
    worker.postMessage({ module });
    return worker;
  }

  /** @param {any} data */
  #heard(data) {
    const task = this.tasks.get(data.id);
    if (!task) return;
    if (data.progress) {
      task.seen(data.progress);
      return;
    }
    this.tasks.delete(data.id);
    if (data.error) {
      const { message, code, problems } = data.error;
      task.reject(new EngineError(message, code, problems));
      // After a broken invariant, the module must not be called again.
      if (code === BROKEN) this.#fail(message);
    } else {
      task.resolve(data.ok);
    }
    if (this.tasks.size === 0) this.freed();
  }

  /** Ends the worker and all its calls. @param {string} message */
  #fail(message) {
    this.end(new EngineError(message, BROKEN));
  }

  /** @param {Error} error */
  end(error) {
    this.#worker?.terminate();
    this.#worker = undefined;
    const tasks = [...this.tasks.values()];
    this.tasks.clear();
    for (const task of tasks) task.reject(error);
    this.freed();
  }
}

/** @type {typeof import("./engine.js").Engine} */
export const Engine = class Engine {
  /** @type {Slot} */
  #asked;
  /** @type {Slot[]} */
  #slots;
  /** @type {Task[]} */
  #waiting = [];
  #count = 0;

  constructor({
    workers = Math.max(1, Math.min(4, (navigator.hardwareConcurrency ?? 2) - 1)),
  } = {}) {
    const module = compiled();
    // A failure is reported by the calls that wait for the module.
    module.catch(() => {});
    this.#asked = new Slot(module, () => {});
    this.#slots = Array.from({ length: workers }, () => new Slot(module, () => this.#next()));
  }

  /** @param {string} call @param {unknown[]} words @returns {Promise<any>} */
  #ask(call, ...words) {
    return new Promise((resolve, reject) => {
      const task = {
        id: this.#count++,
        call,
        words: JSON.stringify(words),
        resolve,
        reject,
        seen: () => {},
      };
      this.#asked.start(task);
    });
  }

  version() {
    return this.#ask("version");
  }

  machines() {
    return this.#ask("machines");
  }

  /** @type {import("./engine.js").Engine["machine"]} */
  machine(text, overrides = [], file = "machine.toml") {
    return this.#ask("load_machine", text, file, overrides);
  }

  /** @type {import("./engine.js").Engine["plan"]} */
  async plan({
    machine,
    machineFile = "machine.toml",
    experiment,
    experimentFile = "experiment.toml",
    name = "explore",
    overrides = [],
    seed = 1,
  }) {
    const words = [machine, machineFile, name, experiment, experimentFile, overrides, seed];
    const points = await this.#ask("plan", ...words);
    return points.map((/** @type {[string, string, string]} */ [point, key, parameters]) => {
      return { point, key, parameters: JSON.parse(parameters) };
    });
  }

  /** @type {import("./engine.js").Engine["wiring"]} */
  wiring({ point }) {
    return this.#ask("wiring", point);
  }

  /** @type {import("./engine.js").Engine["warnings"]} */
  warnings({ point }) {
    return this.#ask("point_warnings", point);
  }

  /** @type {import("./engine.js").Engine["simulate"]} */
  simulate({ point }, { onProgress = () => {}, signal } = {}) {
    return new Promise((resolve, reject) => {
      const cancelled = new EngineError("the run was cancelled", CANCELLED);
      if (signal?.aborted) {
        reject(cancelled);
        return;
      }
      const id = this.#count++;
      const task = {
        id,
        call: "simulate",
        words: JSON.stringify([point]),
        resolve,
        reject,
        seen: onProgress,
      };
      signal?.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((other) => other !== task);
        this.#slots.find((slot) => slot.tasks.has(id))?.end(cancelled);
        reject(cancelled);
      });
      this.#waiting.push(task);
      this.#next();
    });
  }

  /** Starts calls that wait, as far as there are idle workers. */
  #next() {
    for (const slot of this.#slots) {
      const task = slot.tasks.size === 0 && this.#waiting.shift();
      if (task) slot.start(task);
    }
  }

  close() {
    const closed = new EngineError("the engine was closed", CANCELLED);
    for (const task of this.#waiting.splice(0)) task.reject(closed);
    for (const slot of [this.#asked, ...this.#slots]) slot.end(closed);
  }
};

/** The compiled module; while it is loaded if the server names its type. */
async function compiled() {
  const response = await fetch(new URL("./built/elanite_web_bg.wasm", import.meta.url));
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  if (response.headers.get("content-type") === "application/wasm")
    return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
