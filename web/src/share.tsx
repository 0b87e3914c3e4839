// What leaves the page: its address, the experiment as a file, and the command that gives the same
// digests.

import { useState } from "preact/hooks";
import type { Config } from "./config.ts";
import { command, experiment } from "./experiment.ts";
import { machine } from "./machines.ts";
import type { Finished } from "./runs.ts";

export function Share({ config, point }: { config: Config; point: Finished | undefined }) {
  const [said, setSaid] = useState("");
  const [fallback, setFallback] = useState("");
  const copy = async (text: string, what: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setFallback("");
      setSaid(`${what} copied.`);
    } catch {
      setFallback(text); // no permission, or no secure address
      setSaid(`The browser does not allow copying; ${what.toLowerCase()} is below.`);
    }
  };
  return (
    <section class="share" aria-labelledby="share-title">
      <h2 id="share-title">Take it along</h2>
      <p>
        The page simulates exactly this experiment file. The command line plans the same points, and
        every digest is the same.
        {machine(config.machine).text !== undefined &&
          ` It names ${config.machine}: keep that file in the folder of the experiment, or ` +
            "of the command. The address of the page does not hold it."}
      </p>
      <div class="row">
        <button type="button" onClick={() => copy(experiment(config), "Experiment file")}>
          Copy as experiment file
        </button>
        <button type="button" onClick={() => copy(command(config), "Command")}>
          Copy as command
        </button>
        <button type="button" onClick={() => copy(location.href, "Address")}>
          Copy the address of this page
        </button>
      </div>
      <p aria-live="polite" class="quiet">
        {said}
      </p>
      {fallback && <textarea readOnly rows={8} aria-label="Text to copy" value={fallback} />}
      <p>
        Digest at the chosen load: <code id="digest">{point?.records.digest ?? "…"}</code>
        {point && (
          <span class="quiet">
            {" "}
            {point.records.packets.toLocaleString("en")} packets,{" "}
            {point.records.events.toLocaleString("en")} events,{" "}
            {(point.records.milliseconds / 1e3).toFixed(2)} s in this browser
          </span>
        )}
      </p>
      <details>
        <summary>The experiment file</summary>
        <pre class="scrolled" tabIndex={0}>
          {experiment(config)}
        </pre>
      </details>
    </section>
  );
}
