// The picture of packets, or of a run's messages. `SCENE` is what elanite/report/watch.py and
// network.py describe; all times are in ns. States are computed as Scene.at and Scene.sent do. The
// drawing has one rail at a time. Places on the canvas are `view.zoom` times those of the whole
// network, moved by `view.left` and `view.top`; trees are magnified in width alone.
"use strict";

const [HOP, LINK, CHANNEL, WAITS, OPENED, HEAD, TAIL, CLOSED] = [0, 1, 2, 3, 4, 5, 6, 7];
const canvas = document.getElementById("picture");
const element = (name) => document.getElementById(name);
const view = {
  time: 0,
  playing: false,
  chosen: null,
  drawn: [],
  places: [],
  rail: 0,
  zoom: 1,
  left: 0,
  top: 0,
};
const MOST_ZOOM = 40;
const [SOURCE, DESTINATION, FROM, TO, BYTES, POSTED, ARRIVED] = [0, 1, 2, 3, 4, 5, 6];

// The state of a channel of a packet at a moment, or null.
function state(hold, time) {
  if (time < hold[WAITS] || (hold[CLOSED] !== null && time >= hold[CLOSED])) return null;
  for (const [moment, name] of [
    [OPENED, "waits"],
    [HEAD, "opens"],
    [TAIL, "carries"],
  ]) {
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

// The places of the messages that are on their way at a moment.
function sentAt(time) {
  const found = [];
  (SCENE.messages ?? []).forEach((message, place) => {
    if (message[POSTED] <= time && (message[ARRIVED] === null || time < message[ARRIVED]))
      found.push(place);
  });
  return found;
}
window.sentAt = sentAt;

// The busy links at a moment with their loads, from 0 to 1.
function loadsAt(time) {
  const period = SCENE.loads.find(([begin, end]) => begin <= time && time < end);
  return period ? period[2].map(([link, load]) => [link, load / 1000]) : [];
}

// Every moment at which a state changes, for the steps.
const changes = SCENE.messages
  ? SCENE.messages.flatMap((message) => message.slice(POSTED))
  : SCENE.packets.flatMap((packet) => packet.way.flatMap((hold) => hold.slice(WAITS)));
const moments = [...new Set(changes)]
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

// The ends of every link of the rail on the canvas.
function place() {
  const margin = 18;
  const [width, height] = [size.width - 2 * margin, size.height - 2 * margin];
  const across = SCENE.aspect === null ? width : Math.min(width, height / SCENE.aspect);
  const down = SCENE.aspect === null ? height : across * SCENE.aspect;
  const [left, top] = [margin + (width - across) / 2, margin + (height - down) / 2];
  view.points = SCENE.spots.map(({ name, x, y }) => ({
    name,
    x: view.left + view.zoom * (left + x * across),
    y: SCENE.aspect === null ? top + y * down : view.top + view.zoom * (top + y * down),
  }));
  view.pitch = SCENE.pitch * across * view.zoom;
  // Large networks have thin lines until they are magnified.
  view.unit = Math.max(0.15, Math.min(1, view.pitch / 30));
  const lanes = {};
  view.places = SCENE.links.map((link) => {
    if (link.rail !== view.rail || link.start === null || link.end === null) return null;
    // Both directions of a cable, and the channels of a link, lie side by side.
    const [from, to] = [view.points[link.start], view.points[link.end]];
    const pair = `${link.start} ${link.end}`;
    lanes[pair] = (lanes[pair] ?? -1) + 1;
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const along = [(to.x - from.x) / length, (to.y - from.y) / length];
    return {
      from,
      to,
      lane: lanes[pair],
      length,
      along,
      across: [-along[1], along[0]],
      form: link.form,
    };
  });
}

// The parts of a link's channel, each a list of points: a line, an arc, or stubs at both ends.
function parts(link, channel) {
  const { from, to, lane, length, along, across, form } = view.places[link];
  const aside = view.unit * (1.6 + 2.6 * (channel + 2 * lane));
  const beside = (point, ahead = 0) => [
    point.x + across[0] * aside + along[0] * ahead,
    point.y + across[1] * aside + along[1] * ahead,
  ];
  if (form === "stub") {
    const stub = view.pitch * 0.4;
    return [
      [beside(from), beside(from, -stub)],
      [beside(to, stub), beside(to)],
    ];
  }
  if (form === "line") return [[beside(from), beside(to)]];
  const [x1, y1] = beside(from);
  const [x2, y2] = beside(to);
  const bow = 0.16 * length;
  const [cx, cy] = [(x1 + x2) / 2 + across[0] * bow, (y1 + y2) / 2 + across[1] * bow];
  return [
    Array.from({ length: 9 }, (_, step) => {
      const part = step / 8;
      const [p, q, r] = [(1 - part) ** 2, 2 * part * (1 - part), part ** 2];
      return [p * x1 + q * cx + r * x2, p * y1 + q * cy + r * y2];
    }),
  ];
}

function stroke(context, link, channel) {
  for (const points of parts(link, channel)) {
    // Lines outside of the canvas cost time.
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    if (
      Math.max(...xs) < 0 ||
      Math.min(...xs) > size.width ||
      Math.max(...ys) < 0 ||
      Math.min(...ys) > size.height
    )
      continue;
    context.beginPath();
    points.forEach(([x, y], step) => (step ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }
}

function drawSpots(context) {
  const [text, quiet, fill] = [style("--quiet"), style("--quiet"), style("--switch")];
  const [wide, high] = [18 * view.unit, 14 * view.unit];
  const node = Math.max(
    0.8,
    Math.min(
      4,
      SCENE.aspect === null ? (size.width / SCENE.nodes) * 0.3 * view.zoom : view.pitch * 0.06,
    ),
  );
  const gap = SCENE.aspect === null ? (size.width / SCENE.nodes) * view.zoom : view.pitch * 0.3;
  context.lineWidth = Math.max(0.4, view.unit);
  view.points.forEach((point, number) => {
    if (point.x < -40 || point.x > size.width + 40 || point.y < -40 || point.y > size.height + 40)
      return;
    const isSwitch = number >= SCENE.nodes;
    context.fillStyle = isSwitch ? fill : quiet;
    context.strokeStyle = quiet;
    context.beginPath();
    if (isSwitch)
      context.roundRect(point.x - wide / 2, point.y - high / 2, wide, high, 3 * view.unit);
    else context.arc(point.x, point.y, node, 0, 2 * Math.PI);
    context.fill();
    if (isSwitch) context.stroke();
    const labelled = isSwitch
      ? view.pitch > 90 && view.zoom > 1
      : gap > 22 || (number % 4 === 0 && gap > 6 && SCENE.aspect === null);
    if (!labelled) return;
    context.fillStyle = text;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillText(
      point.name.replace(/^(node|switch) /, ""),
      point.x,
      isSwitch ? point.y - 11 : point.y + 16,
    );
  });
}

function draw() {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, size.width, size.height);
  context.lineWidth = Math.max(0.3, view.unit);
  context.strokeStyle = style("--line");
  view.places.forEach((one, link) => one && stroke(context, link, 0));
  element("clock").textContent = `${(view.time / 1000).toFixed(2)} µs`;
  element("time").value = view.time;
  element("zoomed").textContent = `${Math.round(100 * view.zoom)}%`;
  if (SCENE.messages) drawMessages(context);
  else drawPackets(context);
  if (view.chosen !== null) tell();
}

function drawPackets(context) {
  view.drawn = at(view.time).filter(([, link]) => view.places[link]);
  const counts = { carries: 0, held: 0, waits: 0, opens: 0 };
  for (const [place, link, now, hold] of view.drawn) {
    counts[now] += 1;
    const packet = SCENE.packets[place];
    const faded = view.chosen !== null && view.chosen !== place;
    if (now === "waits") continue;
    context.strokeStyle = colour(packet, faded ? 0.18 : 1);
    context.lineWidth = Math.max(0.8, (now === "carries" ? 3.6 : 1.5) * view.unit);
    context.setLineDash({ carries: [9, 3], opens: [], held: [3, 3] }[now]);
    // Flits move along the line.
    context.lineDashOffset = now === "carries" ? -(view.time / 12) % 12 : 0;
    stroke(context, link, hold[CHANNEL]);
  }
  context.setLineDash([]);
  drawSpots(context);
  // Headers that wait stand around their switch.
  const queues = {};
  context.fillStyle = style("--waits");
  for (const [place, link, now] of view.drawn) {
    if (now !== "waits") continue;
    const { from } = view.places[link];
    const key = SCENE.links[link].start;
    const number = (queues[key] = (queues[key] ?? -1) + 1);
    const faded = view.chosen !== null && view.chosen !== place;
    context.globalAlpha = faded ? 0.25 : 1;
    context.beginPath();
    const [x, y] = waiting(from, number);
    context.arc(x, y, 2.6 * Math.max(0.5, view.unit), 0, 2 * Math.PI);
    context.fill();
    context.globalAlpha = 1;
  }
  element("counts").textContent =
    `Channels: ${counts.carries} with flits, ${counts.opens} open before the first flit, ` +
    `${counts.held} held after the last one; headers that wait: ${counts.waits}`;
}

const waiting = (from, number) => [
  from.x + view.unit * (6 * (number % 5) - 12),
  from.y - view.unit * (12 + 6 * Math.floor(number / 5)),
];

// Light to dark: the load of a link.
const HEAT = [
  "#fee8c8",
  "#fdd49e",
  "#fdbb84",
  "#fc8d59",
  "#ef6548",
  "#d7301f",
  "#b30000",
  "#7f0000",
];

// Where a message is: it leads from node to node while it is on its way, above the row of nodes of
// a tree.
function spot(message) {
  const [from, to] = [view.points[message[FROM]], view.points[message[TO]]];
  const part =
    (view.time - message[POSTED]) / ((message[ARRIVED] ?? SCENE.length) - message[POSTED] || 1);
  const bow =
    SCENE.aspect === null ? Math.min(1.4 * size.height, 30 + 0.8 * Math.abs(to.x - from.x)) : 0;
  const middle = [(from.x + to.x) / 2, (from.y + to.y) / 2 - bow];
  const [p, q, r] = [(1 - part) ** 2, 2 * part * (1 - part), part ** 2];
  return {
    from,
    to,
    middle,
    x: p * from.x + q * middle[0] + r * to.x,
    y: p * from.y + q * middle[1] + r * to.y,
  };
}

function drawMessages(context) {
  const loads = loadsAt(view.time).filter(([link]) => view.places[link]);
  for (const [link, load] of loads.sort((one, other) => one[1] - other[1])) {
    context.strokeStyle = HEAT[Math.min(HEAT.length - 1, Math.floor(load * HEAT.length))];
    context.lineWidth = Math.max(1, (1 + 4 * load) * view.unit);
    stroke(context, link, 0);
  }
  drawSpots(context);
  view.drawn = sentAt(view.time);
  let bytes = 0;
  for (const place of view.drawn) {
    const message = SCENE.messages[place];
    bytes += message[BYTES];
    const { from, to, middle, x, y } = spot(message);
    const faded = view.chosen !== null && view.chosen !== place;
    context.strokeStyle = context.fillStyle = colour(
      { source: message[SOURCE] },
      faded ? 0.12 : 0.9,
    );
    context.lineWidth = view.chosen === place ? 2 : 0.7;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.quadraticCurveTo(...middle, to.x, to.y);
    context.stroke();
    context.beginPath();
    context.arc(x, y, 3 + Math.min(3, Math.log2(1 + message[BYTES] / 4096) / 2), 0, 2 * Math.PI);
    context.fill();
  }
  element("counts").textContent =
    `Messages on their way: ${view.drawn.length}, ${bytes.toLocaleString("en")} bytes; busy ` +
    `links of the rail: ${loads.length}`;
  if (view.chosen === null) list();
}

// The largest messages on their way.
function list() {
  const largest = [...view.drawn]
    .sort((one, other) => SCENE.messages[other][BYTES] - SCENE.messages[one][BYTES])
    .slice(0, 8);
  table("Largest messages on their way", largest);
}

function table(heading, places) {
  const rows = places.map((place) => {
    const [source, destination, from, to, bytes, posted, arrived] = SCENE.messages[place];
    const cells = [
      `rank ${source} (node ${from})`,
      `rank ${destination} (node ${to})`,
      bytes.toLocaleString("en"),
      shown(posted),
      shown(arrived),
    ];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const heads = ["from", "to", "bytes", "posted", "arrived"]
    .map((head) => `<th scope="col">${head}</th>`)
    .join("");
  element("packet").innerHTML =
    `<h2>${heading}</h2>` +
    (rows.length
      ? `<div class="scroll" tabindex="0" role="region" aria-label="${heading}">` +
        `<table><thead><tr>${heads}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`
      : "<p>None at this moment.</p>");
}

// Who holds the channels that a waiting header wants.
function holders(link, time) {
  const group = SCENE.links[link].group;
  return at(time).filter(([, other, now]) => now !== "waits" && SCENE.links[other].group === group);
}

const name = (packet) => {
  const to =
    packet.first === packet.last
      ? `node ${packet.first}`
      : `nodes ${packet.first} to ${packet.last}`;
  const rail = SCENE.rails > 1 ? ` on rail ${packet.rail}` : "";
  return `packet ${packet.sequence} of node ${packet.source}${rail} to ${to}`;
};
const shown = (moment) => (moment === null ? "–" : `${(moment / 1000).toFixed(3)} µs`);

function tell() {
  if (SCENE.messages) {
    table("Message", [view.chosen]);
    return;
  }
  const packet = SCENE.packets[view.chosen];
  const rows = packet.way.map((hold) => {
    const now = state(hold, view.time) ?? (view.time < hold[WAITS] ? "not yet" : "free again");
    const cells = [
      SCENE.links[hold[LINK]].name,
      now,
      ...[WAITS, OPENED, HEAD, TAIL, CLOSED].map((moment) => shown(hold[moment])),
    ];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const waits = packet.way.find((hold) => state(hold, view.time) === "waits");
  const who = waits ? holders(waits[LINK], view.time) : [];
  const why = waits
    ? "<p>Its header waits for a channel of " +
      `${SCENE.links[waits[LINK]].name}${who.length ? ", held by " : "."}` +
      who.map(([place, , now]) => `${name(SCENE.packets[place])} (${now})`).join("; ") +
      "</p>"
    : "";
  const heads = [
    "link",
    "state",
    "waits since",
    "channel",
    "first flit",
    "last flit",
    "free again",
  ].map((heading) => `<th scope="col">${heading}</th>`);
  element("packet").innerHTML =
    `<h2>${name(packet)}</h2><p>${packet.flits} flits; delivered ${shown(packet.delivered)}, ` +
    `acknowledged ${shown(packet.acknowledged)}.</p>${why}` +
    `<div class="scroll" tabindex="0" role="region" aria-label="Channels of the packet">` +
    `<table><thead><tr>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

// The distance of a point from a line between two others.
function distance([x1, y1], [x2, y2], x, y) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = Math.max(
    0,
    Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)),
  );
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

// The packet or message whose line is nearest to a point of the canvas, within a few pixels.
function hit(x, y) {
  let best = [8, null];
  const near = (away, place) => away < best[0] && (best = [away, place]);
  if (SCENE.messages) {
    for (const place of view.drawn) {
      const { x: there, y: below } = spot(SCENE.messages[place]);
      near(Math.hypot(x - there, y - below), place);
    }
    return best[1];
  }
  const queues = {};
  for (const [place, link, now, hold] of view.drawn) {
    if (now === "waits") {
      const key = SCENE.links[link].start;
      const number = (queues[key] = (queues[key] ?? -1) + 1);
      const [there, above] = waiting(view.places[link].from, number);
      near(Math.hypot(x - there, y - above), place);
      continue;
    }
    for (const points of parts(link, hold[CHANNEL])) {
      for (let step = 1; step < points.length; step += 1)
        near(distance(points[step - 1], points[step], x, y), place);
    }
  }
  return best[1];
}

// Magnifies by a factor around a point of the canvas; the whole network is the least.
function zoom(factor, x = size.width / 2, y = size.height / 2) {
  const to = Math.max(1, Math.min(MOST_ZOOM, view.zoom * factor));
  view.left = x - ((x - view.left) * to) / view.zoom;
  view.top = y - ((y - view.top) * to) / view.zoom;
  view.zoom = to;
  move(0, 0);
}

// Moves the drawing, but not beyond its edges.
function move(x, y) {
  view.left = Math.max(size.width * (1 - view.zoom), Math.min(0, view.left + x));
  view.top = Math.max(size.height * (1 - view.zoom), Math.min(0, view.top + y));
  canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
  place();
  draw();
}

function go(time) {
  view.time = Math.max(0, Math.min(SCENE.length, time));
  draw();
}
function step(by) {
  const next =
    by > 0
      ? moments.find((moment) => moment > view.time)
      : moments.findLast((moment) => moment < view.time);
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
canvas.style.touchAction = "pan-y";
element("time").addEventListener("input", (event) => {
  play(false);
  go(Number(event.target.value));
});
element("play").addEventListener("click", () => play(!view.playing));
element("step").addEventListener("click", () => {
  play(false);
  step(1);
});
element("back").addEventListener("click", () => {
  play(false);
  step(-1);
});
function choose(place) {
  view.chosen = place;
  if (place === null && !SCENE.messages)
    element("packet").innerHTML =
      "<p>Click on a line or on a waiting header to see its packet.</p>";
  draw();
}
// One finger or the mouse moves a magnified drawing, two fingers magnify; a press without a move
// chooses.
const fingers = new Map();
let moved = 0;
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  moved = fingers.size > 1 ? Infinity : 0;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = [event.offsetX, event.offsetY];
  moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
  const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
  fingers.set(event.pointerId, now);
  if (other) {
    const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
    zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  } else if (view.zoom > 1) move(now[0] - before[0], now[1] - before[1]);
});
for (const end of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(end, (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (end === "pointerup" && moved < 5) choose(hit(event.offsetX, event.offsetY));
  });
}
// The wheel alone scrolls the page.
canvas.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  },
  { passive: false },
);
element("closer").addEventListener("click", () => zoom(1.5));
element("farther").addEventListener("click", () => zoom(1 / 1.5));
element("whole").addEventListener("click", () => zoom(1 / view.zoom));
element("rail")?.addEventListener("change", (event) => {
  view.rail = Number(event.target.value);
  choose(null);
  resize();
});
const PANS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey)
    return;
  if (event.key === " " && event.target.tagName !== "BUTTON") {
    event.preventDefault();
    play(!view.playing);
  }
  if (event.key === "+" || event.key === "=") zoom(1.5);
  if (event.key === "-") zoom(1 / 1.5);
  if (event.key === "0") zoom(1 / view.zoom);
  if (event.shiftKey && PANS[event.key]) {
    event.preventDefault();
    move(...PANS[event.key]);
  } else if (event.key === "ArrowRight") step(1);
  else if (event.key === "ArrowLeft") step(-1);
});
addEventListener("resize", resize);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
resize();
