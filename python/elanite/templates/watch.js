// The picture of packets. `SCENE` is what elanite/watch.py describes; all times are in ns. States are computed as Scene.at does.
"use strict";

const [HOP, LINK, CHANNEL, WAITS, OPENED, HEAD, TAIL, CLOSED] = [0, 1, 2, 3, 4, 5, 6, 7];
const canvas = document.getElementById("picture");
const element = (name) => document.getElementById(name);
const view = { time: 0, playing: false, chosen: null, drawn: [], places: [] };

// The state of a channel of a packet at a moment, or null.
function state(hold, time) {
  if (time < hold[WAITS] || (hold[CLOSED] !== null && time >= hold[CLOSED])) return null;
  for (const [moment, name] of [[OPENED, "waits"], [HEAD, "opens"], [TAIL, "carries"]]) {
    if (hold[moment] === null || time < hold[moment]) return name;
  }
  return "held";
}

// All channels that have a state at a moment: [place of the packet, link, state].
function at(time) {
  const found = [];
  SCENE.packets.forEach((packet, place) => {
    for (const hold of packet.way) {
      const now = state(hold, time);
      if (now) found.push([place, hold[LINK], now, hold]);
    }
  });
  return found;
}
window.statesAt = (time) => at(time).map(([place, link, now]) => [place, link, now]);

// Every moment at which a state changes, for the steps.
const moments = [...new Set(SCENE.packets.flatMap((packet) => packet.way.flatMap((hold) => hold.slice(WAITS))))]
  .filter((moment) => moment !== null && moment >= 0 && moment <= SCENE.length)
  .sort((one, other) => one - other);

// A hue for each source, far from those of its neighbours.
const colour = (packet, alpha = 1) => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return `hsl(${(packet.source * 137.508) % 360} ${dark ? 70 : 75}% ${dark ? 62 : 40}% / ${alpha})`;
};
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const size = { width: 0, height: 0 };
function resize() {
  const ratio = devicePixelRatio || 1;
  size.width = canvas.clientWidth;
  size.height = canvas.clientHeight;
  canvas.width = size.width * ratio;
  canvas.height = size.height * ratio;
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  place();
  draw();
}

// The ends of every link on the canvas: nodes below, the levels of switches above them.
function place() {
  const levels = Math.max(...SCENE.switches.map((one) => one.level));
  const height = (level) => size.height - 24 - ((size.height - 56) * level) / levels;
  const points = [];
  for (let node = 0; node < SCENE.nodes; node += 1) {
    points[node] = { x: ((node + 0.5) / SCENE.nodes) * size.width, y: height(0), level: 0 };
  }
  for (const one of SCENE.switches) {
    points[SCENE.nodes + one.id] = { x: one.x * size.width, y: height(one.level), level: one.level, name: one.name };
  }
  view.points = points;
  const lanes = {};
  view.places = SCENE.links.map((link) => {
    // Both directions of a cable, and the channels of a link, lie side by side.
    const [from, to] = [points[link.from], points[link.to]];
    const pair = `${link.from} ${link.to}`;
    lanes[pair] = (lanes[pair] ?? -1) + 1;
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    return { from, to, lane: lanes[pair], across: [-(to.y - from.y) / length, (to.x - from.x) / length] };
  });
}

// Where a channel of a link is drawn.
function line(link, channel) {
  const { from, to, lane, across } = view.places[link];
  const aside = 1.6 + 2.6 * (channel + 2 * lane);
  return [from.x + across[0] * aside, from.y + across[1] * aside, to.x + across[0] * aside, to.y + across[1] * aside];
}

function draw() {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, size.width, size.height);
  context.lineWidth = 1;
  context.strokeStyle = style("--line");
  for (const { from, to } of view.places) {
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
  }
  view.drawn = at(view.time);
  const counts = { carries: 0, held: 0, waits: 0, opens: 0 };
  for (const [place, link, now, hold] of view.drawn) {
    counts[now] += 1;
    const packet = SCENE.packets[place];
    const faded = view.chosen !== null && view.chosen !== place;
    if (now === "waits") continue;
    const [x1, y1, x2, y2] = line(link, hold[CHANNEL]);
    context.strokeStyle = colour(packet, faded ? 0.18 : 1);
    context.lineWidth = now === "carries" ? 3.6 : 1.5;
    context.setLineDash({ carries: [9, 3], opens: [], held: [3, 3] }[now]);
    // Flits move along the line.
    context.lineDashOffset = now === "carries" ? -(view.time / 12) % 12 : 0;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }
  context.setLineDash([]);
  view.points.forEach((point, number) => {
    const isSwitch = number >= SCENE.nodes;
    context.fillStyle = style(isSwitch ? "--switch" : "--quiet");
    context.strokeStyle = style("--quiet");
    context.lineWidth = 1;
    context.beginPath();
    if (isSwitch) context.roundRect(point.x - 9, point.y - 7, 18, 14, 3);
    else context.arc(point.x, point.y, Math.min(4, (size.width / SCENE.nodes) * 0.3), 0, 2 * Math.PI);
    context.fill();
    if (isSwitch) context.stroke();
    if (!isSwitch && (number % 4 === 0 || SCENE.nodes <= 16)) {
      context.fillStyle = style("--quiet");
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "center";
      context.fillText(String(number), point.x, point.y + 18);
    }
  });
  // Headers that wait stand around their switch.
  const queues = {};
  for (const [place, link, now] of view.drawn) {
    if (now !== "waits") continue;
    const { from } = view.places[link];
    const key = SCENE.links[link].from;
    const number = (queues[key] = (queues[key] ?? -1) + 1);
    const faded = view.chosen !== null && view.chosen !== place;
    context.fillStyle = style("--waits");
    context.globalAlpha = faded ? 0.25 : 1;
    context.beginPath();
    context.arc(from.x - 12 + 6 * (number % 5), from.y - 12 - 6 * Math.floor(number / 5), 2.6, 0, 2 * Math.PI);
    context.fill();
    context.globalAlpha = 1;
  }
  element("clock").textContent = `${(view.time / 1000).toFixed(2)} µs`;
  element("time").value = view.time;
  element("counts").textContent =
    `Channels: ${counts.carries} with flits, ${counts.opens} open before the first flit, ${counts.held} held after the last one; headers that wait: ${counts.waits}`;
  if (view.chosen !== null) tell();
}

// Who holds the channels that a waiting header wants.
function holders(link, time) {
  const group = SCENE.links[link].group;
  return at(time).filter(([, other, now]) => now !== "waits" && SCENE.links[other].group === group);
}

const name = (packet) => {
  const to = packet.first === packet.last ? `node ${packet.first}` : `nodes ${packet.first} to ${packet.last}`;
  return `packet ${packet.sequence} of node ${packet.source} to ${to}`;
};
const shown = (moment) => (moment === null ? "–" : `${(moment / 1000).toFixed(3)} µs`);

function tell() {
  const packet = SCENE.packets[view.chosen];
  const rows = packet.way.map((hold) => {
    const now = state(hold, view.time) ?? (view.time < hold[WAITS] ? "not yet" : "free again");
    const cells = [SCENE.links[hold[LINK]].name, now, ...[WAITS, OPENED, HEAD, TAIL, CLOSED].map((moment) => shown(hold[moment]))];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const waits = packet.way.find((hold) => state(hold, view.time) === "waits");
  const who = waits ? holders(waits[LINK], view.time) : [];
  const why = waits
    ? `<p>Its header waits for a channel of ${SCENE.links[waits[LINK]].name}${who.length ? ", held by " : "."}` +
      who.map(([place, , now]) => `${name(SCENE.packets[place])} (${now})`).join("; ") + "</p>"
    : "";
  element("packet").innerHTML =
    `<h2>${name(packet)}</h2><p>${packet.flits} flits; delivered ${shown(packet.delivered)}, acknowledged ${shown(packet.acknowledged)}.</p>${why}` +
    `<div class="scroll"><table><thead><tr>${["link", "state", "waits since", "channel", "first flit", "last flit", "free again"]
      .map((heading) => `<th scope="col">${heading}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

// The packet whose line is nearest to a point of the canvas, within a few pixels.
function hit(x, y) {
  let best = [8, null];
  for (const [place, link, now, hold] of view.drawn) {
    const { from } = view.places[link];
    const [x1, y1, x2, y2] = now === "waits" ? [from.x - 12, from.y - 14, from.x + 12, from.y - 12] : line(link, hold[CHANNEL]);
    const [dx, dy] = [x2 - x1, y2 - y1];
    const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    const distance = Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
    if (distance < best[0]) best = [distance, place];
  }
  return best[1];
}

function go(time) {
  view.time = Math.max(0, Math.min(SCENE.length, time));
  draw();
}
function step(by) {
  const next = by > 0 ? moments.find((moment) => moment > view.time) : moments.findLast((moment) => moment < view.time);
  if (next !== undefined) go(next);
}
function play(on) {
  view.playing = on;
  element("play").textContent = on ? "Pause" : "Play";
  let last = null;
  const frame = (now) => {
    if (!view.playing) return;
    if (last !== null) go(view.time + ((now - last) / 1000) * Number(element("speed").value));
    last = now;
    if (view.time >= SCENE.length) play(false);
    else requestAnimationFrame(frame);
  };
  if (on) {
    if (view.time >= SCENE.length) view.time = 0;
    requestAnimationFrame(frame);
  }
}

element("time").max = SCENE.length;
element("time").addEventListener("input", (event) => { play(false); go(Number(event.target.value)); });
element("play").addEventListener("click", () => play(!view.playing));
element("step").addEventListener("click", () => { play(false); step(1); });
element("back").addEventListener("click", () => { play(false); step(-1); });
canvas.addEventListener("click", (event) => {
  view.chosen = hit(event.offsetX, event.offsetY);
  if (view.chosen === null) element("packet").innerHTML = "<p>Click on a line or on a waiting header to see its packet.</p>";
  draw();
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select")) return;
  if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); play(!view.playing); }
  if (event.key === "ArrowRight") step(1);
  if (event.key === "ArrowLeft") step(-1);
});
addEventListener("resize", resize);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
resize();
