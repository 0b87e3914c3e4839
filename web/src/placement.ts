// Where two jobs run: a letter for each node, "a", "b" or "." for an idle node.
//
// A placement is named by a rule, or lists runs of nodes: "8a8b16a16b" are eight nodes of job A,
// eight of job B, and so on. Each job of a rule has half of the nodes; a list may give any numbers.

export const RULES = [
  { name: "packed", label: "packed: one after the other" },
  { name: "alternate", label: "alternating nodes" },
  { name: "random", label: "random" },
];

const RUNS = /^(\d+[ab.])+$/;

/** The letters of all nodes. */
export function letters(placement: string, nodes: number): string {
  const half = nodes / 2;
  if (placement === "packed") return "a".repeat(half) + "b".repeat(half);
  if (placement === "alternate") return "ab".repeat(half);
  if (placement === "random") return shuffled("a".repeat(half) + "b".repeat(half));
  return [...placement.matchAll(/(\d+)([ab.])/g)]
    .map(([, count, letter]) => (letter as string).repeat(Number(count)))
    .join("");
}

/** The name of letters: a rule that gives them, or their runs. */
export function placementOf(text: string): string {
  const rule = RULES.find((one) => letters(one.name, text.length) === text);
  return (
    rule?.name ?? (text.match(/(.)\1*/g) ?? []).map((run) => `${run.length}${run[0]}`).join("")
  );
}

export function isPlacement(placement: string, nodes: number): boolean {
  if (RULES.some((one) => one.name === placement)) return true;
  if (!RUNS.test(placement)) return false;
  const counts = [...placement.matchAll(/\d+/g)].map(Number);
  if (counts.reduce((sum, one) => sum + one, 0) !== nodes) return false;
  const text = letters(placement, nodes);
  return ["a", "b"].every((job) => text.split(job).length > 2);
}

/** The letters with two nodes, or two runs of nodes of equal length, exchanged. */
export function exchanged(text: string, one: number, other: number, length = 1): string {
  const cells = [...text];
  for (let place = 0; place < length; place += 1) {
    [cells[one + place], cells[other + place]] = [
      cells[other + place] as string,
      cells[one + place] as string,
    ];
  }
  return cells.join("");
}

/** The nodes of a job as an experiment file lists them: "0-31, 40". */
export function listed(text: string, job: string): string {
  const ranges: string[] = [];
  for (const match of text.matchAll(new RegExp(`${job}+`, "g"))) {
    const last = match.index + match[0].length - 1;
    ranges.push(last === match.index ? `${last}` : `${match.index}-${last}`);
  }
  return ranges.join(", ");
}

/** A shuffle that is the same on every machine (mulberry32 with seed 1, Fisher and Yates). */
function shuffled(text: string): string {
  const cells = [...text];
  let state = 1;
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  for (let last = cells.length - 1; last > 0; last -= 1) {
    const place = Math.floor(draw() * (last + 1));
    [cells[last], cells[place]] = [cells[place] as string, cells[last] as string];
  }
  return cells.join("");
}
