// SPDX-License-Identifier: MPL-2.0
// The NAL units of an access unit with their syntax elements and bytes, and the parameter sets. Choosing an element marks
// its bytes, and choosing a byte marks its element.

// The inspector's function that returns the NAL units of an access unit with fields and bytes, or why it cannot; null in a
// report.
let lookUp = null;
// The same for any access unit, whether it is chosen or not.
let readFields = null;
// Names of SEI payload types that both codecs have.
const payloads = {
  0: "buffering period", 1: "picture timing", 4: "user data (T.35)", 5: "user data (unregistered)", 6: "recovery point",
  19: "film grain", 45: "frame packing", 47: "display orientation", 129: "active parameter sets", 132: "picture hash",
  136: "time code", 137: "mastering display", 144: "content light level", 147: "alternative transfer",
};

async function detail(index) {
  const unit = model.units[index];
  const facts = [["Offset", number(unit.offset)], ["Size", plural(unit.size, "byte")], ["Type", unit.type ?? "?"],
    ["Keyframe", keyframeName(unit) ?? "no"], ["Reference", unit.reference ? "yes" : "no"],
    ["Group of pictures", `${model.group[index]}, from access unit ${model.groups[model.group[index]].first}`],
    ["Sequence, POC", `${unit.sequence}, ${unit.poc ?? "?"}`], ["Shown as number", model.shown[index]],
    ["QP", unit.qp ?? "–"], ["Refers to POC", (unit.references ?? []).join(", ") || "–"]];
  for (const [name, ticks] of [["PTS", unit.pts], ["DTS", unit.dts], ["Duration", unit.duration || undefined]]) {
    if (ticks !== undefined) facts.push([name, `${ticks} (${seconds(ticks)} s)`]);
  }
  if (model.formats.length > 1) {
    const format = formatAt(index);
    if (format) facts.push(["Format", `${format.width} × ${format.height}, level ${format.level ?? "?"}`]);
  }
  if (unit.field) facts.push(["Field", unit.field]);
  const table = element("table", {}, ...facts.map(([name, value]) =>
    element("tr", {}, element("th", { textContent: name, scope: "row" }), element("td", { textContent: value }))));
  const found = (model.found.get(index) ?? []).map((finding) =>
    element("p", { className: finding.severity }, element("b", { textContent: finding.rule }), `: ${finding.found}; expected ${finding.expected}`));
  const image = model.thumbnails.get(index);
  const picture = image ? [element("img", { src: image, alt: `Picture of access unit ${index}`, className: "large" })] : [];
  const holder = element("div", { id: "nal-units" });
  inPortions(holder, unit.nalUnits, nalUnit);
  $("detail").replaceChildren(element("h3", { textContent: `Access unit ${index}` }), ...picture, table, ...found, holder);
  $("detail").scrollTop = 0;
  if (!lookUp) return;
  holder.setAttribute("aria-busy", "true");
  const { nalUnits, error } = await lookUp(index);
  holder.removeAttribute("aria-busy");
  if (view.chosen !== index || !holder.isConnected) return;
  if (error) holder.before(element("p", { className: "error", role: "alert", textContent: error }));
  if (!nalUnits) return;
  // NAL units that the user opened meanwhile stay open.
  const open = [...holder.children].map((each) => each.open);
  holder.replaceChildren();
  inPortions(holder, nalUnits, (each, place) => {
    const made = nalUnit(each);
    made.open = open[place] ?? false;
    return made;
  }, open.length);
}

// Appends the elements of a list in portions: the first immediately, and another whenever the button at the end is pressed.
function inPortions(holder, list, make, least = 0, portion = 500) {
  let count = 0;
  const more = element("button", { type: "button" });
  const advance = (wanted) => {
    const next = Math.min(list.length, wanted), made = document.createDocumentFragment();
    for (; count < next; count++) made.append(make(list[count], count));
    holder.append(made);
    more.textContent = `${number(Math.min(portion, list.length - count))} more of ${number(list.length)}`;
    if (count < list.length) holder.append(more); else more.remove();
  };
  more.onclick = () => advance(count + portion);
  advance(Math.max(portion, least));
}

function nalUnit(unit) {
  let title = `${unit.name} (${unit.type}), ${plural(unit.size, "byte")} at ${number(unit.offset)}`;
  if (unit.id !== undefined) title += `, id ${unit.id}`;
  if (unit.slice) title += `, ${unit.slice.type} from ${unit.slice.first}, QP ${unit.slice.qp ?? "?"}`;
  if (unit.messages) title += `, ${unit.messages.map((type) => payloads[type] ?? `payload ${type}`).join(", ")}`;
  if (unit.error) title += `, ${unit.error}`;
  const made = element("details", {}, element("summary", { textContent: title }));
  made.addEventListener("toggle", () => {
    if (made.childElementCount > 1) return;
    // A repeated parameter set has its fields and bytes in the list of parameter sets only.
    const known = unit.fields ? unit : model.sets.findLast((set) => set.type === unit.type && set.id === unit.id && set.offset <= unit.offset) ?? unit;
    const bytes = unit.bytes ?? known.bytes;
    if (known.fields || bytes) made.append(syntax(known.fields ?? [], bytes ?? "", unit.offset, unit.size));
    else made.append(element("p", { className: "hint", textContent: "No syntax elements in this report, which would be too large." }));
  });
  return made;
}

// Long runs of bytes with the same name become one element. Its value is their text, or their digits if they are not text.
function folded(list) {
  const result = [];
  for (let from = 0, to = 0; from < list.length; from = to) {
    to = from + 1;
    const [name, , bit, width] = list[from];
    while (to < list.length && width === 8 && list[to][0] === name && list[to][3] === 8) to++;
    if (to - from < 16) {
      for (let i = from; i < to; i++) result.push(list[i]);
      continue;
    }
    const codes = Uint8Array.from(list.slice(from, to), (field) => field[1]);
    const isText = codes.filter((code) => code > 31 && code < 127).length >= codes.length * 0.9;
    const text = isText ? new TextDecoder().decode(codes).replace(/[\u0000-\u001f\u007f]/g, "·")
      : Array.from(codes.subarray(0, 256), (code) => code.toString(16).padStart(2, "0")).join("") + (codes.length > 256 ? "…" : "");
    result.push([`${name} (${number(to - from)})`, text, bit, (to - from) * 8]);
  }
  return result;
}

// A hex dump above a table of syntax elements. Elements that differ from those of `before` are highlighted.
function syntax(list, digits, offset, size, before) {
  const bytes = digits.match(/../g) ?? [], raw = payloadBytes(bytes);
  const old = before && keyed(folded(before)), rows = [];
  const table = element("table", { className: "fields", tabIndex: 0 },
    element("tr", {}, ...["Bit", "Element", "Value"].map((name) => element("th", { textContent: name, scope: "col" }))));
  table.setAttribute("aria-label", "Syntax elements");
  for (const [key, field] of keyed(folded(list))) {
    const was = old?.get(key), changed = old && was?.[1] !== field[1];
    const row = element("tr", { className: changed ? "changed" : "" }, element("td", { textContent: field[2] }),
      element("td", { textContent: field[0] }), element("td", { textContent: changed ? `${field[1]} (${was ? `was ${was[1]}` : "new"})` : field[4] ? `${field[1]} (${field[4]})` : field[1] }));
    // Bit offsets do not count emulation prevention bytes, the dump's bytes include them.
    row.bits = [raw[field[2] >> 3], raw[(field[2] + Math.max(1, field[3]) - 1) >> 3] ?? (raw.length ? bytes.length - 1 : undefined)];
    row.onclick = () => mark(row);
    rows.push(row);
    old?.delete(key);
  }
  for (const field of old?.values() ?? []) {
    rows.push(element("tr", { className: "changed" }, element("td"), element("td", { textContent: field[0] }),
      element("td", { textContent: `gone (was ${field[1]})` })));
  }
  const dump = element("pre", { className: "bytes", tabIndex: 0 }), cells = hex(dump, bytes, offset);
  dump.setAttribute("aria-label", "Bytes");
  let marked = null;
  function mark(row) {
    marked?.classList.remove("marked");
    for (const cell of dump.querySelectorAll(".marked")) cell.classList.remove("marked");
    marked = row;
    row.classList.add("marked");
    if (!row.bits || row.bits[0] === undefined) return;
    for (let i = row.bits[0]; i <= (row.bits[1] ?? row.bits[0]); i++) cells[i]?.classList.add("marked");
    const cell = cells[row.bits[0]];
    if (cell) dump.scrollTop = cell.offsetTop - dump.clientHeight / 2;
  }
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || !rows.length) return;
    const next = rows[Math.min(Math.max(rows.indexOf(marked) + step, 0), rows.length - 1)];
    mark(next);
    next.scrollIntoView({ block: "nearest" });
    event.preventDefault();
  });
  dump.addEventListener("click", (event) => {
    const place = cells.indexOf(event.target), row = place < 0 ? null : rows.find((each) => each.bits && each.bits[0] <= place && place <= each.bits[1]);
    if (!row) return;
    mark(row);
    row.scrollIntoView({ block: "nearest" });
  });
  const note = bytes.length && bytes.length < size ? [element("p", { className: "hint", textContent:
    `The first ${number(bytes.length)} of ${number(size)} bytes${lookUp ? "" : "; the inspector shows more"}.` })] : [];
  // No browser lays out a table with any number of rows.
  inPortions(table, rows, (row) => row, 0, 2000);
  return element("div", {}, ...(bytes.length ? [dump] : []), ...note, ...(list.length || before ? [table] : []));
}

// A map of the elements by name and number of repetition.
function keyed(list) {
  const turns = new Map(), named = new Map();
  for (const field of list) {
    const turn = turns.get(field[0]) ?? 0;
    turns.set(field[0], turn + 1);
    named.set(`${field[0]} ${turn}`, field);
  }
  return named;
}

// The positions of the bytes that are not emulation prevention bytes.
function payloadBytes(bytes) {
  const places = [];
  let zeros = 0;
  bytes.forEach((byte, place) => {
    if (zeros > 1 && byte === "03") { zeros = 0; return; }
    zeros = byte === "00" ? zeros + 1 : 0;
    places.push(place);
  });
  return places;
}

function hex(dump, bytes, offset) {
  const cells = bytes.map((byte) => element("span", { textContent: byte }));
  for (let i = 0; i < bytes.length; i += 16) {
    const line = bytes.slice(i, i + 16);
    const text = line.map((byte) => { const code = parseInt(byte, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : "."; });
    dump.append(`${(offset + i).toString(16).padStart(8, "0")}  `);
    cells.slice(i, i + 16).forEach((cell) => dump.append(cell, " "));
    dump.append("   ".repeat(16 - line.length), ` ${text.join("")}\n`);
  }
  return cells;
}

function sets() {
  const limit = 500, last = new Map();
  $("sets").replaceChildren(...model.sets.slice(0, limit).map((set) => {
    const key = `${set.type} ${set.id}`, before = last.get(key);
    last.set(key, set);
    const made = element("details", {}, element("summary", { textContent: `${set.name} ${set.id ?? "?"}`
      + (set.outOfBand ? ", from the container" : `, access unit ${set.accessUnit}`)
      + (before ? `, ${differ(set.fields ?? [], before.fields ?? [])} from before` : "")
      + (set.error ? `, ${set.error}` : "") }));
    made.addEventListener("toggle", () => {
      if (made.childElementCount === 1) made.append(syntax(set.fields ?? [], set.bytes ?? "", set.offset, set.size, before?.fields));
    });
    return made;
  }));
  if (!model.sets.length) $("sets").append(element("p", { className: "hint", textContent: "The stream has none." }));
  if (model.sets.length > limit) $("sets").append(element("p", { className: "hint", textContent: `and ${number(model.sets.length - limit)} more` }));
}

function differ(list, before) {
  const count = differences(list, before);
  return `${plural(count, "element")} ${count === 1 ? "differs" : "differ"}`;
}

function differences(list, before) {
  const old = keyed(before), now = keyed(list);
  let count = 0;
  for (const [key, field] of now) if (old.get(key)?.[1] !== field[1]) count++;
  for (const key of old.keys()) if (!now.has(key)) count++;
  return count;
}
