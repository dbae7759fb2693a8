// SPDX-License-Identifier: MPL-2.0
// What is around the charts: overview, findings, the list of access units and its detail, parameter sets.
const $ = (id) => document.getElementById(id);
const rowHeight = 24;
let listed = [];
let severity = "";
// In the inspector: answers with the NAL units of an access unit with their fields and bytes.
let lookUp = null;

function show() {
  derive();
  $("report").hidden = false;
  $("title").textContent = model.name || "Stream report";
  document.title = model.name ? `${model.name} – stream report` : "Stream report";
  const stream = model.stream;
  $("facts").textContent = [stream.codec === "h265" ? "H.265" : "H.264",
    stream.container === "mp4" ? `MP4 ${stream.coding ?? ""}` : "byte stream",
    stream.size === undefined ? "" : `${number(stream.size)} bytes`].filter(Boolean).join(", ");
  overview();
  severities();
  findings();
  makeCharts();
  filter();
  sets();
  if (model.units.length) choose(0, false);
}

function overview() {
  const format = formatOf() ?? {}, summary = model.summary ?? {};
  const chroma = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"][format.chromaFormat ?? 1];
  const facts = [
    ["Size", format.width ? `${format.width} × ${format.height}` : "–"],
    ["Profile, level", [format.profile, format.level, format.tier].filter(Boolean).join(" ") || "–"],
    ["Samples", `${chroma}, ${format.bitDepth ?? "?"} bit`],
    ["Frame rate", format.frameRate ? number(format.frameRate / format.frameRateDivisor, 3) : "not sent"],
    ["Access units", number(summary.accessUnits)],
    ["I / P / B", `${number(summary.i)} / ${number(summary.p)} / ${number(summary.b)}`],
    ["Keyframes", number(summary.keyframes)],
    ["Duration", model.hasTime ? `${number(model.duration, 2)} s` : "not known"],
    ["Bit rate", model.hasTime && model.duration ? bitRate(summary.bytes * 8 / model.duration) : "not known"],
    ["Out of order at most", `${number(summary.reorder)} frames`],
  ];
  $("overview").replaceChildren(...facts.map(([name, value]) =>
    element("div", {}, element("span", { textContent: name }), element("b", { textContent: value }))));
  const types = element("table", {}, element("tr", {}, ...["NAL unit type", "Count", "Bytes"].map((name) => element("th", { textContent: name }))),
    ...(summary.nalUnits ?? []).map((type) => element("tr", {}, ...[`${type.name} (${type.type})`, number(type.count), number(type.bytes)]
      .map((text) => element("td", { textContent: text })))));
  $("overview").append(element("div", {}, types));
  $("overview").lastChild.style.gridColumn = "1 / -1";
}

function severities() {
  const summary = model.summary ?? {};
  const kinds = [["", "All", (summary.errors ?? 0) + (summary.warnings ?? 0) + (summary.notes ?? 0)],
    ["error", "Errors", summary.errors], ["warning", "Warnings", summary.warnings], ["note", "Notes", summary.notes]];
  $("severities").replaceChildren(...kinds.map(([kind, name, count]) => {
    const button = element("button", { textContent: `${name} ${number(count)}`, type: "button" });
    button.setAttribute("aria-pressed", kind === severity);
    button.dataset.severity = kind;
    button.onclick = () => { severity = kind; severities(); findings(); };
    return button;
  }));
}

function findings() {
  const wanted = model.findings.filter((finding) => !severity || finding.severity === severity);
  $("findings").replaceChildren(...wanted.slice(0, 500).map((finding) => {
    const button = element("button", { textContent: `#${finding.accessUnit}`, type: "button" });
    button.onclick = () => { choose(finding.accessUnit, true); $("list").scrollIntoView({ block: "nearest" }); };
    return element("li", { className: finding.severity }, element("b", { textContent: `${finding.severity} ${finding.rule} ` }),
      button, ` ${finding.found}; expected ${finding.expected}. `,
      element("small", { textContent: `${finding.clause === "-" ? "" : finding.clause + ". "}${finding.remedy}` }));
  }));
  if (!wanted.length) $("findings").append(element("li", { textContent: "Nothing found." }));
  if (wanted.length > 500) $("findings").append(element("li", { textContent: `and ${number(wanted.length - 500)} more` }));
}

// The list: only the rows in sight exist.
function filter() {
  const wanted = $("filter").value;
  listed = [];
  for (let i = 0; i < model.units.length; i++) {
    const unit = model.units[i];
    if (!wanted || (wanted === "key" ? unit.keyframe : wanted === "found" ? model.found.has(i) : unit.type === wanted)) listed.push(i);
  }
  $("shown").textContent = `${number(listed.length)} of ${number(model.units.length)}`;
  $("rows").style.height = `${listed.length * rowHeight}px`;
  rows();
}

function rows() {
  const list = $("list"), first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 5);
  const last = Math.min(listed.length, first + Math.ceil(list.clientHeight / rowHeight) + 10);
  const made = [];
  for (let place = first; place < last; place++) {
    const i = listed[place], unit = model.units[i];
    const row = element("div", { className: "row" + (i === view.chosen ? " chosen" : ""), role: "option" },
      element("span", { textContent: i }), element("span", { className: `type ${unit.type}`, textContent: unit.type ?? "?" }),
      element("span", { textContent: number(unit.size) }), element("span", { textContent: `POC ${unit.poc ?? "?"}` }),
      element("span", { className: "flag", textContent: (unit.keyframe ?? "") + (model.found.has(i) ? " ⚠" : "") }));
    row.setAttribute("aria-selected", i === view.chosen);
    row.style.top = `${place * rowHeight}px`;
    row.onclick = () => choose(i, false);
    made.push(row);
  }
  $("rows").replaceChildren(...made);
}

function choose(index, scrolls) {
  if (!model.units.length) return;
  view.chosen = Math.min(Math.max(index, 0), model.units.length - 1);
  if (view.chosen < view.from || view.chosen >= view.to) setRange(view.chosen - (view.to - view.from) / 2, view.to - view.from);
  const place = listed.indexOf(view.chosen), list = $("list");
  if (scrolls && place >= 0 && (place * rowHeight < list.scrollTop || (place + 1) * rowHeight > list.scrollTop + list.clientHeight)) {
    list.scrollTop = Math.max(0, place * rowHeight - list.clientHeight / 2);
  }
  rows();
  requestDraw();
  detail(view.chosen);
}

async function detail(index) {
  const unit = model.units[index];
  const facts = [["Offset", number(unit.offset)], ["Size", `${number(unit.size)} bytes`], ["Type", unit.type ?? "?"],
    ["Keyframe", unit.keyframe ?? "no"], ["Reference", unit.reference ? "yes" : "no"], ["Sequence, POC", `${unit.sequence}, ${unit.poc ?? "?"}`],
    ["QP", unit.qp ?? "–"], ["Refers to POC", (unit.references ?? []).join(", ") || "–"]];
  if (unit.pts !== undefined) facts.push(["PTS, DTS", `${unit.pts}, ${unit.dts ?? "-"}`]);
  if (unit.field) facts.push(["Field", unit.field]);
  const table = element("table", {}, ...facts.map(([name, value]) =>
    element("tr", {}, element("th", { textContent: name }), element("td", { textContent: value }))));
  const found = (model.found.get(index) ?? []).map((finding) =>
    element("p", { className: finding.severity }, element("b", { textContent: finding.rule }), `: ${finding.found}; expected ${finding.expected}`));
  const holder = element("div", {}, ...unit.nalUnits.map(nalUnit));
  $("detail").replaceChildren(element("h3", { textContent: `Access unit ${index}` }), table, ...found, holder);
  if (!lookUp) return;
  const full = await lookUp(index);
  if (view.chosen === index && full) holder.replaceChildren(...full.map(nalUnit));
}

function nalUnit(unit) {
  let title = `${unit.name} (${unit.type}), ${number(unit.size)} bytes at ${number(unit.offset)}`;
  if (unit.id !== undefined) title += `, id ${unit.id}`;
  if (unit.slice) title += `, ${unit.slice.type} from ${unit.slice.first}, QP ${unit.slice.qp ?? "?"}`;
  if (unit.messages) title += `, payloads ${unit.messages.join(" ")}`;
  if (unit.error) title += `, ${unit.error}`;
  const made = element("details", {}, element("summary", { textContent: title }));
  made.addEventListener("toggle", () => {
    if (made.childElementCount > 1) return;
    // Of a parameter set that was there before, fields and bytes are those of its list.
    const known = unit.fields ? unit : model.sets.findLast((set) => set.type === unit.type && set.id === unit.id && set.offset <= unit.offset) ?? unit;
    if (known.fields) made.append(fields(known.fields));
    if (unit.bytes ?? known.bytes) made.append(hex(unit.bytes ?? known.bytes, unit.offset));
    if (made.childElementCount === 1) made.append(element("p", { className: "hint", textContent: "No fields in this report." }));
  }, { once: false });
  return made;
}

function fields(list, before) {
  const old = before ? new Map(before.map((field) => [field[0], field[1]])) : null;
  return element("table", {}, element("tr", {}, ...["Bit", "Element", "Value"].map((name) => element("th", { textContent: name }))),
    ...list.map((field) => {
      const changed = old && old.get(field[0]) !== field[1];
      return element("tr", { className: changed ? "changed" : "" }, element("td", { textContent: field[2] }), element("td", { textContent: field[0] }),
        element("td", { textContent: changed && old.has(field[0]) ? `${field[1]} (was ${old.get(field[0])})` : field[1] }));
    }));
}

function hex(digits, offset) {
  const lines = [];
  for (let i = 0; i < digits.length; i += 32) {
    const pairs = digits.slice(i, i + 32).match(/../g);
    const text = pairs.map((pair) => { const code = parseInt(pair, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : "."; });
    lines.push(`${(offset + i / 2).toString(16).padStart(8, "0")}  ${pairs.join(" ").padEnd(47)}  ${text.join("")}`);
  }
  return element("pre", { textContent: lines.join("\n") });
}

function sets() {
  const last = new Map();
  $("sets").replaceChildren(...model.sets.map((set) => {
    const key = `${set.type} ${set.id}`, before = last.get(key);
    last.set(key, set);
    const changed = before ? set.fields.filter((field) => !before.fields.some((old) => old[0] === field[0] && old[1] === field[1])).length : 0;
    const made = element("details", {}, element("summary", { textContent: `${set.name} ${set.id ?? "?"}`
      + (set.outOfBand ? ", from the container" : `, access unit ${set.accessUnit}`) + (before ? `, ${changed} elements differ from before` : "") }));
    made.addEventListener("toggle", () => {
      if (made.childElementCount === 1) made.append(fields(set.fields ?? [], before?.fields), hex(set.bytes ?? "", set.offset));
    });
    return made;
  }));
}

function keys(event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -20, PageDown: 20 }[event.key];
  if (step) {
    const place = listed.indexOf(view.chosen);
    choose(place < 0 ? view.chosen + step : listed[Math.min(Math.max(place + step, 0), listed.length - 1)], true);
  } else if (event.key === "Home") choose(listed[0] ?? 0, true);
  else if (event.key === "End") choose(listed[listed.length - 1] ?? 0, true);
  else if (event.key === "+" || event.key === "=") zoom(0.5, view.chosen >= 0 ? view.chosen : undefined);
  else if (event.key === "-") zoom(2);
  else if (event.key === "0") setRange(0, Math.max(8, model.units.length));
  else return;
  event.preventDefault();
}

$("list").addEventListener("scroll", rows);
$("list").addEventListener("keydown", keys);
$("filter").addEventListener("change", filter);
$("goto").addEventListener("change", () => { const wanted = parseInt($("goto").value, 10); if (wanted >= 0) choose(wanted, true); });

function showDocument(text, name) {
  model.name = name;
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    if (end > start) addLine(text.slice(start, end));
    start = end + 1;
  }
  show();
}

if ($("data").textContent.trim()) showDocument($("data").textContent.trim(), $("data").dataset.name ?? "");
