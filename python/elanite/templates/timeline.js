// The timeline of a run: lanes of ranks with their intervals, messages as lines, and the load of
// links below. Times are picoseconds. A page may have several timelines; each element of the class
// `timeline` is one.
for (const root of document.querySelectorAll(".timeline")) {
  const DATA = JSON.parse(root.querySelector("script").textContent);
  const find = (name) => root.querySelector(`.${name}`);
  const [axis, lanes, links] = ["ruler", "lanes", "links"].map(find);
  const box = find("box");
  const STRIP = 15,
    SHOWN_MESSAGES = 1500,
    GUTTER = root.clientWidth < 600 ? 62 : 92;
  const HEAT = [
    [240, 168, 117],
    [179, 38, 30],
  ];
  const END = Math.max(DATA.end, 1);
  const view = { from: 0, to: END, tall: 0, messages: true, width: 0 };

  // Absolute begins, and for each interval the latest end so far, by which the first visible one is
  // found.
  const place = new Map();
  DATA.lanes.forEach((lane, index) => {
    place.set(lane.rank, index);
    let at = 0,
      latest = 0;
    lane.at = lane.begin.map((gap) => (at += gap));
    lane.latest = lane.at.map(
      (begin, one) => (latest = Math.max(latest, begin + lane.length[one])),
    );
    lane.count = new Map(lane.several.map(([one, count, time]) => [one, [count, time]]));
  });
  const sent = DATA.messages;
  const order = sent.begin.map((_, one) => one);
  const rows = DATA.rows.length;
  // The heights of a lane: the lowest, and that at first.
  const least = Math.max(3, 2 * rows);
  view.tall = Math.min(
    14 + 9 * rows,
    Math.max(rows > 1 ? 3 * rows + 2 : least, Math.floor(400 / Math.max(DATA.lanes.length, 1))),
  );

  const colours = () => {
    const style = getComputedStyle(root);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return {
      groups: DATA.groups.map(of),
      lane: of("lane"),
      ink: of("ink"),
      quiet: of("quiet"),
      line: of("line"),
    };
  };
  const x = (time) => GUTTER + ((time - view.from) / (view.to - view.from)) * (view.width - GUTTER);
  const time = (pixel) =>
    view.from + ((pixel - GUTTER) / (view.width - GUTTER)) * (view.to - view.from);
  const middle = (index) => (index + 0.5) * view.tall - box.scrollTop;

  const UNITS = [
    [1e12, "s"],
    [1e9, "ms"],
    [1e6, "µs"],
    [1e3, "ns"],
    [1, "ps"],
  ];
  function words(ps, step = ps) {
    if (ps === 0) return "0";
    const [scale, unit] = UNITS.find(([size]) => Math.abs(step) >= size) ?? UNITS[4];
    return `${(ps / scale).toLocaleString("en-US", { maximumFractionDigits: 3 })} ${unit}`;
  }
  const exact = (ps) => `${(ps / 1e6).toLocaleString("en-US", { maximumFractionDigits: 6 })} µs`;
  // Only the shares 0 and 1 read as 0% and 100%.
  function share(part) {
    if (part > 0 && part < 0.0005) return "less than 0.1%";
    if (part >= 0.9995 && part < 1) return "more than 99.9%";
    return `${(100 * part).toFixed(1)}%`;
  }
  const bytes = (count) => {
    const [scale, unit] = [
      [1 << 30, "GB"],
      [1 << 20, "MB"],
      [1024, "KB"],
    ].find(([size]) => count >= size && (1000 * count) % size === 0) ?? [1, "B"];
    return `${count / scale} ${unit}`; // as tables write it
  };

  function sized(canvas, height) {
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = view.width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, view.width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    return context;
  }

  function drawAxis(look) {
    const context = sized(axis, 24);
    const span = view.to - view.from;
    const rough = span / Math.max(2, (view.width - GUTTER) / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= rough) * power);
    context.fillStyle = context.strokeStyle = look.quiet;
    context.textAlign = "center";
    for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
      context.fillRect(x(tick), 18, 1, 6);
      const text = words(tick, Math.max(step, tick));
      const half = context.measureText(text).width / 2;
      context.fillText(
        text,
        Math.min(Math.max(x(tick), GUTTER + half - 20), view.width - half - 2),
        9,
      );
    }
  }

  function first(list, least) {
    let [low, high] = [0, list.length];
    while (low < high) {
      const half = (low + high) >> 1;
      if (list[half] < least) low = half + 1;
      else high = half;
    }
    return low;
  }

  function drawLane(context, look, lane, top) {
    const inner = Math.max(view.tall - (view.tall > 6 ? 2 : view.tall > 3 ? 1 : 0), 1);
    const end = Math.min(x(lane.end), view.width);
    context.fillStyle = look.lane;
    if (x(0) < view.width && end > GUTTER)
      context.fillRect(Math.max(x(0), GUTTER), top, end - Math.max(x(0), GUTTER), inner);
    // Intervals below a pixel share it: it has the colour of the group with the most time, fainter
    // where it is not full.
    if (DATA.ends[lane.rank] !== undefined) {
      const since = Math.max(x(lane.latest.at(-1) ?? 0), GUTTER);
      context.fillStyle = "#e0928c";
      if (end > since) context.fillRect(since, top, end - since, inner);
    }
    const open = Array.from({ length: rows }, () => ({ pixel: -1, sums: [] }));
    const perPixel = (view.to - view.from) / (view.width - GUTTER);
    const high = inner / rows;
    const flush = (row) => {
      const { pixel, sums } = open[row];
      if (pixel < 0) return;
      const total = sums.reduce((sum, one) => sum + (one ?? 0), 0);
      let best = -1;
      sums.forEach((sum, group) => {
        if (best < 0 || sum > sums[best]) best = group;
      });
      context.globalAlpha = Math.min(1, Math.max(0.35, total / perPixel));
      context.fillStyle = look.groups[best];
      context.fillRect(pixel, top + row * high, 1, high);
      context.globalAlpha = 1;
      open[row] = { pixel: -1, sums: [] };
    };
    for (
      let one = first(lane.latest, view.from);
      one < lane.at.length && lane.at[one] <= view.to;
      one += 1
    ) {
      const [, row, group] = DATA.kinds[lane.kind[one]];
      const several = lane.count.get(one);
      const busy = several ? several[1] : lane.length[one];
      const [left, right] = [x(lane.at[one]), x(lane.at[one] + lane.length[one])];
      if (right < GUTTER) continue;
      if (right - left >= 1.5) {
        flush(row);
        const begin = Math.max(left, GUTTER);
        context.fillStyle = look.groups[group];
        context.globalAlpha = several ? Math.min(1, Math.max(0.35, busy / lane.length[one])) : 1;
        context.fillRect(begin, top + row * high, Math.min(right, view.width) - begin, high);
        context.globalAlpha = 1;
        if (right - left > 6 && high > 5) {
          context.clearRect(Math.max(right - 0.5, GUTTER), top + row * high, 0.5, high);
        }
      } else {
        const pixel = Math.max(Math.floor(left), GUTTER);
        if (open[row].pixel !== pixel) flush(row);
        open[row].pixel = pixel;
        open[row].sums[group] = (open[row].sums[group] ?? 0) + Math.max(busy, 1);
      }
    }
    for (let row = 0; row < rows; row += 1) flush(row);
  }

  function drawLanes(look) {
    const total = DATA.lanes.length * view.tall;
    const height = Math.min(total, 440);
    find("all").style.height = `${total}px`;
    const context = sized(lanes, height);
    const begin = Math.floor(box.scrollTop / view.tall);
    const end = Math.min(DATA.lanes.length, Math.ceil((box.scrollTop + height) / view.tall));
    const every = Math.max(1, Math.ceil(13 / view.tall));
    context.textAlign = "right";
    for (let index = begin; index < end; index += 1) {
      const lane = DATA.lanes[index];
      drawLane(context, look, lane, index * view.tall - box.scrollTop);
      if (index % every === 0) {
        context.fillStyle = look.quiet;
        context.fillText(
          `rank ${lane.rank}`,
          GUTTER - 8,
          Math.min(Math.max(middle(index), 6), height - 6),
        );
      }
    }
    drawMessages(context, look, begin, end);
  }

  function drawMessages(context, look, begin, end) {
    view.lines = [];
    const seen = !view.messages
      ? []
      : order.filter((one) => {
          const till = sent.begin[one] + (sent.took[one] ?? 0);
          if (sent.begin[one] > view.to || till < view.from) return false;
          const [from, to] = [place.get(sent.source[one]), place.get(sent.destination[one])];
          return Math.max(from, to) >= begin && Math.min(from, to) < end;
        });
    const step = Math.ceil(seen.length / SHOWN_MESSAGES) || 1;
    const few = seen.length / step < 250;
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, view.width - GUTTER, lanes.clientHeight);
    context.clip();
    context.strokeStyle = context.fillStyle = look.ink;
    context.globalAlpha = few ? 0.7 : 0.3;
    context.lineWidth = few ? 1 : 0.7;
    for (let at = 0; at < seen.length; at += step) {
      const one = seen[at];
      const [from, to] = [place.get(sent.source[one]), place.get(sent.destination[one])];
      const lost = sent.took[one] === null;
      const line = [
        x(sent.begin[one]),
        middle(from),
        x(sent.begin[one] + (sent.took[one] ?? 0)),
        lost ? middle(from) : middle(to),
      ];
      if (lost) line[2] += 12;
      view.lines.push([one, ...line]);
      context.setLineDash(lost ? [3, 3] : []);
      context.beginPath();
      context.moveTo(line[0], line[1]);
      context.lineTo(line[2], line[3]);
      context.stroke();
      if (few && !lost) {
        const angle = Math.atan2(line[3] - line[1], line[2] - line[0]);
        context.beginPath();
        context.moveTo(line[2], line[3]);
        context.lineTo(line[2] - 6 * Math.cos(angle - 0.4), line[3] - 6 * Math.sin(angle - 0.4));
        context.lineTo(line[2] - 6 * Math.cos(angle + 0.4), line[3] - 6 * Math.sin(angle + 0.4));
        context.fill();
      }
    }
    context.restore();
    const drawn = view.lines.length;
    const [kept, all] = [sent.begin.length, DATA.totals.messages].map((count) =>
      count.toLocaleString("en-US"),
    );
    const thinned = kept === all ? "" : ` (the page has ${kept} of ${all})`;
    const visible =
      drawn < seen.length
        ? `${drawn.toLocaleString("en-US")} of ${seen.length.toLocaleString("en-US")}`
        : drawn.toLocaleString("en-US");
    const noun = seen.length === 1 ? "message" : "messages";
    find("span").textContent =
      `${words(view.from, view.to)} to ${words(view.to)}` +
      (view.messages && sent.begin.length ? ` · ${visible} ${noun} in view drawn${thinned}` : "");
  }

  // From the colour of an idle link by half to full load.
  function heat(load, idle) {
    const at = Math.min(1, load / 1000) * 2;
    const [one, two] = at <= 1 ? [idle, HEAT[0]] : HEAT;
    const part = at <= 1 ? at : at - 1;
    const mixed = one.map((from, channel) => Math.round(from + (two[channel] - from) * part));
    return `rgb(${mixed.join(" ")})`;
  }

  function drawLinks(look) {
    if (!links) return;
    const context = sized(links, STRIP * DATA.links.length);
    const idle = [1, 3, 5].map((place) => parseInt(look.lane.slice(place, place + 2), 16));
    DATA.links.forEach(([name], row) => {
      const top = row * STRIP;
      context.fillStyle = look.lane;
      context.fillRect(GUTTER, top, view.width - GUTTER, STRIP - 1);
      // Periods below a pixel share it: the hottest of them shows.
      let [pixel, most] = [-1, -1];
      DATA.periods.forEach(([begin, end], period) => {
        const load = DATA.loads[row][period];
        if (load === 0 || begin > view.to || end < view.from) return;
        const left = Math.max(Math.round(x(begin)), GUTTER);
        const right = Math.max(Math.min(Math.round(x(end)), view.width), left + 1);
        if (right - left <= 1 && left === pixel && load <= most) return;
        [pixel, most] = [left, load];
        context.fillStyle = heat(load, idle);
        context.fillRect(left, top, right - left, STRIP - 1);
      });
      context.fillStyle = look.quiet;
      context.textAlign = "left";
      context.save();
      context.beginPath();
      context.rect(0, top, GUTTER - 4, STRIP);
      context.clip();
      const short = name.replaceAll("node ", "n").replaceAll("switch ", "s");
      context.fillText(GUTTER < 80 ? short.replaceAll(" ", "") : short, 0, top + STRIP / 2);
      context.restore();
    });
  }

  let due = false;
  function draw() {
    due = false;
    view.width = Math.max(axis.clientWidth, GUTTER + 50);
    const look = colours();
    drawAxis(look);
    drawLanes(look);
    drawLinks(look);
  }
  function later() {
    if (!due) requestAnimationFrame(draw);
    due = true;
  }

  function show(from, to) {
    const span = Math.min(Math.max(to - from, Math.min(1000, END)), END);
    view.from = Math.min(Math.max(from, 0), END - span);
    view.to = view.from + span;
    later();
  }
  const zoom = (factor, at = (view.from + view.to) / 2) =>
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  const move = (share) =>
    show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));

  // The texts of the intervals at a place of a lane, and of the message whose line is nearest.
  function pointed(index, at, inside, px, py) {
    const lane = DATA.lanes[index];
    if (!lane) return "";
    const near = (view.to - view.from) / (view.width - GUTTER);
    const row = Math.min(rows - 1, Math.floor(inside * rows));
    const found = [];
    for (
      let one = first(lane.latest, at - near);
      one < lane.at.length && lane.at[one] <= at + near;
      one += 1
    ) {
      const [kind, of] = DATA.kinds[lane.kind[one]];
      if (of !== row || lane.at[one] + lane.length[one] < at - near) continue;
      const several = lane.count.get(one);
      const size = lane.bytes?.[one] == null ? "" : `, ${bytes(lane.bytes[one])}`;
      const peer = lane.peer?.[one] == null ? "" : `, with rank ${lane.peer[one]}`;
      const span = `from ${exact(lane.at[one])}, ${words(lane.length[one])}`;
      found.push(
        several
          ? `${several[0].toLocaleString("en-US")} intervals, mostly ${kind}, ${span}, together ` +
              `${words(several[1])}${size}`
          : `${kind} ` +
              `${span}${size}${peer}${within(lane.rank, lane.at[one], lane.length[one], kind)}`,
      );
      if (found.length === 3) break;
    }
    const waits =
      DATA.ends[lane.rank] !== undefined && at > (lane.latest.at(-1) ?? 0) && at <= lane.end;
    if (waits)
      found.push(`after its last call that ended; at the end it waits in ${DATA.ends[lane.rank]}`);
    if (!found.length)
      found.push(
        at > lane.end
          ? "after its end"
          : DATA.rows[row] === "calls"
            ? "outside of calls"
            : `no ${DATA.rows[row]}`,
      );
    let best = [5, null];
    for (const [one, x1, y1, x2, y2] of view.lines ?? []) {
      const [dx, dy] = [x2 - x1, y2 - y1];
      const along = Math.max(
        0,
        Math.min(1, ((px - x1) * dx + (py - y1) * dy) / (dx * dx + dy * dy || 1)),
      );
      const distance = Math.hypot(px - x1 - along * dx, py - y1 - along * dy);
      if (distance < best[0]) best = [distance, one];
    }
    const text = [`rank ${lane.rank} on node ${lane.node}, ${exact(at)}: ${found.join("; ")}`];
    if (best[1] !== null) text.push(message(best[1]));
    return text.join("\n");
  }
  function message(one) {
    const took =
      sent.took[one] === null ? "not received" : `arrives ${words(sent.took[one])} later`;
    const kind = sent.kind.length ? `${sent.kind[one]} ` : "";
    return (
      `${kind}message of ${bytes(sent.bytes[one])} from rank ${sent.source[one]} to rank ` +
      `${sent.destination[one]}, posted at ${exact(sent.begin[one])}, ${took}`
    );
  }
  // The bytes of the messages that a call posts, where all messages are in the page.
  function within(rank, begin, length, kind) {
    if (DATA.rows[0] !== "calls" || sent.begin.length < DATA.totals.messages) return "";
    let [count, sum] = [0, 0];
    for (
      let one = first(sent.begin, begin);
      one < sent.begin.length && sent.begin[one] <= begin + length;
      one += 1
    ) {
      const ends = sent.begin[one] === begin + length && length > 0;
      if (sent.source[one] === rank && !ends) {
        count += 1;
        sum += sent.bytes[one];
      }
    }
    return count
      ? `, posts ${count.toLocaleString("en-US")} message${count === 1 ? "" : "s"} of ` +
          `${bytes(sum)}`
      : "";
  }

  function told(event) {
    const canvas = event.currentTarget;
    const { left, top } = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - left, event.clientY - top];
    const at = Math.min(Math.max(time(px), 0), END);
    let text = "";
    if (canvas === links) {
      const row = Math.floor(py / STRIP);
      const period = DATA.periods.findIndex(([begin, end]) => begin <= at && at < end);
      const [name, , busy] = DATA.links[row] ?? [""];
      const load =
        period < 0
          ? "idle"
          : `${share(DATA.loads[row]?.[period] / 1000)} from ` +
            `${exact(DATA.periods[period][0])} to ${exact(DATA.periods[period][1])}`;
      if (name) text = `${name}: ${load}; ${share(busy)} of the run`;
    } else if (px >= GUTTER) {
      const index = (py + box.scrollTop) / view.tall;
      text = pointed(Math.floor(index), at, index - Math.floor(index), px, py);
    }
    if (text) find("pointed").textContent = text;
  }

  for (const canvas of [axis, lanes, links].filter(Boolean)) {
    let dragged = null;
    canvas.addEventListener("pointerdown", (event) => {
      dragged = [event.clientX, view.from, view.to];
      canvas.setPointerCapture(event.pointerId);
      root.focus({ preventScroll: true });
      if (canvas !== axis) told(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!dragged) return canvas === axis ? undefined : told(event);
      const by = ((event.clientX - dragged[0]) / (view.width - GUTTER)) * (dragged[2] - dragged[1]);
      return show(dragged[1] - by, dragged[2] - by);
    });
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, () => {
        dragged = null;
      });
    canvas.addEventListener("dblclick", () => show(0, END));
    // The wheel scrolls the page until the timeline has the focus.
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!root.contains(document.activeElement) && !event.ctrlKey) return;
        event.preventDefault();
        zoom(
          event.deltaY > 0 ? 1.25 : 0.8,
          time(event.clientX - canvas.getBoundingClientRect().left),
        );
      },
      { passive: false },
    );
  }
  const ACTIONS = {
    in: () => zoom(0.5),
    out: () => zoom(2),
    left: () => move(-0.3),
    right: () => move(0.3),
    whole: () => show(0, END),
    taller: () => {
      view.tall = Math.min(view.tall * 1.6, 90);
      later();
    },
    flatter: () => {
      view.tall = Math.max(view.tall / 1.6, least);
      later();
    },
  };
  root
    .querySelectorAll("button[data-do]")
    .forEach((one) => one.addEventListener("click", () => ACTIONS[one.dataset.do]()));
  find("lines")?.addEventListener("change", (event) => {
    view.messages = event.target.checked;
    later();
  });
  root.addEventListener("keydown", (event) => {
    if (event.target !== root) return;
    const name = { "+": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "whole" }[
      event.key
    ];
    if (name) {
      event.preventDefault();
      ACTIONS[name]();
    }
  });
  box.addEventListener("scroll", later);
  new ResizeObserver(later).observe(root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  root.view = view;
  draw();
}
