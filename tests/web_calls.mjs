// Answers calls with the engine of pages: `node web_calls.mjs FOLDER`, a JSON list of [call,
// arguments] on standard input.
import { readFileSync } from "node:fs";

const folder = process.argv[2];
const { answer, initSync } = await import(`${folder}/elanite_web.js`);
initSync({ module: readFileSync(`${folder}/elanite_web_bg.wasm`) });

let seen = 0;
const answers = JSON.parse(readFileSync(0, "utf8")).map(([call, words]) => {
  try {
    return JSON.parse(answer(call, JSON.stringify(words), () => seen++));
  } catch (error) {
    return { thrown: error.message };
  }
});
process.stdout.write(JSON.stringify({ answers, seen }));
