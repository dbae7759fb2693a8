// SPDX-License-Identifier: MPL-2.0
// Charts over access units. All share one range; each column of pixels shows the highest value that falls into it,
// of the coded picture buffer the lowest.
const view = { from: 0, to: 1, chosen: -1 };
const charts = [];

function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function makeCharts() {
  charts.length = 0;
  const holder = document.getElementById("charts");
  holder.replaceChildren();
  view.from = 0;
  view.to = Math.max(1, model.units.length);
  const units = model.units, limit = formatOf()?.maximumBitRate;
  const top = (get) => { let most = 0; for (let i = 0; i < units.length; i++) most = Math.max(most, get(i) ?? 0); return most; };
  const color = (i) => style({ I: "--i", P: "--p", B: "--b" }[units[i].type] ?? "--dim");
  const most = top((i) => model.rate[i]);
  if (model.hasTime) {
    add(holder, "Bit rate, a second around each access unit", (i) => model.rate[i],
      { line: limit && limit < most * 20 ? limit : 0, text: (i) => bitRate(model.rate[i])
        + (limit ? `, level allows ${bitRate(limit)}` : "") });
  }
  add(holder, "Size by type", (i) => units[i].size, { color, text: (i) => `${units[i].type ?? "?"} ${number(units[i].size)} bytes` });
  if (top((i) => units[i].cpbSize) > 0) {
    add(holder, "Coded picture buffer before each is taken out", (i) => units[i].cpb ?? 0,
      { line: top((i) => units[i].cpbSize), lowest: true, text: (i) => `${number(units[i].cpb)} of ${number(units[i].cpbSize)} bits` });
  }
  add(holder, "Order: shown later (up) or earlier (down) than decoded", (i) => model.shown[i] - i,
    { signed: true, color, text: (i) => `POC ${units[i].poc ?? "?"}` + (units[i].pts === undefined ? "" : `, PTS ${units[i].pts}`) });
  add(holder, "Decoded picture buffer", (i) => units[i].dpb ?? 0,
    { line: formatOf()?.decodedPictureBuffer, text: (i) => `${units[i].dpb ?? "?"} of ${formatOf()?.decodedPictureBuffer ?? "?"} pictures` });
  drawCharts();
}

function add(holder, title, get, options) {
  const canvas = element("canvas", { tabIndex: 0, role: "img" });
  canvas.setAttribute("aria-label", title);
  const label = element("span");
  holder.append(element("figure", {}, element("figcaption", {}, element("b", { textContent: title }), label), canvas));
  const chart = { canvas, label, get, ...options };
  charts.push(chart);
  canvas.addEventListener("wheel", (event) => {
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
    if (start && !start.moved) choose(Math.floor(at(canvas, event)), true);
    start = null;
  });
  canvas.addEventListener("pointercancel", () => { start = null; });
  canvas.addEventListener("keydown", (event) => keys(event));
}

function at(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return view.from + (event.clientX - box.left) / box.width * (view.to - view.from);
}

function hover(chart, i) {
  if (i >= 0 && i < model.units.length) chart.label.textContent = `#${i}: ${chart.text(i)}`;
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

let isDue = false;
function requestDraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; drawCharts(); });
}

function drawCharts() { for (const chart of charts) draw(chart); }

function draw(chart) {
  const { canvas, get } = chart, ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.round(120 * ratio);
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d"), count = model.units.length, span = view.to - view.from;
  let low = 0, high = chart.line || 0;
  const first = Math.max(0, Math.floor(view.from)), last = Math.min(count, Math.ceil(view.to));
  for (let i = first; i < last; i++) { const value = get(i); if (value > high) high = value; if (value < low) low = value; }
  if (high === low) high = low + 1;
  const y = (value) => height - 4 - (value - low) / (high - low) * (height - 8);
  const bar = width / span;
  if (bar >= 1) {
    for (let i = first; i < last; i++) rectangle(pen, chart, i, (i - view.from) * bar, Math.max(1, bar - (bar > 4 ? 1 : 0)), y);
  } else {
    for (let x = 0; x < width; x++) {
      const from = Math.floor(view.from + x / bar), to = Math.min(count, Math.ceil(view.from + (x + 1) / bar));
      let best = -1, least = -1;
      for (let i = Math.max(0, from); i < to; i++) {
        if (best < 0 || get(i) > get(best)) best = i;
        if (least < 0 || get(i) < get(least)) least = i;
      }
      if (best < 0) continue;
      rectangle(pen, chart, chart.lowest ? least : best, x, 1, y);
      if (chart.signed && get(least) < 0) rectangle(pen, chart, least, x, 1, y);
    }
  }
  if (chart.line) {
    pen.fillStyle = style("--error");
    pen.fillRect(0, y(chart.line), width, Math.max(1, ratio));
  }
  if (view.chosen >= 0) {
    pen.fillStyle = style("--accent");
    pen.globalAlpha = 0.35;
    pen.fillRect((view.chosen - view.from) * bar, 0, Math.max(2 * ratio, bar), height);
    pen.globalAlpha = 1;
    hover(chart, view.chosen);
  }
}

function rectangle(pen, chart, i, x, width, y) {
  pen.fillStyle = chart.color ? chart.color(i) : style("--p");
  const base = y(0), top = y(chart.get(i));
  pen.fillRect(x, Math.min(base, top), width, Math.max(1, Math.abs(base - top)));
}

window.addEventListener("resize", requestDraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", requestDraw);
