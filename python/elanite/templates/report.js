"use strict";
// Draws every figure in the colours of the page, again when the reader changes between light and dark.
const charts = JSON.parse(document.getElementById("charts").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, quiet, line] = ["--ink", "--quiet", "--line"].map((name) => style.getPropertyValue(name).trim());
  const font = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
  return {
    background: "transparent",
    font,
    axis: { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line,
            labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, titlePadding: 10 },
    legend: { labelColor: ink, titleColor: quiet, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500,
              orient: "bottom", labelLimit: 0, symbolStrokeWidth: 2 },
    text: { fontSize: 11, color: ink },
    view: { stroke: null },
  };
}

function draw() {
  for (const place of document.querySelectorAll("[data-chart]")) {
    // The page has the title above the figure, where it may take more than one line.
    const spec = { ...charts[place.dataset.chart], title: null, width: "container", config: colours() };
    const actions = { export: true, source: false, compiled: false, editor: false };
    vegaEmbed(place, spec, { actions, renderer: "svg", tooltip: { theme: dark.matches ? "dark" : "light" } });
  }
}

draw();
dark.addEventListener("change", draw);
