"use strict";
// Draws the charts of the page from the JSON in it, and lets tables sort and systems be switched.
// Text from files only ever becomes the text of an element, never markup.
(() => {
  const { charts, systems, most: mostBands } = JSON.parse(document.getElementById("data").textContent);
  const SVG = document.querySelector("svg").namespaceURI;
  const tip = document.getElementById("tip");
  const off = new Set();
  const isOn = (numbers) => !numbers.length || numbers.some((number) => !off.has(number));

  // ---------------------------------------------------------------- elements

  function add(parent, tag, attributes = {}, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return parent.appendChild(made);
  }

  function mark(parent, tag, attributes = {}, text = "") {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return parent.appendChild(made);
  }

  // ---------------------------------------------------------------- numbers

  function say(value, digits = 4) {
    if (value === null) return "–";
    const size = Math.abs(value);
    if (size >= 1e12) return value.toExponential(2);
    if (size >= 1e4 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
    return String(Number(value.toPrecision(digits)));
  }

  function sayShort(value) {
    for (const [unit, name] of [[1e9, "B"], [1e6, "M"], [1e3, "k"]]) {
      if (Math.abs(value) >= unit) return `${Number((value / unit).toPrecision(4))}${name}`;
    }
    return String(Number(value.toPrecision(4)));
  }

  function sayPlace(axis, value) {
    if (!axis.decades) return `${axis.label} ${say(value)}`;
    const low = 10 ** Math.floor(Math.log10(value));
    return `${say(low)} to ${say(10 * low)}`;
  }

  function makeScale(axis, from, to) {
    const bend = axis.log ? Math.log10 : (value) => value;
    const [low, high] = [bend(axis.low), bend(axis.high)];
    const place = (value) => from + ((bend(value) - low) / (high - low || 1)) * (to - from);
    place.held = (value) => place(Math.min(Math.max(value, axis.low), axis.high));
    return place;
  }

  function findTicks(axis, most) {
    const ticks = [];
    if (axis.log) {
      const [first, last] = [Math.ceil(Math.log10(axis.low) - 1e-9), Math.floor(Math.log10(axis.high) + 1e-9)];
      const step = Math.max(1, Math.ceil((last - first + 1) / most));
      for (let power = first; power <= last; power += step) ticks.push(10 ** power);
      if (ticks.length > 2) return ticks;
      const fine = [-1, 0, 1, 2].flatMap((more) => [1, 2, 5].map((times) => times * 10 ** (first + more)));
      return fine.filter((value) => value >= axis.low && value <= axis.high);
    }
    const rough = (axis.high - axis.low) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(axis.whole ? 1 : 0, unit * [1, 2, 5, 10].find((times) => times * unit >= rough));
    for (let n = Math.ceil(axis.low / step - 1e-9); n * step <= axis.high + step * 1e-9; n += 1) ticks.push(n * step);
    return ticks;
  }

  // ---------------------------------------------------------------- the value under the pointer

  function showTip(event, lines) {
    tip.replaceChildren();
    lines.forEach((line, index) => add(tip, index ? "div" : "b", {}, line));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, event.clientX + 14), window.innerWidth - width - 8);
    const above = event.clientY - height - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 8 ? event.clientY + 18 : above}px`;
  }

  // `find` gets a place in pixels and returns what is there: its own place, and lines to show.
  function answer(target, find, cursor) {
    let place = null;
    const point = (x, y) => {
      const box = target.getBoundingClientRect();
      const found = find(x, y, box.width, box.height);
      if (!found) return leave();
      place = { x, y };
      if (cursor) {
        cursor.setAttribute("cx", found.x);
        cursor.setAttribute("cy", found.y);
        cursor.removeAttribute("visibility");
      }
      return showTip({ clientX: box.left + found.x, clientY: box.top + found.y }, found.lines);
    };
    const leave = () => {
      tip.hidden = true;
      if (cursor) cursor.setAttribute("visibility", "hidden");
    };
    const follow = (event) => {
      const box = target.getBoundingClientRect();
      point(event.clientX - box.left, event.clientY - box.top);
    };
    target.addEventListener("pointermove", follow);
    target.addEventListener("pointerdown", follow);
    // A finger leaves as soon as it is lifted; what it asked for stays until it touches elsewhere.
    target.addEventListener("pointerleave", (event) => event.pointerType === "touch" || leave());
    target.addEventListener("pointercancel", leave);
    target.addEventListener("blur", leave);
    target.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      const box = target.getBoundingClientRect();
      const start = place || { x: box.width / 2, y: box.height / 2 };
      const step = Math.max(4, box.width / 60);
      point(Math.min(Math.max(0, start.x + move[0] * step), box.width), Math.min(Math.max(0, start.y + move[1] * step), box.height));
    });
  }

  function nearest(items, distance, reach = Infinity) {
    let best = null;
    let least = reach;
    for (const item of items) {
      const far = distance(item);
      if (far < least) [best, least] = [item, far];
    }
    return best;
  }

  // ---------------------------------------------------------------- axes

  function startSvg(host, width, height, label) {
    const svg = mark(host, "svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", tabindex: "0" });
    svg.setAttribute("aria-label", `${label}; arrow keys read out values`);
    return svg;
  }

  function drawAxes(svg, panel, box) {
    const x = makeScale(panel.x, box.left, box.right);
    const y = makeScale(panel.y, box.bottom, box.top);
    for (const tick of findTicks(panel.y, box.bottom - box.top > 150 ? 5 : 3)) {
      mark(svg, "line", { class: "grid", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) });
      mark(svg, "text", { x: box.left - 6, y: y(tick) + 4, "text-anchor": "end" }, sayShort(tick));
    }
    mark(svg, "line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom });
    const low = box.bottom + (box.lift || 0);
    for (const tick of findTicks(panel.x, Math.max(2, Math.floor((box.right - box.left) / 65)))) {
      mark(svg, "text", { x: x(tick), y: low + 16, "text-anchor": "middle" }, sayShort(tick));
    }
    mark(svg, "text", { x: box.right, y: low + 33, "text-anchor": "end" }, `${panel.x.label} →`);
    if (panel.y.label) mark(svg, "text", { x: 0, y: 12 }, `↑ ${panel.y.label}`);
    return { x, y };
  }

  const addCursor = (svg) => mark(svg, "circle", { class: "cursor", r: 5, visibility: "hidden" });
  const join = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

  // ---------------------------------------------------------------- the kinds of charts

  function drawLines(host, panel, width, label) {
    const height = Math.max(230, Math.min(340, width * 0.55));
    const svg = startSvg(host, width, height, label);
    const top = panel.y.label ? 28 : 10;
    const { x, y } = drawAxes(svg, panel, { left: 46, right: width - 10, top, bottom: height - 40 });
    const shown = panel.series.filter((series) => isOn(series.systems));
    const banded = shown.length > mostBands ? [] : shown.filter((series) => series.points[0].length === 4);
    for (const { points, slot } of banded) {
      const edge = [...points.map((p) => [x(p[0]), y.held(p[3])]), ...points.map((p) => [x(p[0]), y.held(p[2])]).reverse()];
      mark(svg, "path", { class: "band", "data-slot": slot, d: `${join(edge)}Z` });
    }
    for (const { points, slot, dashed, hollow } of shown) {
      const light = hollow ? " hollow" : "";
      const places = points.filter((p) => p[1] !== null).map((p) => [x(p[0]), y.held(p[1])]);
      mark(svg, "path", { class: `curve mark${dashed ? " dashed" : ""}${light}`, "data-slot": slot, d: join(places) });
      if (places.length < 16) {
        for (const [cx, cy] of places) mark(svg, "circle", { class: `dot${light}`, "data-slot": slot, cx, cy, r: 3.2 });
      }
    }
    const cursor = addCursor(svg);
    const all = shown.flatMap((series) => series.points.map((point) => ({ series, point })));
    answer(svg, (px, py) => {
      const found = nearest(all, ({ point }) => Math.hypot(x(point[0]) - px, (y.held(point[1]) - py) / 4));
      if (!found) return null;
      const here = shown.map((series) => [series, series.points.find((point) => point[0] === found.point[0])]);
      const lines = here.filter(([, point]) => point).map(([series, point]) => {
        const bounds = point.length === 4 ? ` (${say(point[2], 3)} to ${say(point[3], 3)})` : "";
        return `${series.name}: ${say(point[1])}${bounds}`;
      });
      return { x: x(found.point[0]), y: y.held(found.point[1]), lines: [sayPlace(panel.x, found.point[0]), ...lines] };
    }, cursor);
    addKey(host, shown.filter((series) => !series.systems.length));
  }

  function addKey(host, list) {
    if (!list.length) return;
    const key = add(host, "ul", { class: "key" });
    for (const { name, slot } of list) {
      const item = add(key, "li", { "data-slot": slot });
      add(item, "i");
      add(item, "span", {}, name);
    }
  }

  function drawScatter(host, panel, width, label) {
    const height = Math.min(width, 340);
    const svg = startSvg(host, width, height, label);
    const { x, y } = drawAxes(svg, panel, { left: 44, right: width - 10, top: 28, bottom: height - 40 });
    mark(svg, "line", { class: "diagonal", x1: x(panel.x.low), y1: y(panel.x.low), x2: x(panel.x.high), y2: y(panel.x.high) });
    const [series] = panel.series;
    const dots = series.points.map((p) => `M${x(p[0]).toFixed(1)} ${y.held(p[1]).toFixed(1)}h0`);
    mark(svg, "path", { class: `cloud mark${series.hollow ? " hollow" : ""}`, "data-slot": series.slot, d: dots.join("") });
    answer(svg, (px, py) => {
      const point = nearest(series.points, (p) => Math.hypot(x(p[0]) - px, y.held(p[1]) - py), 40);
      return point && { x: x(point[0]), y: y.held(point[1]), lines: [`${panel.x.label} ${say(point[0])}`, `${panel.y.label} ${say(point[1])}`, series.name] };
    }, addCursor(svg));
  }

  function drawDots(host, panel, width, label) {
    const shown = panel.series.filter((series) => isOn(series.systems));
    const row = 36;
    const height = 14 + row * shown.length + 38;
    const svg = startSvg(host, width, height, label);
    const x = makeScale(panel.x, 4, width - 8);
    const bottom = 6 + row * shown.length;
    for (const tick of findTicks(panel.x, Math.max(2, Math.floor(width / 80)))) {
      mark(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: bottom });
      mark(svg, "text", { x: x(tick), y: bottom + 15, "text-anchor": tick > panel.x.low + (panel.x.high - panel.x.low) / 40 ? "middle" : "start" }, sayShort(tick));
    }
    mark(svg, "text", { x: width - 4, y: bottom + 32, "text-anchor": "end" }, `${panel.x.label} →`);
    const middle = (index) => index * row + 26;
    shown.forEach(({ name, slot, hollow, points: [[mean, low, high]] }, index) => {
      const fits = Math.floor(width / 7);
      mark(svg, "text", { class: "name", x: 4, y: middle(index) - 10 }, name.length > fits ? `${name.slice(0, fits - 1)}…` : name);
      mark(svg, "line", { class: "interval", "data-slot": slot, x1: x.held(low), x2: x.held(high), y1: middle(index), y2: middle(index) });
      mark(svg, "circle", { class: `dot mark${hollow ? " hollow" : ""}`, "data-slot": slot, cx: x(mean), cy: middle(index), r: 5 });
    });
    answer(svg, (px, py) => {
      const index = Math.min(Math.max(0, Math.floor((py - 4) / row)), shown.length - 1);
      if (!shown[index]) return null;
      const { name, points: [[mean, low, high]] } = shown[index];
      const lines = [name, `${panel.x.label} ${say(mean)}`];
      if (high > low) lines.push(`95 % interval ${say(low)} to ${say(high)}`);
      return { x: x(mean), y: middle(index), lines };
    }, addCursor(svg));
  }

  function drawHistogram(host, panel, width, label) {
    const [bars, ...rows] = panel.series;
    const lift = 34 * rows.length;
    const height = 270 + lift;
    const svg = startSvg(host, width, height, label);
    const bottom = height - 40 - lift;
    const { x, y } = drawAxes(svg, panel, { left: 46, right: width - 10, top: 28, bottom, lift });
    for (const [low, high, count] of bars.points) {
      mark(svg, "rect", { class: "bar-mark mark", "data-slot": bars.slot, x: x(low), y: y(count), width: Math.max(1, x(high) - x(low) - 0.5), height: bottom - y(count) });
    }
    rows.forEach(({ name, slot, points }, index) => {
      const top = bottom + 6 + 34 * index;
      mark(svg, "path", { class: "ticks mark", "data-slot": slot, d: points.map(([value]) => `M${x(value).toFixed(1)} ${top}v12`).join("") });
      mark(svg, "text", { class: "name", x: 46, y: top + 25 }, name);
    });
    answer(svg, (px) => {
      const bar = nearest(bars.points, ([low, high]) => Math.abs((x(low) + x(high)) / 2 - px), 30);
      if (!bar) return null;
      const lines = [`${say(bar[2])} numerals from ${say(Math.ceil(bar[0]))} to ${say(Math.floor(bar[1]))}`];
      for (const { name, points } of rows) {
        const inside = points.filter(([value]) => value >= bar[0] && value < bar[1]).length;
        lines.push(`${name}, ${inside} of them here`);
      }
      return { x: (x(bar[0]) + x(bar[1])) / 2, y: y(bar[2]), lines };
    }, addCursor(svg));
  }

  // Blue to yellow, of even lightness steps; told apart in both themes and by colour-blind eyes.
  const RAMP = [[0, 32, 77], [66, 78, 108], [124, 123, 120], [188, 174, 108], [255, 234, 70]];

  function colour(share) {
    const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
    const index = Math.min(Math.floor(place), RAMP.length - 2);
    return RAMP[index].map((part, channel) => part + (RAMP[index + 1][channel] - part) * (place - index));
  }

  function paint(canvas, columns, rows, share) {
    [canvas.width, canvas.height] = [columns, rows];
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    for (let place = 0; place < columns * rows; place += 1) {
      image.data.set([...colour(share(place % columns, Math.floor(place / columns))), 255], place * 4);
    }
    context.putImageData(image, 0, 0);
  }

  function drawHeat(host, panel, width, label) {
    const size = panel.matrix.length;
    const canvas = add(host, "canvas", { class: "mark", role: "img", tabindex: "0", "aria-label": label });
    const { low, high } = panel.y;
    paint(canvas, size, size, (column, row) => (panel.matrix[row][column] - low) / (high - low));
    const ends = add(host, "div", { class: "ends" });
    for (const end of [panel.x.low, panel.x.high]) add(ends, "span", {}, say(end));
    addRamp(host, panel.y);
    answer(canvas, (px, py, wide, tall) => {
      const [column, row] = [px / wide, py / tall].map((share) => Math.min(Math.floor(share * size), size - 1));
      if (column < 0 || row < 0) return null;
      return { x: px, y: py, lines: [`${row + 1} and ${column + 1}: ${say(panel.matrix[row][column])}`, panel.title] };
    });
  }

  function addRamp(host, { low, high, label }) {
    const ramp = add(host, "div", { class: "ramp" });
    add(ramp, "span", { title: label }, say(low));
    paint(add(ramp, "canvas", { "aria-hidden": "true" }), 100, 1, (column) => column / 99);
    add(ramp, "span", {}, say(high));
  }

  // ---------------------------------------------------------------- the page

  const DRAWERS = { lines: drawLines, scatter: drawScatter, dots: drawDots, histogram: drawHistogram, heat: drawHeat };

  const NARROWEST = { lines: 380, scatter: 260, dots: 300, histogram: 1e4, heat: 165 };

  function drawChart(chart) {
    const figure = document.querySelector(`figure[data-chart="${chart.name}"]`);
    figure.replaceChildren();
    const most = Math.max(1, Math.floor(figure.clientWidth / NARROWEST[chart.kind]));
    const rows = Math.ceil(chart.panels.length / most);
    figure.style.gridTemplateColumns = `repeat(${Math.ceil(chart.panels.length / rows)}, minmax(0, 1fr))`;
    const shown = chart.panels.filter((panel) => isOn(panel.systems));
    const hosts = shown.map((panel) => {
      const host = add(figure, "div", { class: "panel" });
      if (panel.title) add(host, "h3", { title: panel.title }, panel.title);
      if (panel.note) add(host, "p", { class: "measure" }, panel.note);
      return host;
    });
    shown.forEach((panel, index) => {
      const label = [chart.title, panel.title, panel.note].filter(Boolean).join(", ");
      DRAWERS[chart.kind](hosts[index], panel, hosts[index].clientWidth, label);
    });
    if (!shown.length) add(figure, "p", { class: "note" }, "All systems of this figure are switched off.");
  }

  const drawAll = () => charts.forEach(drawChart);

  function switchSystem(button) {
    const number = Number(button.dataset.number);
    if (!off.delete(number)) off.add(number);
    button.setAttribute("aria-pressed", String(!off.has(number)));
    for (const row of document.querySelectorAll("[data-systems]")) {
      row.classList.toggle("off", row.dataset.systems.split(" ").some((one) => one && off.has(Number(one))));
    }
    drawAll();
  }

  function sortTable(head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    const read = (row) => row.cells[head.cellIndex];
    const compare = (a, b) => {
      if (!head.cellIndex) return sign * read(a).textContent.localeCompare(read(b).textContent);
      const [first, second] = [a, b].map((row) => read(row).dataset.value);
      if (first === undefined || second === undefined) return (first === undefined) - (second === undefined);
      return sign * (Number(first) - Number(second));
    };
    for (const body of head.closest("table").tBodies) {
      // What training adds stays below its twin, whatever the order.
      const rows = [...body.rows].filter((row) => !row.matches(".kind, .adds"));
      const withGains = (row) => (row.nextElementSibling?.matches(".adds") ? [row, row.nextElementSibling] : [row]);
      const groups = new Map(rows.map((row) => [row, withGains(row)]));
      body.append(...rows.sort(compare).flatMap((row) => groups.get(row)));
    }
  }

  function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }

  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", switchTheme);
  const legend = document.querySelector(".systems");
  legend.hidden = systems.length < 2;
  for (const button of legend.querySelectorAll("button")) button.addEventListener("click", () => switchSystem(button));
  for (const button of document.querySelectorAll("thead button")) {
    button.addEventListener("click", () => sortTable(button.closest("th")));
  }
  document.addEventListener("pointerdown", () => { tip.hidden = true; }, true);
  let width = 0;
  new ResizeObserver(() => {
    if (width === document.body.clientWidth) return;
    width = document.body.clientWidth;
    drawAll();
  }).observe(document.body);
})();
