// SPDX-License-Identifier: MPL-2.0
// Overview, findings and keyframes.
let severity = "";
const containers = { annexb: "byte stream", mp4: "MP4", matroska: "Matroska", mpegts: "MPEG-TS", flv: "FLV", avi: "AVI" };

function show() {
  derive();
  $("report").hidden = $("nav").hidden = false;
  $("title").textContent = model.name || "Stream report";
  document.title = model.name ? `${model.name} – ${document.title.split(" – ").pop()}` : document.title;
  const stream = model.stream;
  $("facts").textContent = [codecName(),
    [containers[stream.container] ?? stream.container, stream.coding].filter(Boolean).join(" "),
    stream.size === undefined ? "" : byteSize(stream.size), isDemultiplexed() ? "offsets count bytes of the video stream, not of the file" : ""]
    .filter(Boolean).join(", ");
  $("omission").textContent = omission();
  $("omission").hidden = !omission();
  severity = "";
  view.chosen = -1;
  $("goto").value = $("gone").textContent = "";
  for (const name of ["filter", "rule"]) $(name).value = "";
  const types = model.summary?.nalUnits ?? [];
  $("nal").replaceChildren(element("option", { value: "", textContent: "any NAL unit" }),
    ...types.map((type) => element("option", { value: type.type, textContent: `${type.name} (${type.type})` })));
  overview();
  verdict();
  rules();
  severities();
  findings();
  keyframes();
  makeCharts();
  blocks();
  makeColumns();
  filter();
  sets();
  if (model.units.length) choose(0, false);
}

function codecName() { return model.stream.codec === "h265" ? "H.265" : "H.264"; }

// Whether offsets count bytes of a demultiplexed stream instead of the file.
function isDemultiplexed() { return !["annexb", "mp4"].includes(model.stream.container); }

// The texts of the formats in use, each once, with the number of access units if they differ.
function ofFormats(text) {
  const said = new Map();
  for (const each of usedFormats()) said.set(text(each.format, each.set), (said.get(text(each.format, each.set)) ?? 0) + each.count);
  const all = [...said];
  return all.map(([value, count]) => value + (all.length > 1 ? ` (${plural(count, "access unit")})` : "")).join(", ") || "–";
}

// A profile as the standard writes it, from its name in caps.
function profileName(name) { return name?.split("-").map((word) => word[0].toUpperCase() + word.slice(1)).join(" "); }

function frameRate() {
  const sent = ofFormats((format) => format.frameRate ? `${shortNumber(+(format.frameRate / format.frameRateDivisor).toFixed(3))} fps` : "not sent");
  const isMeasured = sent === "not sent" && model.stream.timescale && model.hasTime && model.units.length > 1;
  return isMeasured ? `not sent; ${shortNumber(model.units.length / model.duration)} fps by the container's times` : sent;
}

function overview() {
  const summary = model.summary ?? {}, lengths = model.groups.map((group) => group.count);
  const shortest = lengths.reduce((a, b) => Math.min(a, b), Infinity), longest = lengths.reduce((a, b) => Math.max(a, b), 0);
  const hasRate = model.hasTime && model.duration, isPart = omission() !== "", part = isPart ? " of the part that is listed" : "";
  const bytes = isPart ? model.units.reduce((sum, unit) => sum + unit.size, 0) : summary.bytes;
  const shown = ofFormats((format) => `${format.width} × ${format.height}`), coded = ofFormats((format) => `${format.codedWidth} × ${format.codedHeight}`);
  const groups = { Picture: [
    ["Size", shown],
    ...(coded === shown ? [] : [["Coded size", coded]]),
    ["Samples", ofFormats((format) => `${["4:0:0", "4:2:0", "4:2:2", "4:4:4"][format.chromaFormat ?? 1]}, ${format.bitDepth ?? "?"} bit`)],
    ...signalled(),
  ], Stream: [
    ["Profile, level", ofFormats((format) =>
      [profileName(format.profile), format.level && `level ${format.level}`, format.tier && `${profileName(format.tier)} tier`].filter(Boolean).join(", ") || "–")],
    ["Frame rate", frameRate()],
    ["Duration", model.hasTime ? clock(model.duration) + part + (model.timeBreaks ? `; times start over ${plural(model.timeBreaks, "time")}` : "") : "not known"],
    ["Bit rate", hasRate ? bitRate(bytes * 8 / model.duration) + part : "not known"],
    ...(hasRate && model.duration > 2 ? [["Highest second", bitRate(model.rates.second.reduce((a, b) => Math.max(a, b), 0))]] : []),
  ], Structure: [
    ["Access units", number(summary.accessUnits)],
    ["I / P / B", `${number(summary.i)} / ${number(summary.p)} / ${number(summary.b)}`],
    ["Keyframes", number(summary.keyframes)],
    ["Groups of pictures", lengths.length && !isPart ? `${number(lengths.length)} of ${shortest < longest ? `${number(shortest)} to ` : ""}${plural(longest, "access unit")}` : "–"],
    ["Reorder depth", summary.reorder === undefined ? "–" : plural(summary.reorder, "frame")],
  ] };
  const types = element("table", {}, element("tr", {}, ...["Type", "Count", "Bytes"].map((name) => element("th", { textContent: name, scope: "col" }))),
    ...(summary.nalUnits ?? []).map((type) => element("tr", {}, ...[`${type.name} (${type.type})`, number(type.count), number(type.bytes)]
      .map((text) => element("td", { textContent: text })))));
  $("overview").replaceChildren(...Object.entries(groups).map(([title, facts]) =>
    element("div", {}, element("h3", { textContent: title }), element("dl", {}, ...facts.map(([name, value]) =>
      element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })))))),
  element("div", {}, element("h3", { textContent: "NAL units" }), types));
  describeDisplay();
}

// The meaning of a code, as the program names it.
const meaning = ([, code, , , name]) => name ?? `code ${code}`;

// The properties that the stream and its container signal for display.
function signalled() {
  const facts = [], field = (set, name) => set.fields?.find((each) => each[0] === name), value = (set, name) => field(set, name)?.[1];
  const add = (name, text) => {
    const said = ofFormats((_, set) => text(set) ?? "not sent");
    if (said !== "not sent" && said !== "–") facts.push([name, said]);
  };
  add("Sample aspect ratio", (set) => {
    const code = value(set, "aspect_ratio_idc");
    return code === 255 ? `${value(set, "sar_width")}:${value(set, "sar_height")}` : field(set, "aspect_ratio_idc")?.[4];
  });
  add("Colour", (set) => {
    const codes = [["colour_primaries"], ["transfer_characteristics"], ["matrix_coeffs", "matrix_coefficients"]]
      .map((names) => names.map((name) => field(set, name)).find(Boolean))
      .map((code) => !code || code[1] === 2 ? "" : meaning(code));
    const range = value(set, "video_full_range_flag"), named = codes.some(Boolean) ? codes.map((name) => name || "not specified").join(" / ") : "";
    return [named, range === undefined ? "" : range ? "full range" : "limited range"].filter(Boolean).join(", ") || undefined;
  });
  add("Dynamic range", (set) => ({ 16: "high, PQ", 18: "high, HLG" })[value(set, "transfer_characteristics")]);
  for (const [name, { nal }] of displayMessages()) facts.push([name, nal.fields ? "" : "sent"]);
  const fields = model.units.filter((unit) => unit.field).length;
  const mayInterlace = usedFormats().some(({ set }) => value(set, "frame_mbs_only_flag") === 0 || value(set, "field_seq_flag") === 1);
  if (fields || mayInterlace) facts.push(["Scanning", fields === model.units.length ? "fields" : fields ? `${number(fields)} fields, other pictures frames` : "frames that may be interlaced"]);
  if (model.stream.rotation) facts.push(["Rotation", `${model.stream.rotation}° clockwise`]);
  return facts;
}

// The SEI messages about displays that the stream has: name, message type, and the first access unit and NAL unit with it.
function displayMessages() {
  const wanted = new Map([[137, "Mastering display"], [144, "Content light level"], [147, "Alternative transfer"]]), found = [];
  for (const [index, unit] of model.units.entries()) {
    for (const [place, nal] of unit.nalUnits.entries()) {
      for (const type of nal.messages ?? []) {
        if (!wanted.has(type)) continue;
        found.push([wanted.get(type), { type, index, place, nal }]);
        wanted.delete(type);
      }
    }
    if (!wanted.size) break;
  }
  return found;
}

// Writes the values of those messages into the overview. The inspector reads them from the file first.
async function describeDisplay() {
  const shown = model.stream;
  for (const [name, { type, index, place, nal }] of displayMessages()) {
    const fields = nal.fields ?? (readFields ? (await readFields(index)).nalUnits?.[place]?.fields : undefined);
    if (model.stream !== shown) return;
    const target = [...document.querySelectorAll("#overview dt")].find((each) => each.textContent === name)?.nextSibling;
    if (target) target.textContent = fields ? displayText(type, fields) : "sent";
  }
}

// Chromaticities of usual displays in units of 0.00002: green, blue and red, as the messages have them by convention.
const gamuts = { "13250,34500,7500,3000,34000,16000": "P3", "8500,39850,6550,2300,35400,14600": "BT.2020", "15000,30000,7500,3000,32000,16500": "BT.709" };

function displayText(type, fields) {
  const all = (name) => fields.filter((field) => field[0] === name).map((field) => field[1]);
  switch (type) {
    case 137: {
      const white = String(all("white_point")) === "15635,16450" ? " D65" : "", points = all("display_primaries");
      const pairs = [0, 2, 4].map((i) => `(${points.slice(i, i + 2).map((part) => shortFormat.format(part / 50000)).join(", ")})`).join(" ");
      const [least, most] = ["min", "max"].map((end) => all(`${end}_display_mastering_luminance`)[0] / 10000);
      return `${gamuts[String(points)] ? gamuts[String(points)] + white : `primaries ${pairs}`}, ${least} to ${number(most)} cd/m²`;
    }
    case 144: return `MaxCLL ${number(all("max_content_light_level")[0])}, MaxFALL ${number(all("max_pic_average_light_level")[0])} cd/m²`;
    default: return meaning(fields.find((field) => field[0] === "preferred_transfer_characteristics") ?? []);
  }
}

// The number of findings beside the link to them, in the colour of the worst.
function verdict() {
  const { errors = 0, warnings = 0, notes = 0 } = model.summary ?? {}, all = errors + warnings + notes;
  $("worst").textContent = all ? number(all) : "✓";
  $("worst").className = errors ? "error" : warnings ? "warning" : all ? "note" : "clean";
  $("finding-tools").hidden = !all;
  document.querySelector('[href="#h-keyframes"]').hidden = !model.thumbnails.size;
}

function severities() {
  const summary = model.summary ?? {};
  const kinds = [["", "All", (summary.errors ?? 0) + (summary.warnings ?? 0) + (summary.notes ?? 0)],
    ["error", "Errors", summary.errors], ["warning", "Warnings", summary.warnings], ["note", "Notes", summary.notes]];
  $("severities").replaceChildren(...kinds.map(([kind, name, count]) => {
    const button = element("button", { textContent: `${name} ${number(count)}`, type: "button" });
    button.setAttribute("aria-pressed", kind === severity);
    button.dataset.severity = kind;
    button.onclick = () => {
      severity = kind;
      severities();
      findings();
      $("severities").querySelector("[aria-pressed=true]").focus();
    };
    return button;
  }));
}

function rules() {
  const found = model.summary?.rules ?? [];
  $("rule").replaceChildren(element("option", { value: "", textContent: "every rule" }),
    ...found.map((rule) => element("option", { value: rule.rule, textContent: `${rule.rule}, ${number(rule.count)}` })));
  $("rule").closest("label").hidden = found.length < 2;
}

// Findings by rule, each with its remedy once.
function findings() {
  const rule = $("rule").value, groups = new Map();
  for (const finding of model.findings) {
    if (severity && finding.severity !== severity || rule && finding.rule !== rule) continue;
    const group = groups.get(finding.rule);
    if (group) group.push(finding); else groups.set(finding.rule, [finding]);
  }
  const weight = { error: 0, warning: 1, note: 2 };
  const sorted = [...groups.values()].sort((a, b) => weight[a[0].severity] - weight[b[0].severity]);
  $("findings").replaceChildren(...sorted.map((group, place) => findingsOfRule(group, sorted.length < 4 || place === 0)));
  const isClean = !model.summary?.rules?.length;
  if (!sorted.length) $("findings").append(element("p", { className: isClean ? "clean" : "", textContent: isClean
    ? "✓ Nothing found: the stream follows every checked rule of syntax, order, levels, buffers and container." : "Nothing found." }));
}

function findingsOfRule(group, isOpen) {
  const { severity: kind, rule, remedy } = group[0];
  // Findings in slice data have clauses of their own.
  const clause = group.every((finding) => finding.clause === group[0].clause) ? group[0].clause : "-";
  const all = model.summary?.rules.find((each) => each.rule === rule)?.count ?? group.length;
  // A value that all findings expect is shown once.
  const expected = group.every((finding) => finding.expected === group[0].expected) ? group[0].expected : "";
  const list = element("ol", {}, ...group.map((finding, place) => {
    const button = element("button", { textContent: `#${finding.accessUnit}`, type: "button", tabIndex: place ? -1 : 0, disabled: !isListed(finding.accessUnit) });
    button.setAttribute("aria-label", `Access unit ${finding.accessUnit}`);
    button.onclick = () => { choose(finding.accessUnit, true); $("units").scrollIntoView({ block: "nearest" }); };
    return element("li", { className: kind }, button, ` ${finding.found}${expected ? "" : `; expected ${finding.expected}`}${clause === finding.clause ? "" : ` (${finding.clause})`}`);
  }));
  // The document lists only the first findings of each rule.
  if (all > group.length) list.append(element("li", { textContent: `and ${number(all - group.length)} more that are not listed` }));
  list.addEventListener("keydown", (event) => walk(event, [...list.querySelectorAll("button")]));
  const says = `${expected ? `Expected ${expected}. ` : ""}${clause === "-" ? "" : `${clause.startsWith("ISO") ? "" : `${codecName()}, `}${clause}. `}${remedy}`;
  return element("details", { className: kind, open: isOpen },
    element("summary", {}, element("b", { className: "badge", textContent: kind }), " ", element("code", { textContent: rule }),
      element("span", { className: "count", textContent: plural(all, "place") })), element("p", { className: "hint", textContent: says }), list);
}

// Arrow keys walk through buttons that are one stop of the tab key.
function walk(event, buttons) {
  const place = buttons.indexOf(document.activeElement), last = buttons.length - 1;
  const next = { ArrowDown: Math.min(place + 1, last), ArrowUp: Math.max(place - 1, 0), Home: 0, End: last }[event.key];
  if (next === undefined || place < 0) return;
  event.preventDefault();
  for (const button of buttons) button.tabIndex = -1;
  buttons[next].tabIndex = 0;
  buttons[next].focus();
}

function keyframes() {
  $("keyframes").hidden = !model.thumbnails.size;
  $("thumbnails").replaceChildren(...[...model.thumbnails].map(([index, image], place) => {
    const shown = shownTime(index), time = shown === "–" ? "" : `, ${shown} s`;
    const button = element("button", { type: "button", tabIndex: place ? -1 : 0, disabled: !isListed(index) }, element("img", { src: image, alt: "", loading: "lazy" }),
      element("span", { textContent: `#${index}${time}` }));
    button.setAttribute("aria-label", `Keyframe, access unit ${index}${time}`);
    button.onclick = () => { choose(index, true); $("units").scrollIntoView({ block: "nearest" }); };
    return button;
  }));
}

// Totals of the blocks, if slices were read to their end.
function blocks() {
  const total = model.summary?.statistics;
  $("blocks").hidden = document.querySelector('[href="#h-blocks"]').hidden = !total;
  if (!total) return $("totals").replaceChildren();
  const square = ([size, area]) => [`${size} × ${size}`, area], noun = model.stream.codec === "h265" ? "Coding units" : "Macroblocks";
  const quantization = (qp) => qp ? `${number(qp.average, 2)} ± ${number(qp.deviation, 2)}, ${qp.minimum} to ${qp.maximum}` : "–";
  const average = ({ count, sum }, unit) => `${number(count)}${count ? ` of ${number(sum / count, 2)}${unit} on average` : ""}`;
  const bits = bitKinds.map((kind) => [kind, total.bits[kind]]), whole = bits.reduce((sum, [, count]) => sum + count, 0);
  const facts = [["Slices", number(total.slices) + (total.damagedSlices ? `, ${number(total.damagedSlices)} not read to the end` : "")],
    [noun, number(total.blocks)], ["QP", quantization(total.qp)], ["QP without skipped", quantization(total.codedQP)],
    ["Vector differences", average(total.vectorDifferences, " quarter samples")], ["Coefficients", average(total.coefficients, "")]];
  const distances = Object.entries(total.distances ?? {}).map(([distance, area]) => [Number(distance), area]).sort((a, b) => a[0] - b[0])
    .map(([distance, area]) => [distance > 0 ? `+${distance}` : String(distance).replace("-", "−"), area]);
  $("totals").replaceChildren(
    element("div", {}, element("h3", { textContent: "Totals" }), element("dl", {}, ...facts.map(([name, value]) =>
      element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))))),
    ...[["Bits of slice data", bits, whole, true], ["Types", blockTypes().map(([kind, name]) => [name, total.kinds[kind] ?? 0]), total.area],
      ["Sizes of coding units", model.stream.codec === "h265" ? Object.entries(total.sizes).map(square) : [], total.area],
      ["Partitions with vectors", Object.entries(total.partitions), total.area],
      ["Intra prediction", Object.entries(total.intraSizes).map(square), total.area],
      ["Transforms", Object.entries(total.transforms).map(square), total.area],
      ["References by POC distance", distances, total.area]]
      .map(([title, parts, all, isCount]) => [title, parts.filter(([, part]) => part), all, isCount]).filter(([, parts]) => parts.length)
      .map(([title, parts, all, isCount]) => element("div", {}, element("h3", { textContent: title }), element("table", {},
        element("tr", {}, ...["", ...(isCount ? ["Bits"] : []), isCount ? "Share" : "Share of area"].map((name) => element("th", { textContent: name, scope: "col" }))),
        ...parts.map(([name, part]) => element("tr", {}, element("th", { textContent: name, scope: "row" }),
          ...(isCount ? [number(part)] : []).concat(`${number(part / all * 100, 1)} %`).map((text) => element("td", { textContent: text }))))))));
}

$("thumbnails").addEventListener("keydown", (event) => {
  const key = { ArrowRight: "ArrowDown", ArrowLeft: "ArrowUp" }[event.key] ?? event.key;
  walk({ key, preventDefault: () => event.preventDefault() }, [...$("thumbnails").children]);
});
$("rule").addEventListener("change", findings);
$("rate").addEventListener("change", () => { const { from, to } = view; makeCharts(); setRange(from, to - from); });
$("closer").onclick = () => zoom(0.5, view.chosen >= view.from && view.chosen < view.to ? view.chosen : undefined);
$("farther").onclick = () => zoom(2);
$("whole").onclick = seeAll;

function showDocument(text, name) {
  Object.assign(model, emptyModel(name));
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    if (end > start) addLine(text.slice(start, end));
    start = end + 1;
  }
  show();
}

{
  const text = $("data").textContent.trim();
  if (text) showDocument(text, $("data").dataset.name ?? "");
}
