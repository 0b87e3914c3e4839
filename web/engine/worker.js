// @ts-check
/**
 * The worker of the engine: an instance of the WebAssembly module that answers one call after the
 * other.
 *
 * The first message is `{module}`, the compiled module. A call is `{id, call, words}`, with the
 * arguments as JSON; the calls are those of `crates/web/src/calls.rs`. The answers are any number
 * of `{id, progress}`, and then one `{id, ok}` or `{id, error: {message, code, problems}}`. Whoever
 * sends the messages ends the worker to cancel a call.
 */

import start, { answer } from "./built/elanite_web.js";

/** Between two messages with the progress, in ms. */
const PAUSE = 50;
const USAGE = 2;
const BROKEN = 4;

/** @type {Promise<unknown>} */
let ready;

addEventListener("message", async ({ data: { module, id, call, words } }) => {
  if (module) {
    ready = start({ module_or_path: module });
    return;
  }
  try {
    await ready;
    const begin = performance.now();
    const found = JSON.parse(answer(call, words, observer(id)));
    if (found.ok !== undefined) {
      postMessage({ id, ok: plain(call, found.ok, () => performance.now() - begin) });
    } else {
      postMessage({ id, error: error(found) });
    }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    postMessage({ id, error: { message, code: BROKEN, problems: [] } });
  }
});

/** The function that receives the progress of a call. @param {number} id */
function observer(id) {
  let last = performance.now();
  return (
    /** @type {number} */ time,
    /** @type {number} */ events,
    /** @type {number | undefined} */ end,
  ) => {
    const now = performance.now();
    if (now - last < PAUSE) return;
    last = now;
    const share = end ? Math.min(1, time / end) : null;
    postMessage({ id, progress: { simulated_ps: time, events, share } });
  };
}

/**
 * The error of a failed call. @param {{config?: [string, string], run?: [string, number]}} found
 */
function error({ config, run }) {
  if (config) return { message: config[0], code: USAGE, problems: JSON.parse(config[1]) };
  const [message, code] = run ?? ["no answer", BROKEN];
  return { message, code, problems: [] };
}

/**
 * A result with the bare values of tables. @param {string} call @param {any} found @param {() =>
 * number} elapsed
 */
function plain(call, found, elapsed) {
  if (call === "wiring") return columns(found);
  if (call !== "simulate") return found;
  const tables = Object.entries(found.tables).map(([name, table]) => [name, columns(table)]);
  return { ...found, tables: Object.fromEntries(tables), milliseconds: elapsed() };
}

/** A table without the types of its columns. @param {Record<string, [string, unknown[]]>} table */
function columns(table) {
  return Object.fromEntries(Object.entries(table).map(([name, [, values]]) => [name, values]));
}
