// SPDX-License-Identifier: MPL-2.0
// Draws the charts of charts.js: values on canvases, and texts in elements beside them, so that no text lies on a bar.
let palette = {};
// The width of the widest bar, and the least distance of the vertical axis's lines, in CSS pixels.
const widestBar = 40, lineHeight = 30;

function readPalette() {
  const styles = getComputedStyle(document.documentElement);
  for (const name of ["--i", "--p", "--b", "--measure", "--dim", "--error", "--warning", "--note", "--ink", "--panel", "--line",
    "--part1", "--part2", "--part3", "--part4", "--part5", "--part6"]) {
    palette[name] = styles.getPropertyValue(name).trim();
  }
}

function colorOf(chart, i) {
  return palette[chart.isTyped ? { I: "--i", P: "--p", B: "--b" }[model.units[i].type] ?? "--dim" : "--measure"];
}

let isDue = false;
function requestDraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; drawCharts(); });
}

// Values that all charts share: the visible access units, and the times below.
function visible() {
  const first = Math.max(0, Math.floor(view.from)), last = Math.min(model.units.length, Math.ceil(view.to));
  return { first, last, times: timeMarks(first, last) };
}

function drawCharts() {
  const sight = visible(), last = sight.last - 1, { first } = sight;
  for (const chart of charts) draw(chart, sight);
  $("times").replaceChildren(...sight.times.map(({ part, text }) => {
    const mark = element("span", { textContent: text });
    mark.style.left = `${part * 100}%`;
    return mark;
  }));
  point(-1);
  for (const chart of view.chosen < 0 ? [] : charts) tell(chart);
  const each = (view.to - view.from) / ((charts[0]?.canvas.clientWidth || 1) * (window.devicePixelRatio || 1));
  $("mixed").hidden = each <= 1;
  $("column").textContent = number(Math.ceil(each));
  $("range").textContent = `${number(first)} to ${number(last)} of ${number(model.units.length)}`
    + (model.hasTime && last >= first ? `, decoded ${clock(model.time[first] - model.time[0])} to ${clock(model.time[last] - model.time[0])}` : "");
}

function draw(chart, { first, last, times }) {
  const { canvas } = chart, ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.round(canvas.clientHeight * ratio);
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d"), bar = width / (view.to - view.from);
  const [low, high] = extent(chart, first, last);
  const y = (value) => height - (value - low) / (high - low) * (height - 2 * ratio);
  const levels = chart.shape === "lane" ? [] : ticks(low, high, Math.max(1, Math.floor(canvas.clientHeight / lineHeight)), chart.isWhole);
  for (const value of levels) fill(pen, "--line", 0, y(value), width, ratio);
  for (const { part } of times) fill(pen, "--line", part * width, 0, ratio, height);
  const edges = [0, 1].map((more) => Math.round((view.chosen + more - view.from) * bar));
  const chosen = { x: edges[0], width: Math.max(Math.ceil(2 * ratio), edges[1] - edges[0]) };
  if (view.chosen >= 0) {
    pen.globalAlpha = 0.13;
    fill(pen, "--ink", chosen.x, 0, chosen.width, height);
    pen.globalAlpha = 1;
  }
  const paint = { lane: drawLane, area: drawAreas, bars: drawBars, marks: drawMarks, stack: drawStacks }[chart.shape];
  paint(pen, chart, pixelColumns(chart, first, last, bar, width), { y, ratio, bar, height });
  if (chart.isSigned) fill(pen, "--dim", 0, y(0), width, ratio);
  else if (chart.shape !== "lane") fill(pen, "--dim", 0, height - ratio, width, ratio);
  if (chart.limit) drawLimit(pen, chart, first, last, bar, y, width, ratio);
  // Lines on both sides of the chosen access unit, whose bars keep their colours.
  if (view.chosen >= 0) {
    fill(pen, "--ink", chosen.x - ratio, 0, ratio, height);
    fill(pen, "--ink", chosen.x + chosen.width, 0, ratio, height);
  }
  chart.scaleHolder.replaceChildren(...levels.map((value) => {
    const mark = element("span", { textContent: `${chart.isSigned && value > 0 ? "+" : ""}${shortNumber(value / (chart.scale ?? 1))}` });
    mark.style.top = `${Math.min(Math.max(y(value) / ratio, 5), canvas.clientHeight - 5)}px`;
    return mark;
  }));
}

// The lowest and the highest value of the vertical axis. It begins at zero, except for marks, which have no length.
function extent(chart, first, last) {
  if (chart.bounds) return chart.bounds;
  const isMark = chart.shape === "marks", [least, most] = chart.band ?? [chart.get, chart.get];
  let low = isMark ? Infinity : 0, high = isMark ? -Infinity : 0;
  for (let i = first; i < last; i++) {
    const limit = chart.limit?.(i) ?? 0, top = most(i), bottom = least(i);
    if (top > high) high = top;
    if (limit > high) high = limit;
    if (bottom < low) low = bottom;
  }
  if (!(high >= low)) return [0, 1];
  return isMark ? [low - 2, high + 2] : [low, high === low ? low + 1 : high];
}

// The access units as pixel columns: one access unit each, or several in a column of one pixel, with their highest, lowest
// and mean value.
function pixelColumns({ get, band }, first, last, bar, width) {
  const made = [], [least, most] = band ?? [get, get];
  if (bar >= 1) {
    for (let i = first; i < last; i++) {
      const value = get(i), x = Math.round((i - view.from) * bar);
      made.push({ x, width: Math.max(1, Math.round((i + 1 - view.from) * bar) - x), best: i, high: most(i), low: least(i), mean: value, from: i, to: i + 1 });
    }
    return made;
  }
  for (let x = 0; x < width; x++) {
    const from = Math.max(0, Math.floor(view.from + x / bar)), to = Math.min(model.units.length, Math.ceil(view.from + (x + 1) / bar));
    let best = -1, low = Infinity, high = -Infinity, sum = 0, count = 0;
    for (let i = from; i < to; i++) {
      const value = get(i);
      if (value === undefined) continue;
      if (best < 0 || value > get(best)) best = i;
      low = Math.min(low, least(i));
      high = Math.max(high, most(i));
      sum += value;
      count++;
    }
    if (count) made.push({ x, width: 1, best, high, low, mean: sum / count, from, to, isMixed: true });
  }
  return made;
}

// Marks of the findings, in the colour of the worst.
function drawLane(pen, chart, list, { ratio, height }) {
  for (const { x, width, high } of list) {
    if (high) fill(pen, [, "--note", "--warning", "--error"][high], x, 0, Math.max(3 * ratio, Math.min(width, widestBar)), height);
  }
}

// A line and the area below it. In mixed columns, the line is the mean, or the lowest value if low values matter. A pale bar
// reaches up to the highest.
function drawAreas(pen, chart, list, { y, ratio, height }) {
  let before = null;
  for (const { x, width, high, low, mean, isMixed } of list) {
    if (high === undefined) { before = null; continue; }
    const top = Math.round(y(chart.isLowest ? low : mean));
    pen.globalAlpha = 0.25;
    fill(pen, "--measure", x, top, width, height - top);
    if (isMixed) {
      pen.globalAlpha = 0.4;
      fill(pen, "--measure", x, y(high), 1, top - y(high));
    }
    pen.globalAlpha = 1;
    // The line, joined where it steps.
    const line = 2 * ratio, from = before === null ? top : Math.min(top, before), to = before === null ? top : Math.max(top, before);
    fill(pen, "--measure", x, top, width, line);
    fill(pen, "--measure", x, from, Math.max(1, ratio), to - from + line);
    before = top;
  }
}

function drawBars(pen, chart, list, { y, ratio, bar }) {
  for (const column of list) {
    const { x, width, best, mean, isMixed } = column;
    if (!isMixed) {
      const wide = Math.max(1, Math.min(widestBar * ratio, width - (bar > 4 ? Math.max(1, Math.round(ratio)) : 0)));
      fillBar(pen, colorOf(chart, best), x + Math.floor((width - wide) / 2), wide, y(0), y(column.high));
    } else if (chart.isSigned) {
      pen.globalAlpha = 0.55;
      fillBar(pen, palette["--measure"], x, 1, y(Math.min(0, column.low)), y(Math.max(0, column.high)));
      pen.globalAlpha = 1;
    } else {
      pen.globalAlpha = 0.55;
      fillBar(pen, colorOf(chart, best), x, 1, y(0), y(column.high));
      pen.globalAlpha = 1;
      fillBar(pen, palette["--measure"], x, 1, y(0), y(mean));
    }
  }
}

// Parts on one another; in mixed columns their means, and a pale bar up to the highest sum.
function drawStacks(pen, chart, list, { y, ratio, bar }) {
  for (const { x, width, from, to, high, isMixed } of list) {
    if (high === undefined) continue;
    const counted = [];
    for (let i = from; i < to; i++) if (chart.get(i) !== undefined) counted.push(i);
    const wide = Math.max(1, Math.min(widestBar * ratio, width - (bar > 4 ? Math.max(1, Math.round(ratio)) : 0)));
    const left = x + Math.floor((width - wide) / 2);
    let sum = 0, base = Math.round(y(0));
    for (const part of chart.parts) {
      sum += counted.reduce((all, i) => all + part.get(i), 0) / counted.length;
      const top = Math.round(y(sum));
      fill(pen, `--part${part.color}`, left, top, wide, base - top);
      base = top;
    }
    if (!isMixed || chart.bounds) continue;
    pen.globalAlpha = 0.4;
    fill(pen, "--measure", left, y(high), wide, base - y(high));
    pen.globalAlpha = 1;
  }
}

// A dash for each value, in its band; in mixed columns the range, and a dash for the mean.
function drawMarks(pen, chart, list, { y, ratio, bar }) {
  for (const { x, width, best, high, low, mean, isMixed } of list) {
    if (high === undefined) continue;
    const thick = 3 * ratio, gap = bar > 4 ? ratio : 0;
    pen.globalAlpha = 0.4;
    if (isMixed || chart.band) fill(pen, "--measure", x, y(high), Math.max(1, width - gap), y(low) - y(high));
    pen.globalAlpha = 1;
    pen.fillStyle = isMixed ? palette["--measure"] : colorOf(chart, best);
    pen.fillRect(x, Math.round(y(mean) - thick / 2), Math.max(1, width - gap), thick);
  }
}

// Round values in a range, about as many as wanted: at most two thirds more.
function ticks(low, high, wanted, isWhole) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough) + 1e-9);
  let step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.6) * power;
  if (isWhole) step = Math.max(1, step);
  const values = [];
  // Adding zero avoids a negative zero.
  for (let n = Math.ceil(low / step); n * step <= high && values.length < 20; n++) values.push(n * step + 0);
  return values;
}

// The marks of the horizontal axis: seconds, or numbers of access units if there are no times.
function timeMarks(first, last) {
  const canvas = charts[0]?.canvas;
  if (!canvas || last <= first) return [];
  const { time, hasTime } = model, width = canvas.clientWidth, wanted = Math.max(1, Math.min(10, Math.floor(width / 150)));
  const [from, to] = hasTime ? [time[first] - time[0], time[last - 1] - time[0]] : [first, last - 1];
  if (!(to > from)) return [];
  const values = ticks(from, to, wanted, !hasTime), step = values[1] - values[0] || 1;
  const digits = Math.max(0, Math.min(3, -Math.floor(Math.log10(step) + 1e-9)));
  const pen = canvas.getContext("2d"), marks = [];
  pen.font = "11px system-ui, sans-serif";
  let end = -Infinity, i = first;
  for (const value of values) {
    if (hasTime) while (i < last - 1 && time[i] - time[0] < value - 1e-9) i++;
    else i = value;
    const part = (i + 0.5 - view.from) / (view.to - view.from), text = hasTime ? clock(value, digits) : `#${number(value)}`;
    const wide = pen.measureText(text).width;
    if (part * width - wide / 2 < end || part < 0 || part > 1) continue;
    marks.push({ part, text });
    end = part * width + wide / 2 + 8;
  }
  return marks;
}

// Draws the limit, which may change with each access unit, as a line. The caption has its last visible value.
function drawLimit(pen, chart, first, last, bar, y, width, ratio) {
  let value = 0, shown = 0;
  for (let x = 0; x < width; x++) {
    const i = Math.floor(view.from + x / bar);
    if (i >= last) break;
    const next = chart.limit(Math.max(first, i));
    if (!next) { value = 0; continue; }
    // Joins a step with a vertical line.
    const height = value && next !== value ? Math.abs(y(value) - y(next)) : 0;
    fill(pen, "--error", x, Math.min(y(next), height ? y(value) : Infinity), 1, Math.max(ratio, height));
    value = shown = next;
  }
  chart.limitLabel.textContent = shown ? chart.limitText(shown) : "";
}

function fill(pen, color, x, y, width, height) {
  pen.fillStyle = palette[color];
  pen.fillRect(x, y, width, height);
}

// A bar from the axis to a value, at least one line high.
function fillBar(pen, color, x, width, base, top) {
  pen.fillStyle = color;
  pen.fillRect(x, Math.min(base, top), width, Math.max(1, Math.abs(base - top)));
}

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
