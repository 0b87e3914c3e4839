// A chart of Observable Plot as a component: drawn again whenever its marks or the width of its
// place change.

import * as Plot from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";

export interface ChartProps {
  /** The text for those that do not see it. */
  label: string;
  height: number;
  /** The chart is drawn again when this text changes. */
  stamp: string;
  /** The options of the plot for a width in pixels. */
  options: (width: number) => Plot.PlotOptions;
  onPick?: ((value: number) => void) | undefined;
}

export function Chart({ label, height, stamp, options, onPick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    if (place.current) watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    if (!place.current || width < 50) return;
    const made = Plot.plot({
      width,
      height,
      style: { background: "none", fontSize: "12px", overflow: "visible" },
      ...options(width),
    });
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
    // Groups of marks have labels but no roles, which assistive technology must not read.
    for (const group of made.querySelectorAll("g[aria-label], g[aria-describedby]"))
      group.removeAttribute("aria-label");
    if (onPick) {
      const scale = made.scale("x");
      made.style.cursor = "pointer";
      made.addEventListener("click", (event) => {
        const box = made.getBoundingClientRect();
        if (scale?.invert) onPick(scale.invert((event as MouseEvent).clientX - box.left));
      });
    }
    place.current.replaceChildren(made);
  }, [width, stamp]);
  return <div class="chart" ref={place} style={{ minHeight: `${height}px` }} />;
}

/**
 * Ticks of a logarithmic axis: 1, 2 and 5 of each power of ten, or the powers alone where these are
 * many.
 */
export function logTicks(values: (number | null)[]): { domain: [number, number]; ticks: number[] } {
  const there = values.filter((one): one is number => one !== null && one > 0);
  const [least, most] = there.length
    ? [Math.min(...there) / 1.15, Math.max(...there) * 1.15]
    : [1, 10];
  const powers = Array.from({ length: 14 }, (_, place) => 10 ** (place - 4));
  const fine = powers
    .flatMap((power) => [power, 2 * power, 5 * power])
    .filter((one) => one >= least && one <= most);
  return {
    domain: [least, most],
    ticks: fine.length > 8 ? fine.filter((one) => Math.log10(one) % 1 === 0) : fine,
  };
}

/** A number for people: three digits, and three decimals at most from 0.001 on. Only zero is 0. */
export function number(value: number): string {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const most = Math.abs(value) < 0.001 ? 20 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(digits, most) });
}

export { Plot };
