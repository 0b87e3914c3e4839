// The card of a guided tour: the text of a step, its question, and the answer once a choice is
// made.

import { useEffect, useState } from "preact/hooks";
import { settled, usual, type Config, type Shared } from "./config.ts";
import { TOURS, type Step } from "./tours.ts";

/** The state of the page at a step of a tour. */
export function stepped(name: string, step: number): Partial<Shared> {
  const found = TOURS.find((one) => one.name === name)?.steps[step];
  if (!found) return { tour: null };
  const full = (part: Partial<Config>) => settled({ ...usual(), ...part });
  return { config: full(found.config), kept: found.kept.map(full), tour: { name, step } };
}

export function Guide({
  tour,
  onStep,
}: {
  tour: Shared["tour"];
  onStep: (part: Partial<Shared>) => void;
}) {
  const found = TOURS.find((one) => one.name === tour?.name);
  const step = tour && found?.steps[tour.step];
  if (!tour || !found || !step) {
    return (
      <nav class="tours" aria-label="Guided tours">
        <span>Guided tours, five steps each:</span>
        {TOURS.map((one) => (
          <button
            key={one.name}
            type="button"
            class="link"
            onClick={() => onStep(stepped(one.name, 0))}
          >
            {one.title}
          </button>
        ))}
      </nav>
    );
  }
  const last = tour.step === found.steps.length - 1;
  return (
    <section class="guide" aria-labelledby="tour-title">
      <h2 id="tour-title">
        {found.title}{" "}
        <span class="quiet">
          step {tour.step + 1} of {found.steps.length}
        </span>
      </h2>
      <p>{step.text}</p>
      <Question key={`${tour.name} ${tour.step}`} step={step} />
      <div class="row">
        <button
          type="button"
          disabled={tour.step === 0}
          onClick={() => onStep(stepped(tour.name, tour.step - 1))}
        >
          Back
        </button>
        {!last && (
          <button
            type="button"
            class="main"
            onClick={() => onStep(stepped(tour.name, tour.step + 1))}
          >
            Next step
          </button>
        )}
        <button type="button" class={last ? "main" : ""} onClick={() => onStep({ tour: null })}>
          {last ? "End of the tour" : "Leave the tour"}
        </button>
      </div>
    </section>
  );
}

function Question({ step }: { step: Step }) {
  const [chosen, setChosen] = useState<number | null>(null);
  useEffect(() => setChosen(null), [step]);
  return (
    <fieldset class="question">
      <legend>{step.question}</legend>
      {step.choices.map((choice, place) => (
        <label key={choice}>
          <input
            type="radio"
            name="choice"
            checked={chosen === place}
            onChange={() => setChosen(place)}
          />{" "}
          {choice}
        </label>
      ))}
      <p class="answer" aria-live="polite">
        {chosen !== null && (
          <>
            <b>{chosen === step.right ? "Yes." : "Not quite."}</b> {step.why}
          </>
        )}
      </p>
    </fieldset>
  );
}
