// SPDX-License-Identifier: MPL-2.0
// The document: JSON lines as `h26x inspect --json` writes them. Nothing of a stream is parsed here.
const model = { name: "", stream: {}, sets: [], units: [], findings: [], summary: null };

function addLine(line) {
  const item = JSON.parse(line);
  switch (item.kind) {
    case "stream": model.stream = item; break;
    case "parameterSet": model.sets.push(item); break;
    case "accessUnit": model.units.push(item); break;
    case "finding": model.findings.push(item); break;
    case "summary": model.summary = item; break;
  }
}

// Seconds at which each access unit is decoded, and the bit rate of the second around it.
function derive() {
  const units = model.units, count = units.length;
  const format = formatOf();
  const period = format && format.frameRate ? format.frameRateDivisor / format.frameRate : 0;
  model.hasTime = Boolean(model.stream.timescale) || period > 0;
  model.time = new Float64Array(count);
  let clock = 0;
  for (let i = 0; i < count; i++) {
    const unit = units[i];
    model.time[i] = unit.dts !== undefined ? unit.dts / model.stream.timescale : clock;
    clock += (period || 0.04) / (unit.field ? 2 : 1);
  }
  const step = count > 1 ? (model.time[count - 1] - model.time[0]) / (count - 1) : period || 0.04;
  model.duration = count ? model.time[count - 1] - model.time[0] + step : 0;
  model.rate = new Float64Array(count);
  let from = 0, to = 0, bytes = 0;
  const width = Math.min(1, model.duration || 1);
  for (let i = 0; i < count; i++) {
    while (to < count && model.time[to] <= model.time[i] + width / 2) bytes += units[to++].size;
    while (model.time[from] < model.time[i] - width / 2) bytes -= units[from++].size;
    model.rate[i] = bytes * 8 / width;
  }
  // Places in the order of presentation.
  const order = units.map((_, i) => i);
  order.sort((a, b) => units[a].sequence - units[b].sequence || (units[a].poc ?? 0) - (units[b].poc ?? 0) || a - b);
  model.shown = new Int32Array(count);
  order.forEach((unit, place) => { model.shown[unit] = place; });
  model.found = new Map();
  for (const finding of model.findings) {
    const list = model.found.get(finding.accessUnit);
    if (list) list.push(finding); else model.found.set(finding.accessUnit, [finding]);
  }
}

// What the last SPS in front of an access unit comes to.
function formatOf(index = 0) {
  let format = null;
  for (const set of model.sets) if (set.format && (set.accessUnit <= index || !format)) format = set.format;
  return format;
}

function number(value, digits = 0) {
  return value === undefined || value === null ? "–"
    : value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

function bitRate(value) {
  return value >= 1e6 ? number(value / 1e6, 2) + " Mbit/s" : number(value / 1e3, 0) + " kbit/s";
}

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
