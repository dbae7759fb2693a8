// SPDX-License-Identifier: MPL-2.0
// The list of access units. Only visible rows are in the document.
const rowHeight = 24;
let listed = [];

function filter() {
  const wanted = $("filter").value, isShown = $("order").value === "presentation";
  listed = [];
  for (let place = 0; place < model.units.length; place++) {
    const i = isShown ? model.order[place] : place, unit = model.units[i];
    if (!wanted || (wanted === "key" ? unit.keyframe : wanted === "found" ? model.found.has(i) : unit.type === wanted)) listed.push(i);
  }
  $("shown").textContent = `${number(listed.length)} of ${number(model.units.length)}`;
  $("rows").style.height = `${listed.length * rowHeight}px`;
  $("columns").replaceChildren(...["#", "", "Bytes", "QP", "POC", ...(model.stream.timescale ? ["PTS", "DTS"] : []), "", ""]
    .map((name, place) => element("span", { textContent: name, className: place === 1 ? "type" : name === "PTS" || name === "DTS" ? "time" : "" })));
  const place = listed.indexOf(view.chosen);
  $("list").scrollTop = place < 0 ? 0 : Math.max(0, (place + 1) * rowHeight - $("list").clientHeight / 2);
  rows();
}

function rows() {
  const list = $("list"), first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 5);
  const last = Math.min(listed.length, first + Math.ceil(list.clientHeight / rowHeight) + 10);
  const made = [];
  for (let place = first; place < last; place++) made.push(row(listed[place], place));
  $("rows").replaceChildren(...made);
  if (listed.includes(view.chosen)) list.setAttribute("aria-activedescendant", `unit-${view.chosen}`);
}

function row(i, place) {
  const unit = model.units[i];
  const texts = [i, unit.type ?? "?", number(unit.size), unit.qp ?? "–", unit.poc ?? "?"];
  if (model.stream.timescale) texts.push(unit.pts ?? "–", unit.dts ?? "–");
  const made = element("div", { className: "row" + (i === view.chosen ? " chosen" : ""), role: "option", id: `unit-${i}` },
    ...texts.map((text, column) => element("span", { textContent: text, className: column === 1 ? `type ${text}` : column > 4 ? "time" : "" })),
    element("span", { className: "flag", textContent: keyframeName(unit) ?? (unit.reference ? "" : "no reference") }),
    element("span", { className: "flag", textContent: model.found.has(i) ? "⚠" : "" }));
  made.setAttribute("aria-selected", i === view.chosen);
  made.style.top = `${place * rowHeight}px`;
  made.onclick = () => choose(i, false);
  return made;
}

function keyframeName(unit) { return ({ recovery: "recovery point", intra: "intra" })[unit.keyframe] ?? unit.keyframe?.toUpperCase(); }

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

function keys(event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -20, PageDown: 20 }[event.key];
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (step) {
    const place = listed.indexOf(view.chosen);
    choose(place < 0 ? view.chosen + step : listed[Math.min(Math.max(place + step, 0), listed.length - 1)], true);
  } else if (event.key === "Home") choose(listed[0] ?? 0, true);
  else if (event.key === "End") choose(listed[listed.length - 1] ?? 0, true);
  else if (event.key === "+" || event.key === "=") zoom(0.5, view.chosen >= 0 ? view.chosen : undefined);
  else if (event.key === "-") zoom(2, view.chosen >= 0 ? view.chosen : undefined);
  else if (event.key === "0") seeAll();
  else return;
  event.preventDefault();
}

$("list").addEventListener("scroll", rows);
$("list").addEventListener("keydown", keys);
$("filter").addEventListener("change", filter);
$("order").addEventListener("change", filter);
$("goto").addEventListener("change", () => {
  const wanted = parseInt($("goto").value, 10);
  if (!(wanted >= 0)) return;
  // The filter hides it: show all.
  if (!listed.includes(wanted)) {
    $("filter").value = "";
    filter();
  }
  choose(wanted, true);
});
