// SPDX-License-Identifier: MPL-2.0
// The document: JSON lines as `h26x inspect --json` writes them. The stream itself is not parsed here.
const $ = (id) => document.getElementById(id);
const model = emptyModel("");

function emptyModel(name) {
  return { name, stream: {}, sets: [], units: [], findings: [], summary: null, thumbnails: new Map(), formats: [] };
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

// The presentation time of an access unit, for the list and the keyframes: its PTS or, without a container's times, the
// time that follows from its place in presentation order.
function shownTime(i) {
  if (!isListed(i)) return "–";
  if (model.units[i].pts !== undefined && model.stream.timescale) return seconds(model.units[i].pts);
  return model.hasTime && !model.stream.timescale ? (model.time[model.shown[i]] - model.time[0]).toFixed(3) : "–";
}

// Whether the document lists an access unit. For a long stream, it lists only the first part.
function isListed(i) { return i < model.units.length; }

// A note about the access units that the document does not list; empty if it lists all.
function omission() {
  const listed = model.units.length, all = model.summary?.accessUnits ?? listed;
  return all > listed ? `Only the first ${number(listed)} of ${plural(all, "access unit")} are listed and charted. Findings, counts and keyframes cover the whole stream.` : "";
}

// Computes formats, times, groups of pictures and presentation order from the document.
function derive() {
  const units = model.units, count = units.length;
  deriveFormats();
  deriveTimes();
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

// Each access unit has the format of the SPS to which the PPS of its slice refers. The latest SPS need not be in use.
function deriveFormats() {
  const { units, sets } = model, [sps, pps] = model.stream.codec === "h265" ? [33, 34] : [7, 8];
  const sent = new Map(), referred = new Map();
  let next = 0, latest = -1;
  // Each format once, with the number of its access units.
  model.formats = [];
  const places = new Map();
  model.formatPlace = new Int32Array(units.length);
  const take = (set) => {
    if (set.type === pps) {
      const field = set.fields?.find((each) => each[0].endsWith("seq_parameter_set_id"));
      if (field) referred.set(set.id, field[1]);
    } else if (set.type === sps && set.format) {
      const text = JSON.stringify(set.format);
      let place = places.get(text);
      if (place === undefined) {
        place = model.formats.push({ format: set.format, set, count: 0 }) - 1;
        places.set(text, place);
      }
      sent.set(set.id, place);
      latest = place;
    }
  };
  let place = -1;
  units.forEach((unit, i) => {
    while (next < sets.length && sets[next].accessUnit <= i) take(sets[next++]);
    const id = unit.nalUnits.find((nal) => nal.slice && !nal.layer)?.slice.pps;
    place = sent.get(referred.get(id)) ?? (place < 0 ? latest : id === undefined ? place : latest);
    model.formatPlace[i] = place;
    if (place >= 0) model.formats[place].count++;
  });
  while (next < sets.length) take(sets[next++]);
}

// The format of an access unit; undefined without an SPS that can be read.
function formatAt(i) { return model.formats[model.formatPlace[i]]?.format; }

// The formats in use, or all formats that were sent if there is no access unit.
function usedFormats() {
  const used = model.formats.filter((each) => each.count);
  return used.length ? used : model.formats;
}

// The duration of a picture in seconds, as the stream signals it; 0 if it does not.
function periodOf(i) {
  const format = formatAt(i);
  return format?.frameRate ? format.frameRateDivisor / format.frameRate / (["first", "second"].includes(model.units[i].field) ? 2 : 1) : 0;
}

// The decoding time of each access unit in seconds. Without DTS, the i-th access unit gets the i-th smallest PTS.
function deriveTimes() {
  const { units } = model, count = units.length, scale = model.stream.timescale;
  const kind = !scale ? "" : units.some((unit) => unit.dts !== undefined) ? "dts" : units.some((unit) => unit.pts !== undefined) ? "pts" : "";
  const ticks = units.map((unit) => kind ? unit[kind] : undefined);
  let final = units[count - 1];
  if (kind === "pts") {
    for (let from = 0, to = 0; from < count; from = to) {
      while (to < count && units[to].sequence === units[from].sequence) to++;
      const places = [];
      for (let i = from; i < to; i++) if (ticks[i] !== undefined) places.push(i);
      const sorted = places.map((i) => units[i]).sort((a, b) => a.pts - b.pts);
      places.forEach((i, place) => { ticks[i] = sorted[place].pts; });
      final = sorted[sorted.length - 1] ?? final;
    }
  }
  const time = new Float64Array(count), first = ticks.findIndex((tick) => tick !== undefined);
  // Access units before the first that has a time count backward from it.
  let begin = first > 0 ? ticks[first] / scale : 0;
  for (let i = 0; i < first; i++) begin -= periodOf(i) || 0.04;
  let shift = 0, breaks = 0;
  for (let i = 0; i < count; i++) {
    const before = i ? time[i - 1] : 0, expected = i ? before + (periodOf(i - 1) || 0.04) : begin;
    let now = ticks[i] === undefined ? expected : ticks[i] / scale + shift;
    if (i && now < before - 1) {
      // Times that start over continue from here.
      shift += expected - now;
      now = expected;
      breaks++;
    }
    time[i] = i ? Math.max(now, before) : now;
  }
  model.time = time;
  model.timeBreaks = breaks;
  model.hasTime = Boolean(kind) || units.some((_, i) => periodOf(i) > 0);
  const mean = count > 1 ? (time[count - 1] - time[0]) / (count - 1) : 0;
  const last = (kind && final.duration / scale) || (kind ? mean : 0) || (count && periodOf(count - 1)) || mean || 0.04;
  model.duration = count ? time[count - 1] - time[0] + last : 0;
  // The duration of each access unit in seconds.
  model.step = (i) => (i + 1 < count ? time[i + 1] - time[i] : last) || mean || last;
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

// The bit rate in the second around each access unit, which begins and ends within the stream.
function perSecond() {
  const { units, time } = model, count = units.length, rate = new Float64Array(count);
  const width = Math.min(1, model.duration || 1), last = time[0] + model.duration - width, rounding = 1e-6;
  let from = 0, to = 0, bytes = 0;
  for (let i = 0; i < count; i++) {
    const start = Math.max(time[0], Math.min(time[i] - width / 2, last)) - rounding;
    while (to < count && time[to] < start + width) bytes += units[to++].size;
    while (time[from] < start) bytes -= units[from++].size;
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

const numberFormats = [0, 1, 2].map((digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits, minimumFractionDigits: digits }));

function number(value, digits = 0) { return value === undefined || value === null ? "–" : numberFormats[digits].format(value); }

const shortFormat = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

function shortNumber(value) { return shortFormat.format(value).replace("-", "−"); }

function byteSize(value) {
  const text = value >= 1e9 ? `${number(value / 1e9, 2)} GB` : value >= 1e6 ? `${number(value / 1e6, 2)} MB` : value >= 1e4 ? `${number(value / 1e3, 1)} kB` : "";
  return text ? `${text} (${plural(value, "byte")})` : plural(value, "byte");
}

function bitRate(value) {
  return value >= 1e6 ? number(value / 1e6, value % 1e6 ? 2 : 0) + " Mbit/s" : number(value / 1e3, value < 1e4 && value % 1e3 ? 1 : 0) + " kbit/s";
}

// Seconds as a clock shows them.
function clock(seconds, digits = 2) {
  const sign = seconds < 0 ? "−" : "", all = Math.abs(seconds);
  if (all < 60) return `${sign}${all.toFixed(digits)} s`;
  // Rounded first, so that no minute has sixty seconds.
  const whole = Number(all.toFixed(digits)), minutes = Math.floor(whole / 60), rest = (whole - minutes * 60).toFixed(digits);
  const text = rest.padStart(digits ? digits + 3 : 2, "0");
  return minutes < 60 ? `${sign}${minutes}:${text}` : `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${text}`;
}

// Ticks of the container as seconds, with enough digits to distinguish neighbors.
function seconds(ticks) {
  const scale = model.stream.timescale;
  return ticks === undefined || !scale ? "–" : (ticks / scale).toFixed(scale > 1000 ? 4 : 3);
}

function plural(count, name) { return `${number(count)} ${name}${count === 1 ? "" : "s"}`; }

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
