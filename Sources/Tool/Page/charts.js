// SPDX-License-Identifier: MPL-2.0
// Charts over access units, all of the same range. A pixel column of several access units has a full bar to their mean
// (coded picture buffer: to the lowest value) and a pale bar to the highest.
const view = { from: 0, to: 1, chosen: -1 };
const charts = [];
let palette = {};

function readPalette() {
  const styles = getComputedStyle(document.documentElement);
  for (const name of ["--i", "--p", "--b", "--dim", "--error", "--accent", "--ink", "--panel", "--line"]) {
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
  const units = model.units;
  const top = (get) => { let most = 0; for (let i = 0; i < units.length; i++) most = Math.max(most, get(i) ?? 0); return most; };
  $("rate").closest("label").hidden = !model.hasTime;
  if (model.hasTime) {
    const rate = model.rates[$("rate").value], most = top((i) => rate[i]), limit = (i) => formatAt(i)?.maximumBitRate;
    add(holder, "rate", "Bit rate", (i) => rate[i], {
      // A line far above all values would flatten the chart.
      line: (i) => limit(i) < most * 5 ? limit(i) : 0, lineName: "level", scale: bitRate,
      text: (i) => bitRate(rate[i]) + (limit(i) ? `; level allows ${bitRate(limit(i))}` : ""),
    });
  }
  add(holder, "size", "Size by type", (i) => units[i].size, {
    color: colorOf, whole: true, scale: sizeText, text: (i) => `${units[i].type ?? "?"}, ${number(units[i].size)} bytes`,
  });
  if (units.some((unit) => unit.qp !== undefined)) {
    add(holder, "qp", "QP of the first slice", (i) => units[i].qp ?? 0, {
      color: colorOf, whole: true, scale: number, text: (i) => `QP ${units[i].qp ?? "?"}`,
    });
  }
  if (top((i) => units[i].cpbSize) > 0) {
    add(holder, "cpb", "Coded picture buffer before each removal", (i) => units[i].cpb ?? 0, {
      line: (i) => units[i].cpbSize ?? 0, lineName: "size", lowest: true, scale: (value) => `${number(value / 1000)} kbit`,
      text: (i) => units[i].cpb === undefined ? "not known" : `${number(units[i].cpb)} of ${number(units[i].cpbSize)} bits`,
    });
  }
  add(holder, "order", "Shown later (up) or earlier (down) than decoded", (i) => model.shown[i] - i, {
    signed: true, whole: true, color: colorOf, scale: (value) => `${value > 0 ? "+" : ""}${number(value)}`,
    text: (i) => `POC ${units[i].poc ?? "?"}` + (units[i].pts === undefined ? "" : `, PTS ${seconds(units[i].pts)} s, DTS ${seconds(units[i].dts)} s`),
  });
  const frames = (i) => formatAt(i)?.decodedPictureBuffer;
  add(holder, "dpb", "Decoded picture buffer", (i) => units[i].dpb ?? 0, {
    line: (i) => frames(i) ?? 0, lineName: "size", whole: true, scale: number,
    text: (i) => `${units[i].dpb ?? "?"} of ${plural(frames(i), "picture")}`,
  });
  readPalette();
  drawCharts();
}

function sizeText(value) { return value >= 1e6 ? `${number(value / 1e6, 1)} MB` : value >= 1e4 ? `${number(value / 1e3)} kB` : `${number(value)} bytes`; }

function add(holder, name, title, get, options) {
  const canvas = element("canvas", { tabIndex: 0, role: "slider", id: `chart-${name}` });
  canvas.setAttribute("aria-label", title);
  const label = element("span");
  holder.append(element("figure", {}, element("figcaption", {}, element("b", { textContent: title }), label), canvas));
  const chart = { name, canvas, label, get, ...options };
  charts.push(chart);
  canvas.addEventListener("wheel", (event) => {
    // Horizontal scrolling pans; the wheel alone scrolls the page.
    if (!event.ctrlKey && !event.metaKey) {
      if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      return setRange(view.from + event.deltaX / canvas.clientWidth * (view.to - view.from), view.to - view.from);
    }
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, at(canvas, event));
  }, { passive: false });
  // The fingers or buttons that are down: one pans, two zoom.
  const down = new Map();
  let start = null;
  const begin = () => { start = { pointers: [...down.values()].map((each) => ({ ...each })), from: view.from, to: view.to, moved: down.size > 1 }; };
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, { x: event.clientX });
    begin();
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return hover(chart, Math.floor(at(canvas, event)));
    down.get(event.pointerId).x = event.clientX;
    const box = canvas.getBoundingClientRect(), width = start.to - start.from, [one, two] = [...down.values()];
    const middle = (pair) => ((pair[0].x + pair[pair.length - 1].x) / 2 - box.left) / box.width;
    const moved = one.x - start.pointers[0].x;
    if (Math.abs(moved) > 4) start.moved = true;
    if (!start.moved) return;
    const apart = (pair) => Math.max(20, Math.abs(pair[0].x - pair[1].x));
    const next = limited(two ? width * apart(start.pointers) / apart([one, two]) : width);
    setRange(start.from + middle(start.pointers) * width - middle([...down.values()]) * next, next);
  });
  const end = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (!down.size && event.type === "pointerup" && !start.moved) choose(highest(chart, event), true);
    if (down.size) begin();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
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
  chart.label.textContent = `#${i}: ${chart.text(i)}`;
}

function limited(width) { return Math.min(Math.max(width, 8), Math.max(8, model.units.length)); }

function zoom(factor, center = (view.from + view.to) / 2) {
  const width = limited((view.to - view.from) * factor);
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
    + (model.hasTime && last >= first ? `, ${clock(model.time[first] - model.time[0])} to ${clock(model.time[last] - model.time[0])}` : "")
    + (each > 1 ? `; a column is ${number(each)} access units: their mean, pale the highest` : "");
}

function draw(chart) {
  const { canvas, get } = chart, ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), full = Math.round(canvas.clientHeight * ratio);
  canvas.width = width;
  canvas.height = full;
  const pen = canvas.getContext("2d"), count = model.units.length, span = view.to - view.from;
  let low = 0, high = 0;
  const first = Math.max(0, Math.floor(view.from)), last = Math.min(count, Math.ceil(view.to));
  for (let i = first; i < last; i++) {
    const value = get(i), line = chart.line?.(i) ?? 0;
    if (value > high) high = value;
    if (line > high) high = line;
    if (value < low) low = value;
  }
  if (high === low) high = low + 1;
  // Room for a label above the bars, and for those of the horizontal axis below.
  const room = 16 * ratio, height = full - 15 * ratio;
  const y = (value) => height - (value - low) / (high - low) * (height - room);
  const bar = width / span;
  pen.font = `${11 * ratio}px system-ui, sans-serif`;
  const levels = ticks(low, high, 3, chart.whole);
  for (const value of levels) fillLine(pen, "--line", 0, y(value), width, ratio);
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
    // A mark on the axis, for a column too thin to be seen.
    fillLine(pen, "--accent", (view.chosen - view.from) * bar - 2 * ratio, height, Math.max(2 * ratio, bar) + 4 * ratio, 3 * ratio);
    hover(chart, view.chosen);
    tell(chart);
  } else if (count) hover(chart, first);
  // Zero is the axis.
  for (const value of levels.filter((each) => each || low < 0)) label(pen, chart.scale(value), 2 * ratio, y(value) - 7 * ratio, ratio, "--dim");
  drawTimes(pen, first, last, bar, height, width, ratio);
  if (chart.line) drawLimit(pen, chart, first, last, bar, y, width, ratio);
}

// The value of the chosen access unit, for those who do not see the chart.
function tell(chart) {
  const { canvas } = chart;
  canvas.setAttribute("aria-valuemin", 0);
  canvas.setAttribute("aria-valuemax", model.units.length - 1);
  canvas.setAttribute("aria-valuenow", view.chosen);
  canvas.setAttribute("aria-valuetext", `Access unit ${view.chosen}: ${chart.text(view.chosen)}`);
}

// Round values in a range, about as many as wanted.
function ticks(low, high, wanted, isWhole) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  if (isWhole) step = Math.max(1, step);
  const values = [];
  for (let n = Math.ceil(low / step); n * step <= high && values.length < 20; n++) values.push(n * step);
  return values;
}

// The horizontal axis: seconds, or numbers of access units where there is no time.
function drawTimes(pen, first, last, bar, height, width, ratio) {
  if (last <= first) return;
  fillLine(pen, "--dim", 0, height, width, ratio);
  const { time, hasTime } = model, wanted = Math.max(1, Math.min(10, Math.floor(width / ratio / 90)));
  const [from, to] = hasTime ? [time[first] - time[0], time[last - 1] - time[0]] : [first, last - 1];
  if (!(to > from)) return;
  const marks = ticks(from, to, wanted, !hasTime), step = marks[1] - marks[0] || 1;
  const digits = Math.max(0, Math.min(3, -Math.floor(Math.log10(step) + 1e-9)));
  let end = -1, i = first;
  for (const mark of marks) {
    if (hasTime) while (i < last - 1 && time[i] - time[0] < mark - 1e-9) i++;
    else i = mark;
    const x = (i + 0.5 - view.from) * bar, text = hasTime ? clock(mark, digits) : `#${number(mark)}`;
    fillLine(pen, "--dim", x, height, ratio, 4 * ratio);
    const wide = pen.measureText(text).width, left = Math.min(Math.max(0, x - wide / 2), width - wide);
    if (left < end) continue;
    pen.fillStyle = palette["--dim"];
    pen.textBaseline = "top";
    pen.fillText(text, left, height + 4 * ratio);
    end = left + wide + 8 * ratio;
  }
}

// The limit, which may change from access unit to access unit.
function drawLimit(pen, chart, first, last, bar, y, width, ratio) {
  let value = 0;
  for (let x = 0; x < width; x++) {
    const i = Math.floor(view.from + x / bar);
    if (i >= last) break;
    const next = chart.line(Math.max(first, i));
    if (!next) { value = 0; continue; }
    // A step is joined.
    const height = value && next !== value ? Math.abs(y(value) - y(next)) : 0;
    fillLine(pen, "--error", x, Math.min(y(next), height ? y(value) : Infinity), 1, Math.max(ratio, height));
    value = next;
  }
  if (!value) return;
  const text = `${chart.lineName} ${chart.scale(value)}`;
  label(pen, text, width - pen.measureText(text).width - 4 * ratio, Math.max(0, y(value) - 15 * ratio), ratio, "--error");
}

function fillLine(pen, color, x, y, width, height) {
  pen.fillStyle = palette[color];
  pen.fillRect(x, y, width, height);
}

// Text that can be read above bars.
function label(pen, text, x, y, ratio, color) {
  pen.globalAlpha = 0.8;
  fillLine(pen, "--panel", x - 2 * ratio, y, pen.measureText(text).width + 4 * ratio, 13 * ratio);
  pen.globalAlpha = 1;
  pen.textBaseline = "top";
  pen.fillStyle = palette[color];
  pen.fillText(text, x, y + ratio);
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
// Paper is light, and nothing on it can be opened.
for (const [name, isPaper] of [["beforeprint", true], ["afterprint", false]]) {
  window.addEventListener(name, () => {
    document.documentElement.classList.toggle("paper", isPaper);
    if (isPaper) for (const each of document.querySelectorAll("#findings details")) each.open = true;
    readPalette();
    drawCharts();
  });
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readPalette(); requestDraw(); });
