"use strict";
// Draws a figure when the reader scrolls near it, in the colours of the page, and again when these
// change. The Vega libraries are started with the first figure, so that the page itself opens at
// once.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const drawn = new Set();
const NARROW = 460;
// The mean width of a letter of a label, in pixels.
const LETTER = 6;

function about(name) {
  return JSON.parse(document.getElementById("data-" + name).textContent);
}

function start() {
  if (window.vegaEmbed) return;
  const script = document.createElement("script");
  script.textContent = document.getElementById("vega").textContent;
  document.head.append(script);
}

function colours(width) {
  const style = getComputedStyle(document.documentElement);
  const [ink, quiet, line] = ["--ink", "--quiet", "--line"].map((name) =>
    style.getPropertyValue(name).trim(),
  );
  return {
    background: "transparent",
    font: 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
    axis: {
      labelColor: quiet,
      titleColor: quiet,
      gridColor: line,
      domainColor: line,
      tickColor: line,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
      titlePadding: 8,
      labelOverlap: true,
      titleLimit: width - 60,
    },
    axisX: { tickCount: Math.max(3, Math.floor(width / 80)) },
    legend: {
      labelColor: ink,
      titleColor: quiet,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
      orient: "bottom",
      labelLimit: 0,
      symbolStrokeWidth: 2,
      gradientLength: Math.min(320, width - 60),
    },
    text: { fontSize: 11, color: ink },
    view: { stroke: null },
  };
}

// What a chart leaves to the page: its title, the title of its vertical axis, and legends that list
// names.
function adapted(part, width, found) {
  const { y, ...others } = part.encoding || {};
  if (y && y.axis !== null && y.title) {
    found.unit = found.unit || y.title;
    y.title = null;
  }
  for (const encoding of Object.values(others)) {
    if (
      encoding &&
      encoding.scale &&
      Array.isArray(encoding.scale.range) &&
      encoding.type !== "quantitative"
    ) {
      encoding.legend = null;
    }
    if (encoding && encoding.condition && encoding.condition.scale)
      encoding.condition.legend = null;
  }
  // Names of published values stand beside the chart; narrow pages have no room there, and list
  // them below it.
  const beside = (one) =>
    one.mark && one.mark.type === "text" && one.encoding.x && one.encoding.x.value === "width";
  if (part.layer && width < NARROW) {
    found.stated.push(...part.layer.filter(beside).map((one) => one.data.name));
    part.layer = part.layer.filter((one) => !beside(one));
  }
  const x = part.encoding && part.encoding.x;
  const names = x && x.type === "nominal" && x.axis && ((x.scale && x.scale.domain) || x.sort);
  if (Array.isArray(names) && !x.axis.labelAngle) {
    // Names stand at an angle where they would run into each other.
    const longest = Math.max(
      ...names.map((name) =>
        Math.max(
          ...String(name)
            .split(", ")
            .map((line) => line.length),
        ),
      ),
    );
    if (longest * names.length * LETTER > width - 60) x.axis = { ...x.axis, labelAngle: -30 };
  }
  for (const one of part.layer || []) adapted(one, width, found);
}

// A file's value as legends and tables write it: 100 µs for 100 us, 0 for 0 ps.
function asLabel(text) {
  return `${text}`.replace(/^0 [pnuµm]?s$/, "0").replace(/(\d) us\b/g, "$1 µs");
}

// A tooltip's table without the fields that a mark lacks, such as the ends of an interval.
function tip(value, clean) {
  if (typeof value !== "object") return clean(value);
  const rows = Object.entries(value).filter(([, text]) => text !== null && text !== "null");
  const cells = rows.map(
    ([key, text]) =>
      `<tr><td class="key">${clean(key)}</td><td class="value">${clean(asLabel(text))}</td></tr>`,
  );
  return `<table><tbody>${cells.join("")}</tbody></table>`;
}

function draw(place) {
  start();
  const name = place.dataset.figure;
  const { spec } = about(name);
  const wide = place.closest("figure").classList.contains("wide");
  const width = place.clientWidth;
  const found = { unit: "", stated: [] };
  adapted(spec, width, found);
  place.parentElement.querySelector(".unit").textContent = found.unit;
  const words = found.stated.flatMap((data) =>
    spec.datasets[data].map((row) => row.text.replace("\n", ": ")),
  );
  const list = place.parentElement.querySelector(".stated");
  list.replaceChildren(
    ...words.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }),
  );
  const size = wide ? {} : { width: "container", autosize: { type: "fit-x", contains: "padding" } };
  if (!wide && width < NARROW && spec.height > 260) size.height = 260;
  const actions = { export: true, source: false, compiled: false, editor: false };
  const look = {
    actions,
    renderer: "svg",
    tooltip: { theme: dark.matches ? "dark" : "light", formatTooltip: tip },
    ast: false,
  };
  drawn.add(place);
  return vegaEmbed(
    place,
    { ...spec, ...size, title: null, config: colours(wide ? 1180 : width) },
    look,
  ).then(() => {
    place.dataset.drawn = "yes";
  });
}

function fill(details) {
  if (details.querySelector("table")) return;
  const { head, rows } = about(details.dataset.table);
  const table = document.createElement("table");
  const title = details.closest("figure").querySelector("h4").textContent;
  const caption = table.createCaption();
  caption.textContent = title;
  caption.className = "hidden";
  const line = table.createTHead().insertRow();
  for (const text of head) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = text;
    line.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text, index) => {
      const cell = index ? line.insertCell() : line.appendChild(document.createElement("th"));
      if (!index) cell.scope = "row";
      cell.textContent = text;
      cell.dataset.head = head[index];
    });
  }
  details.append(table);
}

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      draw(entry.target);
    }
  },
  { rootMargin: "600px 0px" },
);
const charts = [...document.querySelectorAll("[data-figure]")];
charts.forEach((place) => near.observe(place));
document
  .querySelectorAll("[data-table]")
  .forEach((one) => one.addEventListener("toggle", () => one.open && fill(one)));
dark.addEventListener("change", () => drawn.forEach(draw));
// Pages of own work are short, and may be printed without being scrolled through: all of their
// figures are drawn at once.
if (document.querySelector("[data-eager]"))
  charts.forEach((place) => {
    near.unobserve(place);
    draw(place);
  });
window.addEventListener("beforeprint", () =>
  charts.filter((place) => !drawn.has(place)).forEach(draw),
);

// The contents: closed on narrow pages, and the present section marked.
const contents = document.querySelector(".contents");
const narrow = window.matchMedia("(max-width: 1000px)");
function fold() {
  contents.open = !narrow.matches;
}
narrow.addEventListener("change", fold);
fold();
contents.addEventListener("click", (event) => {
  if (narrow.matches && event.target.closest("a")) contents.open = false;
});
const links = new Map(
  [...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]),
);
const here = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const link = links.get(entry.target.id);
      if (!entry.isIntersecting || !link) continue;
      contents
        .querySelectorAll("[aria-current]")
        .forEach((one) => one.removeAttribute("aria-current"));
      link.setAttribute("aria-current", "true");
      const box = contents.querySelector("nav");
      if (!narrow.matches) box.scrollTop += link.offsetTop - box.scrollTop - box.clientHeight / 2;
    }
  },
  { rootMargin: "-20% 0px -75% 0px" },
);
document.querySelectorAll("main section[id]").forEach((section) => here.observe(section));
