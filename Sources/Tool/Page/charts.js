// SPDX-License-Identifier: MPL-2.0
// Charts over access units, all of the same range, one above the other with one axis of time. draw.js draws them.
const view = { from: 0, to: 1, chosen: -1 };
const charts = [];

function makeCharts() {
  charts.length = 0;
  $("plots").replaceChildren($("pointer"));
  $("flat").replaceChildren();
  view.from = 0;
  view.to = Math.max(8, model.units.length);
  const units = model.units;
  const top = (get) => { let most = 0; for (let i = 0; i < units.length; i++) most = Math.max(most, get(i) ?? 0); return most; };
  if (model.findings.length) {
    const weight = { error: 3, warning: 2, note: 1 };
    const worst = (i) => (model.found.get(i) ?? []).reduce((most, finding) => Math.max(most, weight[finding.severity]), 0);
    add("findings", "Findings", worst, { shape: "lane",
      text: (i) => (model.found.get(i) ?? []).map((finding) => `${finding.severity} ${finding.rule}`).join(", ") || "none" });
  }
  $("rate").closest("label").hidden = !model.hasTime;
  if (model.hasTime) {
    const rate = model.rates[$("rate").value], most = top((i) => rate[i]), limit = (i) => formatAt(i)?.maximumBitRate;
    const isMega = most >= 2e6, isNear = top(limit) < most * 5;
    add("rate", "Bit rate", (i) => rate[i], {
      // A line far above all values would flatten the chart.
      shape: "area", limit: isNear ? limit : undefined, limitText: (value) => `level ${bitRate(value)}`,
      unit: isMega ? "Mbit/s" : "kbit/s", scale: isMega ? 1e6 : 1e3,
      text: (i) => bitRate(rate[i]) + (limit(i) ? `; level allows ${bitRate(limit(i))}` : ""),
    });
  }
  const sizes = top((i) => units[i].size), isKilo = sizes >= 2e4;
  add("size", "Size", (i) => units[i].size, { shape: "bars", isTyped: true, isWhole: !isKilo, unit: isKilo ? "kB" : "bytes",
    scale: isKilo ? 1000 : 1, text: (i) => `${units[i].type ?? "?"}, ${plural(units[i].size, "byte")}`, flat: (i) => plural(units[i].size, "byte") });
  if (units.some((unit) => unit.statistics)) addStatistics();
  else if (units.some((unit) => unit.qp !== undefined)) {
    add("qp", "QP of the first slice", (i) => units[i].qp, { shape: "marks", isTyped: true, isWhole: true, text: (i) => `QP ${units[i].qp ?? "not known"}` });
  }
  if (units.filter((unit) => unit.cpb !== undefined).length > 1) {
    add("cpb", "Coded picture buffer before each removal", (i) => units[i].cpb, {
      shape: "area", limit: (i) => units[i].cpbSize ?? 0, limitText: (value) => `size ${number(value / 1000)} kbit`, isLowest: true,
      unit: "kbit", scale: 1000, text: (i) => units[i].cpb === undefined ? "not known" : `${number(units[i].cpb)} of ${number(units[i].cpbSize)} bits`,
      range: (low, high) => `${number(low)} to ${number(high)} of ${number(units[0].cpbSize)} bits`,
    });
  }
  add("order", "Shown later (up) or earlier (down) than decoded", (i) => model.shown[i] - i, {
    shape: "bars", isTyped: true, isSigned: true, isWhole: true, unit: "places", flat: () => "pictures are shown in decoding order",
    text: (i) => `POC ${units[i].poc ?? "?"}` + (units[i].pts === undefined ? "" : `, PTS ${seconds(units[i].pts)} s`)
      + (units[i].dts === undefined ? "" : `, DTS ${seconds(units[i].dts)} s`),
  });
  if (units.some((unit) => unit.dpb !== undefined)) {
    const frames = (i) => formatAt(i)?.decodedPictureBuffer;
    add("dpb", "Decoded picture buffer", (i) => units[i].dpb, {
      shape: "area", limit: (i) => frames(i) ?? 0, limitText: (value) => `size ${number(value)}`, isWhole: true, unit: "pictures",
      text: (i) => `${units[i].dpb ?? "?"} of ${plural(frames(i), "picture")}`,
    });
  }
  const types = new Set(units.map((unit) => unit.type));
  $("types").replaceChildren(...["I", "P", "B"].filter((type) => types.has(type)).flatMap((type) => [element("i", { className: type }), type]));
  for (const name of ["chart-tools", "chart-hint", "legend", "times"]) $(name).hidden = !charts.length;
  readPalette();
  drawCharts();
}

// The kinds of bits of slice data.
const bitKinds = ["header", "prediction", "motion", "luma", "chroma"];

// The types of blocks, each with its name on the page and the number of its colour.
function blockTypes() {
  return [["intra", "intra", 1], ["inter", "inter", 2], ["direct", model.stream.codec === "h265" ? "merged" : "direct", 3],
    ["palette", "palette", 4], ["pcm", "PCM", 5], ["skip", "skip", 6]];
}

// Charts of the blocks, if slices were read to their end.
function addStatistics() {
  const { units } = model, of = (i) => units[i].statistics, qp = (i) => of(i)?.qp;
  add("qp", "QP, pale from lowest to highest", (i) => qp(i)?.average, { shape: "marks", isTyped: true, isWhole: true,
    band: [(i) => qp(i)?.minimum, (i) => qp(i)?.maximum],
    text: (i) => qp(i) ? `QP ${shortNumber(qp(i).average)}, ${qp(i).minimum} to ${qp(i).maximum}` : "not known" });
  const sums = units.map(({ statistics }) => statistics && bitKinds.reduce((sum, kind) => sum + statistics.bits[kind], 0));
  const bits = (i) => sums[i], isKilo = sums.some((sum) => sum >= 2e4);
  add("bits", "Slice data by kind", bits, { shape: "stack", unit: isKilo ? "kbit" : "bits", scale: isKilo ? 1000 : 1, isWhole: !isKilo,
    parts: bitKinds.map((kind, place) => ({ name: kind, color: place + 1, get: (i) => of(i).bits[kind] })),
    text: (i) => of(i) ? `${plural(bits(i), "bit")}: ${shares(bitKinds.map((kind) => [kind, of(i).bits[kind]]), bits(i))}` : "not known" });
  const types = blockTypes().filter(([kind]) => units.some((_, i) => of(i)?.kinds[kind]));
  const share = (i, kind) => of(i).area ? (of(i).kinds[kind] ?? 0) / of(i).area * 100 : 0;
  add("types", "Block types by area", (i) => of(i) && share(i, "intra"), { shape: "stack", unit: "%", bounds: [0, 100],
    parts: types.map(([kind, name, color]) => ({ name, color, get: (i) => share(i, kind) })),
    text: (i) => of(i) ? shares(types.map(([kind, name]) => [name, of(i).kinds[kind] ?? 0]), of(i).area) : "not known" });
}

// Parts of a whole in percent, without those that are zero.
function shares(parts, whole) {
  return parts.filter(([, part]) => part).map(([name, part]) => `${name} ${number(part / whole * 100, 1)} %`).join(", ");
}

// Returns a line of text in place of a chart if all values are equal, or differ too little to be visible and `range` can
// describe them; undefined otherwise.
function flatText(get, { limit, text, flat = text, range, parts, band }) {
  if (parts || band?.some((each) => model.units.some((_, i) => each(i) !== get(i)))) return undefined;
  const bound = limit?.(0), step = range ? bound * 0.02 : 0;
  let low = get(0), high = low;
  for (let i = 0; i < model.units.length; i++) {
    const value = get(i);
    if (limit?.(i) !== bound) return undefined;
    if (value === low) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
    if (!(high - low <= step)) return undefined;
  }
  return low === high || low === undefined ? flat(0) + (model.units.length > 1 ? ", at all access units" : "") : range(low, high);
}

// Adds a chart; `get` returns the value of an access unit. Options: `shape` is area, bars, marks, stack or lane; `isTyped`
// selects the colours of picture types; `limit` is a line that values should not cross; `unit` and `scale` apply to the vertical
// axis, whose ends may be `bounds`; `band` has the lowest and the highest value around that of `get`; `parts` are stacked.
function add(name, title, get, options) {
  if (!model.units.length) return;
  const flat = flatText(get, options);
  if (flat !== undefined) {
    $("flat").append(element("li", {}, element("b", { textContent: title }), `: ${flat}`));
    return;
  }
  const canvas = element("canvas", { tabIndex: 0, role: "slider", id: `chart-${name}` });
  canvas.setAttribute("aria-label", title);
  const label = element("span", { className: "value" }), scale = element("div", { className: "scale" }), limit = element("span", { className: "limit" });
  scale.setAttribute("aria-hidden", "true");
  $("plots").append(element("figure", { className: options.shape }, element("figcaption", {}, element("b", { textContent: title }),
    element("span", { textContent: options.unit ?? "" }), ...(options.parts ?? []).map((part) =>
      element("span", { className: "part" }, element("i", { className: `part${part.color}` }), part.name)), limit, label), scale, canvas));
  const chart = { name, canvas, label, scaleHolder: scale, limitLabel: limit, get, ...options };
  charts.push(chart);
  canvas.addEventListener("wheel", (event) => {
    // Horizontal scrolling pans; the wheel alone scrolls the page.
    if (!event.ctrlKey && !event.metaKey) {
      if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      return setRange(view.from + event.deltaX / canvas.clientWidth * (view.to - view.from), view.to - view.from);
    }
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, at(canvas, event));
  }, { passive: false });
  // The fingers or buttons that are down: one pans, two zoom.
  const down = new Map();
  let start = null;
  const begin = () => { start = { pointers: [...down.values()].map((each) => ({ ...each })), from: view.from, to: view.to, moved: down.size > 1 }; };
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, { x: event.clientX });
    begin();
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return point(Math.floor(at(canvas, event)));
    down.get(event.pointerId).x = event.clientX;
    const box = canvas.getBoundingClientRect(), width = start.to - start.from, [one, two] = [...down.values()];
    const middle = (pair) => ((pair[0].x + pair[pair.length - 1].x) / 2 - box.left) / box.width;
    const moved = one.x - start.pointers[0].x;
    if (Math.abs(moved) > 4) start.moved = true;
    if (!start.moved) return;
    const apart = (pair) => Math.max(20, Math.abs(pair[0].x - pair[1].x));
    const next = limited(two ? width * apart(start.pointers) / apart([one, two]) : width);
    setRange(start.from + middle(start.pointers) * width - middle([...down.values()]) * next, next);
  });
  const end = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (!down.size && event.type === "pointerup" && !start.moved) choose(highest(chart, event), true);
    if (down.size) begin();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("keydown", keys);
}

function at(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return view.from + (event.clientX - box.left) / box.width * (view.to - view.from);
}

// The access unit that a click chooses. If a pixel column has several, it is the one that is drawn.
function highest(chart, event) {
  const first = Math.floor(at(chart.canvas, event));
  const last = Math.min(model.units.length, Math.ceil(first + (view.to - view.from) / chart.canvas.clientWidth));
  let best = first;
  for (let i = first + 1; i < last; i++) {
    if (chart.isLowest ? chart.get(i) < chart.get(best) : chart.get(i) > chart.get(best)) best = i;
  }
  return best;
}

// Shows the values of the access unit under the pointer in all charts. Without one, it shows the chosen access unit's.
function point(i) {
  const isThere = i >= 0 && i < model.units.length, shown = isThere ? i : view.chosen;
  const [{ canvas } = {}] = charts, line = $("pointer");
  line.hidden = !isThere;
  if (canvas) line.style.left = `${canvas.offsetLeft + (i + 0.5 - view.from) / (view.to - view.from) * canvas.clientWidth}px`;
  for (const chart of charts) chart.label.textContent = shown < 0 ? "" : `#${shown}: ${chart.text(shown)}`;
}

function limited(width) { return Math.min(Math.max(width, 8), Math.max(8, model.units.length)); }

function zoom(factor, center = (view.from + view.to) / 2) {
  const width = limited((view.to - view.from) * factor);
  setRange(center - (center - view.from) / (view.to - view.from) * width, width);
}

function setRange(from, width) {
  view.from = Math.min(Math.max(from, 0), Math.max(0, model.units.length - width));
  view.to = view.from + width;
  requestDraw();
}

function seeAll() { setRange(0, Math.max(8, model.units.length)); }

// The value of the chosen access unit, for people who cannot see the chart.
function tell(chart) {
  const { canvas } = chart;
  canvas.setAttribute("aria-valuemin", 0);
  canvas.setAttribute("aria-valuemax", model.units.length - 1);
  canvas.setAttribute("aria-valuenow", view.chosen);
  canvas.setAttribute("aria-valuetext", `Access unit ${view.chosen}: ${chart.text(view.chosen)}`);
}

window.addEventListener("resize", requestDraw);
