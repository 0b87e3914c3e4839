import { render } from "preact";
import { App } from "./app.tsx";
import { opened } from "./config.ts";
import { command, experiment } from "./experiment.ts";
import "./style.css";

render(<App />, document.getElementById("app") as HTMLElement);

// For the console, and for tests: the experiment of an address without its simulation.
const of = (hash: string) => opened(hash).config;
Object.assign(window, { explorer: { config: of, experiment: (hash: string) => experiment(of(hash)), command: (hash: string) => command(of(hash)) } });
