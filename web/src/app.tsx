// The page: choices at the left, the chosen load and the results at the right.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, MOST_KEPT, opened, settled, type Config, type Shared } from "./config.ts";
import { Controls } from "./controls.tsx";
import { Curves, nearest } from "./curves.tsx";
import { loadOf, title } from "./experiment.ts";
import { Guide } from "./guide.tsx";
import { chosen, Histogram } from "./histogram.tsx";
import { Networks } from "./network.tsx";
import { number } from "./chart.tsx";
import { machine } from "./machines.ts";
import { Runs, type Found, type Watched } from "./runs.ts";
import { Share } from "./share.tsx";
import { MOST_NODES, Watch } from "./watch.tsx";
import { comparison, differences, finding } from "./words.ts";

const runs = new Runs();
const PAUSE = 120; // ms between a change and its simulation, so that a slider may pass by

const empty = (config: Config): Found => ({
  config,
  finished: [],
  wiring: null,
  warnings: [],
  share: 0,
  error: null,
});

/** The results of a configuration, which grow while it is simulated; a stopped one keeps them. */
function useFound(config: Config | undefined, stopped: boolean): Found | undefined {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const text = JSON.stringify([config, config && machine(config.machine).text]);
  useEffect(() => {
    if (!config) {
      setFound(undefined);
      return;
    }
    if (stopped) return;
    const stop = new AbortController();
    const timer = setTimeout(() => void runs.run(config, stop.signal, setFound), PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, stopped]);
  if (!config) return undefined;
  // The results of another configuration are no results of this one; another load of the same one
  // has them.
  const same =
    found &&
    JSON.stringify({ ...found.config, load: 0 }) === JSON.stringify({ ...config, load: 0 });
  return same ? { ...found, config } : empty(config);
}

function useWatched(
  config: Config,
  wanted: boolean,
): { watched: Watched | null; error: string | null } {
  const [state, setState] = useState<{ watched: Watched | null; error: string | null }>({
    watched: null,
    error: null,
  });
  const text = JSON.stringify([config, config && machine(config.machine).text]);
  useEffect(() => {
    setState({ watched: null, error: null });
    if (!wanted) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      runs.watch(config, stop.signal).then(
        (watched) => stop.signal.aborted || setState({ watched, error: null }),
        (error: Error) => stop.signal.aborted || setState({ watched: null, error: error.message }),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, wanted]);
  return state;
}

export function App() {
  const start = useMemo(() => opened(location.hash), []);
  const [shared, setShared] = useState<Shared>(start);
  const { config, kept, tour } = shared;
  const state = address(config, kept, null);
  const [stoppedAt, setStopped] = useState("");
  const stopped = stoppedAt === state; // any other state is simulated
  const wide = useRef(matchMedia("(min-width: 900px)").matches);
  const change = (part: Partial<Config>) =>
    setShared((before) => ({
      ...before,
      config: settled({ ...before.config, ...part }),
      refused: [],
    }));
  useEffect(() => {
    history.replaceState(null, "", `#${address(config, kept, tour)}`);
  }, [config, kept, tour]);
  useEffect(() => {
    const read = () => setShared(opened(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const now = useFound(config, stopped) as Found;
  const beside = [
    useFound(kept[0] && { ...kept[0], load: config.load }, stopped),
    useFound(kept[1] && { ...kept[1], load: config.load }, stopped),
  ];
  const shown = [now, ...beside.filter((one) => one !== undefined)];
  const small = config.nodes <= MOST_NODES;
  const ready = now.finished.some((one) => one.load === config.load);
  const { watched, error } = useWatched(config, small && ready);
  const share = shown.reduce((sum, one) => sum + one.share, 0) / shown.length;
  const keep = () =>
    setShared((before) => ({
      ...before,
      kept: [before.config, ...before.kept].slice(0, MOST_KEPT),
    }));
  const drop = (place: number) =>
    setShared((before) => ({ ...before, kept: before.kept.filter((_, other) => other !== place) }));
  return (
    <>
      <a class="skip" href="#results">
        Skip to the results
      </a>
      <header>
        <h1>Elanite explorer</h1>
        <p>
          Choose a network and its traffic. The simulator moves every flit, here in your browser.
        </p>
      </header>
      <main>
        <details class="choices" open={wide.current}>
          <summary>Network and traffic</summary>
          <Controls config={config} onChange={change} onOpen={(file) => runs.open(file)} />
        </details>
        <div id="results" tabIndex={-1}>
          <Guide
            tour={tour}
            onStep={(part) => setShared((before) => ({ ...before, ...part, refused: [] }))}
          />
          {shared.refused.length > 0 && (
            <p class="note">
              The address has values that this page does not know; they were left out:{" "}
              {shared.refused.join(", ")}.
            </p>
          )}
          <div class="load">
            <label for="load">offered load of each node</label>
            <input
              id="load"
              type="range"
              min={5}
              max={100}
              step={5}
              value={config.load}
              aria-valuetext={
                `${number(loadOf(config, config.load))} MB/s, ${config.load}% of the rate of a ` +
                "link"
              }
              onInput={(event) => change({ load: nearest(Number(event.currentTarget.value)) })}
            />
            <output for="load">
              <b>{number(loadOf(config, config.load))} MB/s</b> {config.load}% of a link
            </output>
            <progress
              value={share}
              max={1}
              aria-label="Simulated part of all loads"
              class={share < 1 && !now.error ? "" : "done"}
            />
            <button
              type="button"
              class={share < 1 && !now.error ? "link" : "link done"}
              onClick={() => setStopped(stopped ? "" : state)}
            >
              {stopped ? "Continue" : "Stop"}
            </button>
          </div>
          <p class="printed">
            {title(config)}
            <br />
            {location.href}
          </p>
          <h2 class="finding" aria-live="polite">
            {finding(now)}
          </h2>
          {now.error && <pre class="error">{now.error}</pre>}
          {beside.map(
            (other, place) =>
              other && (
                <p class="beside" key={place}>
                  {comparison(now, other)}
                </p>
              ),
          )}
          <div class="row keeping">
            <button type="button" onClick={keep} disabled={now.finished.length === 0}>
              Keep this for comparison
            </button>
            {kept.map((one, place) => (
              <span class="chip" key={place}>
                {differences(one, config)}
                <button
                  type="button"
                  class="link"
                  aria-label={`Remove ${differences(one, config)} from the comparison`}
                  onClick={() => drop(place)}
                >
                  ✕
                </button>
              </span>
            ))}
          </div>
          <section aria-labelledby="curve-title">
            <h2 id="curve-title">How much it carries, and how long messages take</h2>
            <Curves shown={shown} onLoad={(load) => change({ load })} />
          </section>
          <section aria-labelledby="network-title">
            <h2 id="network-title">Where packets wait</h2>
            <Networks shown={shown} />
          </section>
          <section aria-labelledby="histogram-title">
            <h2 id="histogram-title">
              Latencies at {number(loadOf(config, config.load))} MB/s a node
            </h2>
            <Histogram shown={shown} />
          </section>
          <section aria-labelledby="watch-title">
            <h2 id="watch-title">Packets and the circuits that they hold</h2>
            {!small && (
              <p>
                Networks of up to {MOST_NODES} nodes can be watched packet by packet.
              </p>
            )}
            {small && error && <pre class="error">{error}</pre>}
            {small && !error && !watched && <p>A few microseconds are being simulated …</p>}
            {small && watched && <Watch config={config} watched={watched} />}
          </section>
          {now.warnings.length > 0 && (
            <section aria-labelledby="limits-title">
              <h2 id="limits-title">Limits of this machine</h2>
              <ul>
                {now.warnings.map((one) => (
                  <li key={one.message}>{one.message}</li>
                ))}
              </ul>
            </section>
          )}
          <Share config={config} point={chosen(now)} />
        </div>
      </main>
    </>
  );
}
