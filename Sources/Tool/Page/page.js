// SPDX-License-Identifier: MPL-2.0
// Overview, findings and keyframes.
let severity = "";
const containers = { annexb: "byte stream", mp4: "MP4", matroska: "Matroska", mpegts: "MPEG-TS", flv: "FLV", avi: "AVI" };

function show() {
  derive();
  $("report").hidden = false;
  $("title").textContent = model.name || "Stream report";
  document.title = model.name ? `${model.name} – stream report` : "Stream report";
  const stream = model.stream;
  $("facts").textContent = [stream.codec === "h265" ? "H.265" : "H.264",
    [containers[stream.container] ?? stream.container, stream.coding].filter(Boolean).join(" "),
    stream.size === undefined ? "" : `${number(stream.size)} bytes`].filter(Boolean).join(", ");
  severity = "";
  view.chosen = -1;
  for (const name of ["filter", "rule"]) $(name).value = "";
  overview();
  rules();
  severities();
  findings();
  keyframes();
  makeCharts();
  filter();
  sets();
  if (model.units.length) choose(0, false);
}

function overview() {
  const format = model.format ?? {}, summary = model.summary ?? {}, lengths = model.groups.map((group) => group.count);
  const shortest = lengths.reduce((a, b) => Math.min(a, b), Infinity), longest = lengths.reduce((a, b) => Math.max(a, b), 0);
  const chroma = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"][format.chromaFormat ?? 1];
  const coded = format.codedWidth !== format.width || format.codedHeight !== format.height ? `, coded ${format.codedWidth} × ${format.codedHeight}` : "";
  const facts = [
    ["Size", format.width ? `${format.width} × ${format.height}${coded}` : "–"],
    ["Profile, level", [format.profile, format.level && `level ${format.level}`, format.tier && `${format.tier} tier`].filter(Boolean).join(", ") || "–"],
    ["Samples", `${chroma}, ${format.bitDepth ?? "?"} bit`],
    ["Frame rate", format.frameRate ? String(+(format.frameRate / format.frameRateDivisor).toFixed(3)) : "not sent"],
    ["Access units", number(summary.accessUnits)],
    ["I / P / B", `${number(summary.i)} / ${number(summary.p)} / ${number(summary.b)}`],
    ["Keyframes", number(summary.keyframes)],
    ["Groups of pictures",
      lengths.length ? `${shortest < longest ? `${number(shortest)} to ` : ""}${number(longest)} long` : "–"],
    ["Duration", model.hasTime ? `${number(model.duration, 2)} s` : "not known"],
    ["Bit rate", model.hasTime && model.duration ? bitRate(summary.bytes * 8 / model.duration) : "not known"],
    ["Reorder depth", `${number(summary.reorder)} frames`],
  ];
  $("overview").replaceChildren(...facts.map(([name, value]) =>
    element("div", {}, element("span", { textContent: name }), element("b", { textContent: value }))));
  const types = element("table", {}, element("tr", {}, ...["NAL unit type", "Count", "Bytes"].map((name) => element("th", { textContent: name, scope: "col" }))),
    ...(summary.nalUnits ?? []).map((type) => element("tr", {}, ...[`${type.name} (${type.type})`, number(type.count), number(type.bytes)]
      .map((text) => element("td", { textContent: text })))));
  $("overview").append(element("div", { className: "whole" }, types));
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

function findings() {
  const limit = 500, rule = $("rule").value;
  const wanted = model.findings.filter((finding) => (!severity || finding.severity === severity) && (!rule || finding.rule === rule));
  $("findings").replaceChildren(...wanted.slice(0, limit).map((finding) => {
    const button = element("button", { textContent: `#${finding.accessUnit}`, type: "button" });
    button.setAttribute("aria-label", `Access unit ${finding.accessUnit}`);
    button.onclick = () => { choose(finding.accessUnit, true); $("units").scrollIntoView({ block: "nearest" }); };
    return element("li", { className: finding.severity }, element("b", { textContent: `${finding.severity} ${finding.rule} ` }),
      button, ` ${finding.found}; expected ${finding.expected}. `,
      element("small", { textContent: `${finding.clause === "-" ? "" : finding.clause + ". "}${finding.remedy}` }));
  }));
  if (!wanted.length) $("findings").append(element("li", { textContent: "Nothing found." }));
  // The document lists only the first findings of each rule.
  const all = (model.summary?.rules ?? []).filter((each) => (!severity || each.severity === severity) && (!rule || each.rule === rule))
    .reduce((sum, each) => sum + each.count, 0);
  const listed = Math.min(limit, wanted.length);
  if (all > listed) $("findings").append(element("li", { textContent: `and ${number(all - listed)} more that are not listed` }));
}

function keyframes() {
  $("keyframes").hidden = !model.thumbnails.size;
  $("thumbnails").replaceChildren(...[...model.thumbnails].map(([index, image]) => {
    const time = model.hasTime ? `, ${number(model.time[index] - model.time[0], 2)} s` : "";
    const button = element("button", { type: "button" }, element("img", { src: image, alt: "", loading: "lazy" }),
      element("span", { textContent: `#${index}${time}` }));
    button.setAttribute("aria-label", `Keyframe, access unit ${index}`);
    button.onclick = () => { choose(index, true); $("units").scrollIntoView({ block: "nearest" }); };
    return button;
  }));
}

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
