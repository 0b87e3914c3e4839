// The choices: machine, network, traffic. The load has a slider of its own beside the results.

import {
  faults,
  FLOWS,
  MEASURES,
  MESSAGES,
  OVERS,
  PATTERNS,
  railsOf,
  TWO_JOBS,
  usual,
  type Config,
} from "./config.ts";
import { bytes, times } from "./experiment.ts";
import { machine, MACHINES } from "./machines.ts";
import { NODES, TOPOLOGIES, topology } from "./topologies.ts";
import { Field } from "./field.tsx";
import { Opening } from "./opening.tsx";
import { Placing } from "./placing.tsx";

type Change = (part: Partial<Config>) => void;

const named = (list: { name: string; label: string }[]) =>
  list.map((one) => ({ value: one.name, label: one.label }));

/** A machine with the values of its file that are choices, too. */
function ofMachine(name: string): Partial<Config> {
  const { flow, packet, rails } = usual(name);
  return { machine: name, flow, packet, rails };
}

interface ControlsProps {
  config: Config;
  onChange: Change;
  /** Adds a machine file to the choices; gives the machine's name. */
  onOpen: (file: File) => Promise<string>;
}

export function Controls({ config, onChange, onOpen }: ControlsProps) {
  const info = machine(config.machine);
  const kind = topology(config.topology);
  const { window } = times(config);
  return (
    <>
      <fieldset>
        <legend>Network</legend>
        <Field
          label="machine: links and adapters"
          value={config.machine}
          options={named(MACHINES)}
          onChange={(name) => onChange(ofMachine(name))}
        />
        <Opening
          onOpen={async (file) => {
            onChange(ofMachine(await onOpen(file)));
          }}
        />
        <Field
          label="topology"
          value={config.topology}
          options={named(TOPOLOGIES)}
          onChange={(name) =>
            onChange({ topology: name, routing: topology(name).routings[0]?.name ?? "" })
          }
        />
        <Field
          label="nodes"
          value={config.nodes}
          options={NODES.map((value) => ({ value, label: value.toLocaleString("en") }))}
          onChange={(value) => onChange({ nodes: Number(value) })}
        />
        {kind.oversubscribed && (
          <Field
            label="oversubscription of the leaves"
            value={config.over}
            options={OVERS.map((value) => ({
              value,
              label: value === 1 ? "1:1, none" : `${value}:1`,
            }))}
            onChange={(value) => onChange({ over: Number(value) })}
          />
        )}
        <Field
          label="routing"
          value={config.routing}
          options={named(kind.routings)}
          onChange={(name) => onChange({ routing: name })}
        />
        <Field
          label="circuits"
          value={config.flow}
          options={named(FLOWS)}
          onChange={(name) => onChange({ flow: name as Config["flow"] })}
        />
        <Field
          label="payload of a packet"
          value={config.packet}
          options={info.payloads.map((value) => ({ value, label: bytes(value) }))}
          onChange={(value) => onChange({ packet: Number(value) })}
        />
        <Field
          label="rails: networks side by side"
          value={config.rails}
          options={railsOf(config.machine).map((value) => ({ value, label: String(value) }))}
          onChange={(value) => onChange({ rails: Number(value) })}
        />
        <Field
          label="fault"
          value={config.fault}
          options={named(faults(config))}
          onChange={(name) => onChange({ fault: name })}
        />
      </fieldset>
      <fieldset>
        <legend>Traffic</legend>
        <Field
          label="pattern"
          value={config.traffic}
          options={[...named(PATTERNS), { value: TWO_JOBS, label: "two jobs, with placement" }]}
          onChange={(name) => onChange({ traffic: name })}
        />
        <Field
          label="message"
          value={config.message}
          options={MESSAGES.map((value) => ({ value, label: bytes(value) }))}
          onChange={(value) => onChange({ message: Number(value) })}
        />
        {config.traffic === TWO_JOBS && <Placing config={config} onChange={onChange} />}
        <Field
          label="measured time"
          value={config.measure}
          options={MEASURES.map((value) => ({
            value,
            label: value === 1 ? "usual" : `${value} times`,
          }))}
          onChange={(value) => onChange({ measure: Number(value) })}
          hint={`${window.toLocaleString("en")} µs of simulated time at each load`}
        />
      </fieldset>
    </>
  );
}
