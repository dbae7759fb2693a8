// SPDX-License-Identifier: MPL-2.0
// The list of access units. Only visible rows are in the document.
const rowHeight = 24;
let listed = [];
// The columns: heading, text of an access unit, and the narrowest width in characters.
let columns = [];

function makeColumns() {
  const units = model.units, hasPTS = Boolean(model.stream.timescale) && units.some((unit) => unit.pts !== undefined);
  const all = [
    ["#", (i) => String(i)], ["", (i) => units[i].type ?? "?", 2], ["", (i) => model.found.has(i) ? "⚠" : "", 2],
    ["Kind", (i) => kindName(units[i]), 3], ["Bytes", (i) => number(units[i].size)], ["QP", (i) => String(units[i].qp ?? "–")],
    ["POC", (i) => String(units[i].poc ?? "?")],
    ...(hasPTS ? [["PTS s", shownTime], ...(units.some((unit) => unit.dts !== undefined) ? [["DTS s", (i) => seconds(units[i].dts)]] : [])] : model.hasTime ? [["Shown s", shownTime]] : []),
  ];
  columns = all.map(([name, text, least = 0]) => {
    let most = Math.max(name.length, least);
    for (let i = 0; i < units.length; i++) most = Math.max(most, text(i).length);
    return { name, text, width: `${most + 0.5}ch` };
  });
  columns.forEach((column, place) => { column.name ||= ["", "type", "found"][place]; });
  $("columns").replaceChildren(...columns.map((column) => cell(column, ["type", "found"].includes(column.name) ? "" : column.name)));
}

function cell(column, text) {
  const made = element("span", { textContent: text, className: column.name === "type" ? `type ${text}` : column.name === "Kind" ? "kind" : "" });
  made.style.width = column.width;
  return made;
}

function filter() {
  const wanted = $("filter").value, nal = $("nal").value, isShown = $("order").value === "presentation";
  listed = [];
  for (let place = 0; place < model.units.length; place++) {
    const i = isShown ? model.order[place] : place, unit = model.units[i];
    if (wanted && !(wanted === "key" ? unit.keyframe : wanted === "found" ? model.found.has(i) : unit.type === wanted)) continue;
    if (nal && !unit.nalUnits.some((each) => each.type === Number(nal))) continue;
    listed.push(i);
  }
  $("shown").textContent = `${number(listed.length)} of ${number(model.units.length)}`;
  $("rows").style.height = `${listed.length * rowHeight}px`;
  const place = listed.indexOf(view.chosen);
  $("list").scrollTop = place < 0 ? 0 : Math.max(0, (place + 1) * rowHeight - $("list").clientHeight / 2);
  rows();
}

function showAll() {
  $("filter").value = $("nal").value = "";
  filter();
}

function rows() {
  const list = $("list"), first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 5);
  const last = Math.min(listed.length, first + Math.ceil(list.clientHeight / rowHeight) + 10);
  const made = [];
  for (let place = first; place < last; place++) made.push(row(listed[place], place));
  $("rows").replaceChildren(...made);
  if (made.some((each) => each.id === `unit-${view.chosen}`)) list.setAttribute("aria-activedescendant", `unit-${view.chosen}`);
  else list.removeAttribute("aria-activedescendant");
}

function row(i, place) {
  const unit = model.units[i];
  const made = element("div", { className: "row" + (i === view.chosen ? " chosen" : ""), role: "option", id: `unit-${i}` },
    ...columns.map((column) => cell(column, column.text(i))));
  for (const [name, value] of Object.entries({ selected: i === view.chosen, setsize: listed.length, posinset: place + 1 })) {
    made.setAttribute(`aria-${name}`, value);
  }
  made.setAttribute("aria-label", [`Access unit ${i}`, unit.type && `${unit.type} picture`, kindName(unit), `${number(unit.size)} bytes`,
    unit.qp === undefined ? "" : `QP ${unit.qp}`, `POC ${unit.poc ?? "not known"}`, unit.pts === undefined ? "" : `PTS ${seconds(unit.pts)} seconds`,
    model.found.has(i) ? plural(model.found.get(i).length, "finding") : ""].filter(Boolean).join(", "));
  made.style.top = `${place * rowHeight}px`;
  made.onclick = () => choose(i, false);
  return made;
}

function keyframeName(unit) { return ({ recovery: "recovery point", intra: "intra" })[unit.keyframe] ?? unit.keyframe?.toUpperCase(); }

function kindName(unit) { return unit.keyframe === "recovery" ? "recovery" : keyframeName(unit) ?? (unit.reference || !unit.type ? "" : "no ref"); }

function choose(index, scrolls) {
  if (!model.units.length) return;
  view.chosen = Math.min(Math.max(index, 0), model.units.length - 1);
  if (view.chosen < view.from || view.chosen >= view.to) setRange(view.chosen - (view.to - view.from) / 2, view.to - view.from);
  // If the filter hides it, show all.
  if (!listed.includes(view.chosen)) showAll();
  const place = listed.indexOf(view.chosen), list = $("list");
  if (scrolls && place >= 0 && (place * rowHeight < list.scrollTop || (place + 2) * rowHeight > list.scrollTop + list.clientHeight)) {
    list.scrollTop = Math.max(0, place * rowHeight - list.clientHeight / 2);
  }
  rows();
  requestDraw();
  detail(view.chosen);
}

function keys(event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -20, PageDown: 20 }[event.key];
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (step && listed.length) choose(listed[Math.min(Math.max(placeFrom(step) + step, 0), listed.length - 1)], true);
  else if (event.key === "Home") choose(listed[0] ?? 0, true);
  else if (event.key === "End") choose(listed[listed.length - 1] ?? 0, true);
  else if (event.key === "+" || event.key === "=") zoom(0.5, view.chosen >= 0 ? view.chosen : undefined);
  else if (event.key === "-") zoom(2, view.chosen >= 0 ? view.chosen : undefined);
  else if (event.key === "0") seeAll();
  else return;
  event.preventDefault();
}

// The place in the list from which a step begins. If the filter hides the chosen access unit, a step leads to its neighbor
// in the list.
function placeFrom(step) {
  const place = listed.indexOf(view.chosen);
  if (place >= 0) return place;
  const order = (i) => $("order").value === "presentation" ? model.shown[i] : i;
  const next = listed.findIndex((i) => order(i) > order(view.chosen)), after = next < 0 ? listed.length : next;
  return step > 0 ? after - 1 : after;
}

$("list").addEventListener("scroll", rows);
$("list").addEventListener("keydown", keys);
for (const name of ["filter", "nal", "order"]) $(name).addEventListener("change", filter);
$("goto").addEventListener("change", () => {
  const text = $("goto").value.trim(), wanted = Number(text), last = model.units.length - 1;
  $("gone").textContent = !text || wanted >= 0 && wanted <= last && Number.isInteger(wanted) ? ""
    : `There is no access unit ${text}: the last is ${number(last)}.`;
  if (text && !$("gone").textContent) choose(wanted, true);
});
