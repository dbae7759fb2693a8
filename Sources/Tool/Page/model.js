// SPDX-License-Identifier: MPL-2.0
// The document: JSON lines as `h26x inspect --json` writes them. The stream itself is not parsed here.
const $ = (id) => document.getElementById(id);
const model = emptyModel("");

function emptyModel(name) {
  return { name, stream: {}, sets: [], units: [], findings: [], summary: null, thumbnails: new Map() };
}

function addLine(line) {
  const item = JSON.parse(line);
  switch (item.kind) {
    case "stream": model.stream = item; break;
    case "parameterSet": model.sets.push(item); break;
    case "accessUnit": model.units.push(item); break;
    case "finding": model.findings.push(item); break;
    case "summary": model.summary = item; break;
    case "thumbnail": model.thumbnails.set(item.accessUnit, item.image); break;
  }
}

// Computes times, groups of pictures and presentation order from the document.
function derive() {
  const units = model.units, count = units.length, format = formatOf();
  model.format = format;
  const period = format && format.frameRate ? format.frameRateDivisor / format.frameRate : 0;
  model.hasTime = Boolean(model.stream.timescale) || period > 0;
  // The decoding time of each access unit in seconds.
  model.time = new Float64Array(count);
  let clock = 0;
  for (let i = 0; i < count; i++) {
    const unit = units[i];
    model.time[i] = unit.dts !== undefined ? unit.dts / model.stream.timescale : clock;
    clock += (period || 0.04) / (unit.field ? 2 : 1);
  }
  const step = count > 1 ? (model.time[count - 1] - model.time[0]) / (count - 1) : period || 0.04;
  model.duration = count ? model.time[count - 1] - model.time[0] + step : 0;
  // The duration of each in seconds.
  model.step = (i) => (i + 1 < count ? model.time[i + 1] - model.time[i] : step) || step;
  deriveGroups();
  model.rates = { picture: perPicture(), second: perSecond(), group: perGroup() };
  // The access units in presentation order, and the position of each in it.
  model.order = Int32Array.from(units.keys()).sort((a, b) =>
    units[a].sequence - units[b].sequence || (units[a].poc ?? 0) - (units[b].poc ?? 0) || a - b);
  model.shown = new Int32Array(count);
  model.order.forEach((unit, place) => { model.shown[unit] = place; });
  model.found = new Map();
  for (const finding of model.findings) {
    const list = model.found.get(finding.accessUnit);
    if (list) list.push(finding); else model.found.set(finding.accessUnit, [finding]);
  }
}

// A group of pictures begins at each keyframe, except at one that is the second field of a frame.
function deriveGroups() {
  model.groups = [];
  model.group = new Int32Array(model.units.length);
  model.units.forEach((unit, i) => {
    if (!model.groups.length || (unit.keyframe && unit.field !== "second")) model.groups.push({ first: i, count: 0, bytes: 0 });
    const group = model.groups[model.groups.length - 1];
    group.count++;
    group.bytes += unit.size;
    model.group[i] = model.groups.length - 1;
  });
}

function perPicture() {
  return Float64Array.from(model.units, (unit, i) => unit.size * 8 / model.step(i));
}

function perSecond() {
  const { units, time } = model, count = units.length, rate = new Float64Array(count);
  const width = Math.min(1, model.duration || 1);
  let from = 0, to = 0, bytes = 0;
  for (let i = 0; i < count; i++) {
    while (to < count && time[to] <= time[i] + width / 2) bytes += units[to++].size;
    while (time[from] < time[i] - width / 2) bytes -= units[from++].size;
    rate[i] = bytes * 8 / width;
  }
  return rate;
}

function perGroup() {
  const rates = model.groups.map((group) => {
    let length = 0;
    for (let i = group.first; i < group.first + group.count; i++) length += model.step(i);
    return group.bytes * 8 / length;
  });
  return Float64Array.from(model.group, (group) => rates[group]);
}

// The format of the last SPS up to an access unit.
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
  return value >= 1e6 ? number(value / 1e6, 2) + " Mbit/s" : number(value / 1e3, value < 1e4 ? 1 : 0) + " kbit/s";
}

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
