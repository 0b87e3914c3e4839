import { render } from "preact";
import { App } from "./app.tsx";
import { opened } from "./config.ts";
import { experiment } from "./experiment.ts";
import { stepped } from "./guide.tsx";
import "./style.css";

render(<App />, document.getElementById("app") as HTMLElement);

// For the console, and for tests: the experiments of addresses and of tours, without their
// simulation.
const of = (hash: string) => opened(hash).config;
const tour = (name: string, step: number) => {
  const { config, kept = [] } = stepped(name, step);
  return config
    ? [config, ...kept].map((one) => experiment({ ...one, load: config.load }, [config.load]))
    : [];
};
Object.assign(window, { explorer: { experiment: (hash: string) => experiment(of(hash)), tour } });
