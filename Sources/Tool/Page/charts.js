// SPDX-License-Identifier: MPL-2.0
// Charts over access units, all of the same range. A pixel column of several access units has a full bar to their mean
// (coded picture buffer: to the lowest value) and a pale bar to the highest.
const view = { from: 0, to: 1, chosen: -1 };
const charts = [];
let palette = {};

function readPalette() {
  const styles = getComputedStyle(document.documentElement);
  for (const name of ["--i", "--p", "--b", "--dim", "--error", "--accent", "--ink", "--panel"]) {
    palette[name] = styles.getPropertyValue(name).trim();
  }
}

function colorOf(i) { return palette[{ I: "--i", P: "--p", B: "--b" }[model.units[i].type] ?? "--dim"]; }

function makeCharts() {
  charts.length = 0;
  const holder = $("charts");
  holder.replaceChildren();
  view.from = 0;
  view.to = Math.max(8, model.units.length);
  const units = model.units, limit = model.format?.maximumBitRate, frames = model.format?.decodedPictureBuffer;
  const top = (get) => { let most = 0; for (let i = 0; i < units.length; i++) most = Math.max(most, get(i) ?? 0); return most; };
  $("rate").closest("label").hidden = !model.hasTime;
  if (model.hasTime) {
    const rate = model.rates[$("rate").value];
    const most = top((i) => rate[i]);
    add(holder, "rate", "Bit rate", (i) => rate[i], {
      // A line far above all values would flatten the chart.
      line: limit && limit < most * 20 ? limit : 0, lineName: "level", scale: bitRate,
      note: limit ? `level allows ${bitRate(limit)}` : "", text: (i) => bitRate(rate[i]),
    });
  }
  add(holder, "size", "Size by type", (i) => units[i].size, {
    color: colorOf, scale: (value) => `${number(value)} bytes`,
    text: (i) => `${units[i].type ?? "?"}, ${number(units[i].size)} bytes`,
  });
  if (units.some((unit) => unit.qp !== undefined)) {
    add(holder, "qp", "QP of the first slice", (i) => units[i].qp ?? 0, {
      color: colorOf, scale: (value) => `QP ${number(value)}`, text: (i) => `QP ${units[i].qp ?? "?"}`,
    });
  }
  const size = top((i) => units[i].cpbSize);
  if (size > 0) {
    add(holder, "cpb", "Coded picture buffer before each removal", (i) => units[i].cpb ?? 0, {
      line: size, lineName: "size", lowest: true, scale: (value) => `${number(value / 1000)} kbit`,
      text: (i) => units[i].cpb === undefined ? "not known" : `${number(units[i].cpb)} of ${number(units[i].cpbSize)} bits`,
    });
  }
  add(holder, "order", "Shown later (up) or earlier (down) than decoded", (i) => model.shown[i] - i, {
    signed: true, color: colorOf, scale: (value) => `${value > 0 ? "+" : ""}${number(value)}`,
    text: (i) => `POC ${units[i].poc ?? "?"}` + (units[i].pts === undefined ? "" : `, PTS ${units[i].pts}, DTS ${units[i].dts ?? "–"}`),
  });
  add(holder, "dpb", "Decoded picture buffer", (i) => units[i].dpb ?? 0, {
    line: frames, lineName: "size", scale: (value) => `${number(value)} pictures`,
    text: (i) => `${units[i].dpb ?? "?"} of ${frames ?? "?"} pictures`,
  });
  readPalette();
  drawCharts();
}

function add(holder, name, title, get, options) {
  const canvas = element("canvas", { tabIndex: 0, role: "img", id: `chart-${name}` });
  canvas.setAttribute("aria-label", title);
  const label = element("span", { textContent: options.note ?? "" });
  holder.append(element("figure", {}, element("figcaption", {}, element("b", { textContent: title }), label), canvas));
  const chart = { name, canvas, label, get, ...options };
  charts.push(chart);
  canvas.addEventListener("wheel", (event) => {
    // Horizontal scrolling pans.
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      return setRange(view.from + event.deltaX / canvas.clientWidth * (view.to - view.from), view.to - view.from);
    }
    // Fully zoomed out, the wheel scrolls the page.
    if (event.deltaY > 0 && view.to - view.from >= Math.max(8, model.units.length)) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, at(canvas, event));
  }, { passive: false });
  let start = null;
  canvas.addEventListener("pointerdown", (event) => {
    start = { x: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return hover(chart, Math.floor(at(canvas, event)));
    const width = start.to - start.from, moved = event.clientX - start.x;
    if (Math.abs(moved) > 4) start.moved = true;
    if (start.moved) setRange(start.from - moved / canvas.clientWidth * width, width);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (start && !start.moved) choose(highest(chart, event), true);
    start = null;
  });
  canvas.addEventListener("pointercancel", () => { start = null; });
  canvas.addEventListener("pointerleave", () => { if (view.chosen >= 0) hover(chart, view.chosen); });
  canvas.addEventListener("keydown", keys);
}

function at(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return view.from + (event.clientX - box.left) / box.width * (view.to - view.from);
}

// The access unit that a click chooses: of those in a pixel column the one that is drawn.
function highest(chart, event) {
  const first = Math.floor(at(chart.canvas, event));
  const last = Math.min(model.units.length, Math.ceil(first + (view.to - view.from) / chart.canvas.clientWidth));
  let best = first;
  for (let i = first + 1; i < last; i++) {
    if (chart.lowest ? chart.get(i) < chart.get(best) : chart.get(i) > chart.get(best)) best = i;
  }
  return best;
}

function hover(chart, i) {
  if (i < 0 || i >= model.units.length) return;
  chart.label.textContent = `#${i}: ${chart.text(i)}` + (chart.note ? `; ${chart.note}` : "");
}

function zoom(factor, center = (view.from + view.to) / 2) {
  const width = Math.min(Math.max((view.to - view.from) * factor, 8), Math.max(8, model.units.length));
  setRange(center - (center - view.from) / (view.to - view.from) * width, width);
}

function setRange(from, width) {
  view.from = Math.min(Math.max(from, 0), Math.max(0, model.units.length - width));
  view.to = view.from + width;
  requestDraw();
}

function seeAll() { setRange(0, Math.max(8, model.units.length)); }

let isDue = false;
function requestDraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; drawCharts(); });
}

function drawCharts() {
  for (const chart of charts) draw(chart);
  const last = Math.min(model.units.length, Math.ceil(view.to)) - 1, first = Math.floor(view.from);
  const each = (view.to - view.from) / (charts[0]?.canvas.clientWidth || 1);
  $("range").textContent = `${number(first)} to ${number(last)} of ${number(model.units.length)}`
    + (model.hasTime && last >= first ? `, ${number(model.time[first] - model.time[0], 2)} to ${number(model.time[last] - model.time[0], 2)} s` : "")
    + (each > 1 ? `; a column is ${number(each)} access units: their mean, pale the highest` : "");
}

function draw(chart) {
  const { canvas, get } = chart, ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.round(canvas.clientHeight * ratio);
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d"), count = model.units.length, span = view.to - view.from;
  let low = 0, high = chart.line || 0;
  const first = Math.max(0, Math.floor(view.from)), last = Math.min(count, Math.ceil(view.to));
  for (let i = first; i < last; i++) { const value = get(i); if (value > high) high = value; if (value < low) low = value; }
  const most = high;
  if (high === low) high = low + 1;
  // Room for the scale's text above the bars.
  const room = 16 * ratio;
  const y = (value) => height - 2 * ratio - (value - low) / (high - low) * (height - room - 2 * ratio);
  const bar = width / span;
  if (bar >= 1) {
    for (let i = first; i < last; i++) rectangle(pen, chart, i, (i - view.from) * bar, Math.max(1, bar - (bar > 4 ? 1 : 0)), y);
  } else {
    for (let x = 0; x < width; x++) {
      const from = Math.floor(view.from + x / bar), to = Math.min(count, Math.ceil(view.from + (x + 1) / bar));
      let best = -1, least = -1, sum = 0, many = 0;
      for (let i = Math.max(0, from); i < to; i++) {
        if (best < 0 || get(i) > get(best)) best = i;
        if (least < 0 || get(i) < get(least)) least = i;
        sum += get(i);
        many++;
      }
      if (best < 0) continue;
      if (!chart.signed) pen.globalAlpha = 0.4;
      rectangle(pen, chart, best, x, 1, y);
      pen.globalAlpha = 1;
      if (!chart.signed) fill(pen, palette[chart.color ? "--dim" : "--p"], chart.lowest ? get(least) : sum / many, x, 1, y);
      else if (get(least) < 0) rectangle(pen, chart, least, x, 1, y);
    }
  }
  if (view.chosen >= 0) {
    pen.fillStyle = palette["--accent"];
    pen.globalAlpha = 0.35;
    pen.fillRect((view.chosen - view.from) * bar, room, Math.max(2 * ratio, bar), height - room);
    pen.globalAlpha = 1;
    hover(chart, view.chosen);
  }
  pen.font = `${11 * ratio}px system-ui, sans-serif`;
  pen.textBaseline = "top";
  pen.fillStyle = palette["--dim"];
  const scale = chart.signed ? `${chart.scale(low)} to ${chart.scale(most)}` : chart.line === most && most ? "" : chart.scale(most);
  pen.fillText(scale, 2 * ratio, 2 * ratio);
  if (!chart.line) return;
  pen.fillStyle = palette["--error"];
  pen.fillRect(0, y(chart.line), width, Math.max(1, ratio));
  const text = `${chart.lineName} ${chart.scale(chart.line)}`;
  pen.fillText(text, width - pen.measureText(text).width - 2 * ratio, Math.max(0, y(chart.line) - 13 * ratio));
}

function rectangle(pen, chart, i, x, width, y) {
  fill(pen, chart.color ? chart.color(i) : palette["--p"], chart.get(i), x, width, y);
}

// Draws a bar from zero to a value.
function fill(pen, color, value, x, width, y) {
  pen.fillStyle = color;
  const base = y(0), top = y(value);
  pen.fillRect(x, Math.min(base, top), width, Math.max(1, Math.abs(base - top)));
}

window.addEventListener("resize", requestDraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readPalette(); requestDraw(); });
