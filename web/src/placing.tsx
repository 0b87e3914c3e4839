// Placement of two jobs: a cell for each node, in blocks of the nodes of a switch. Cells are
// dragged onto each other, and the two nodes change their jobs. By keyboard: arrows move, the space
// bar takes a node up, and the space bar at another node exchanges the two.

import { useRef, useState } from "preact/hooks";
import type { Config } from "./config.ts";
import { JOB_PATTERNS } from "./config.ts";
import { Field } from "./field.tsx";
import { exchanged, letters, placementOf, RULES } from "./placement.ts";
import { machine } from "./machines.ts";
import { topology } from "./topologies.ts";

/** Nodes at a switch: the blocks of the cells. */
export function mates(config: Config): number {
  const keys = topology(config.topology).keys(config.nodes, config.over, machine(config.machine));
  const down = keys["topology.down"];
  if (Array.isArray(down)) return down[0] as number;
  return Number(keys["topology.terminals"] ?? 1);
}

export function Placing({
  config,
  onChange,
}: {
  config: Config;
  onChange: (part: Partial<Config>) => void;
}) {
  const text = letters(config.placement, config.nodes);
  const own = !RULES.some((one) => one.name === config.placement);
  const block = Math.max(1, mates(config));
  const [held, setHeld] = useState<number | null>(null);
  const [focused, setFocused] = useState(0);
  const [said, setSaid] = useState("");
  const grid = useRef<HTMLDivElement>(null);
  const pressed = useRef<number | null>(null);
  const exchange = (one: number, other: number) => {
    setHeld(null);
    if (one === other) return;
    onChange({ placement: placementOf(exchanged(text, one, other)) });
    setSaid(
      `Nodes ${one} and ${other} exchanged: ${name(text[other])} on node ${one}, ` +
        `${name(text[one])} on node ${other}.`,
    );
  };
  const move = (to: number) => {
    const place = Math.max(0, Math.min(config.nodes - 1, to));
    setFocused(place);
    (grid.current?.querySelector(`[data-node="${place}"]`) as HTMLElement | null)?.focus();
  };
  const key = (event: KeyboardEvent, node: number) => {
    const moves: Record<string, number> = {
      ArrowRight: node + 1,
      ArrowLeft: node - 1,
      ArrowDown: node + block,
      ArrowUp: node - block,
      Home: 0,
      End: config.nodes - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) move(to);
    else if (event.key === " " || event.key === "Enter") {
      if (held === null) {
        setHeld(node);
        setSaid(
          `Node ${node}, ${name(text[node])}, taken up. Move, and press the space bar at ` +
            "another node.",
        );
      } else exchange(held, node);
    } else if (event.key === "Escape") setHeld(null);
    else return;
    event.preventDefault();
  };
  const under = (event: PointerEvent): number | null => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-node]");
    return cell ? Number(cell.getAttribute("data-node")) : null;
  };
  return (
    <div class="placing">
      <div class="fields">
        <Field
          label="placement"
          value={own ? "own" : config.placement}
          options={[
            ...RULES.map((one) => ({ value: one.name, label: one.label })),
            ...(own ? [{ value: "own", label: "own: nodes were moved" }] : []),
          ]}
          onChange={(name) => onChange({ placement: name })}
        />
        {(["jobA", "jobB"] as const).map((job) => (
          <Field
            key={job}
            label={job === "jobA" ? "job A" : "job B"}
            value={config[job]}
            options={JOB_PATTERNS.map((one) => ({
              value: one.name,
              label: one.name === "hot-spot" ? "hot spot: all to the first node" : one.label,
            }))}
            onChange={(name) => onChange({ [job]: name })}
          />
        ))}
      </div>
      <p id="placing-help" class="hint">
        A block is a switch. Drag a node onto another one to exchange them. By keyboard: arrows
        move, the space bar takes up and exchanges, Escape lets go.
      </p>
      <div
        ref={grid}
        class={`cells${config.nodes > 256 ? " small" : ""}`}
        role="group"
        aria-label="Nodes and their jobs"
        aria-describedby="placing-help"
      >
        {Array.from({ length: Math.ceil(config.nodes / block) }, (_, leaf) => (
          <div class="leaf" key={leaf}>
            {Array.from({ length: Math.min(block, config.nodes - leaf * block) }, (_, place) => {
              const node = leaf * block + place;
              return (
                <button
                  key={node}
                  type="button"
                  data-node={node}
                  class={
                    "cell " +
                    `${text[node] === "." ? "idle" : text[node]}${held === node ? " held" : ""}`
                  }
                  tabIndex={node === focused ? 0 : -1}
                  aria-label={`node ${node}, ${name(text[node])}`}
                  aria-pressed={held === node}
                  title={`node ${node}`}
                  onKeyDown={(event) => key(event, node)}
                  onFocus={() => setFocused(node)}
                  onPointerDown={(event) => {
                    pressed.current = node;
                    setHeld(node);
                    (event.target as HTMLElement).releasePointerCapture?.(event.pointerId);
                  }}
                  onPointerUp={(event) => {
                    const other = under(event);
                    if (pressed.current !== null && other !== null)
                      exchange(pressed.current, other);
                    pressed.current = null;
                  }}
                >
                  {config.nodes <= 256
                    ? text[node] === "."
                      ? "·"
                      : text[node]?.toUpperCase()
                    : ""}
                </button>
              );
            })}
          </div>
        ))}
      </div>
      <p class="hidden" aria-live="polite">
        {said}
      </p>
    </div>
  );
}

function name(letter: string | undefined): string {
  return letter === "a" ? "job A" : letter === "b" ? "job B" : "idle";
}
