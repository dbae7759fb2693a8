// SPDX-License-Identifier: MPL-2.0
// The inspector: the worker makes the document of a file that is dropped on the page.
let file = null;
// Returns the document of a file as pieces of text, as `h26x inspect --json` writes it.
let documentOf = null;

{
  const code = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  const module = Uint8Array.from(atob($("module").textContent), (character) => character.charCodeAt(0));
  const drop = $("drop");
  let worker = null, next = 1, runs = new Map();

  // A worker cannot be interrupted while it reads a file: for another file it is replaced.
  function renew() {
    worker?.terminate();
    for (const run of runs.values()) run.end(null);
    runs = new Map();
    worker = new Worker(code);
    worker.onmessage = ({ data }) => {
      const run = runs.get(data.id);
      if (!run) return;
      if (data.text !== undefined) run.text(data.text);
      else if (data.progress !== undefined) run.progress?.(data.progress);
      else {
        runs.delete(data.id);
        run.end(data.result);
      }
    };
    worker.postMessage({ module });
  }

  function start(request, text, progress) {
    return new Promise((end) => {
      const id = next++;
      runs.set(id, { text, progress, end });
      worker.postMessage({ ...request, id });
    });
  }

  renew();
  drop.hidden = false;
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
    });
  }
  $("file").addEventListener("change", () => { if ($("file").files.length) open($("file").files[0]); });

  async function open(chosen) {
    if (runs.size) renew();
    file = chosen;
    Object.assign(model, emptyModel(file.name));
    $("report").hidden = $("save").hidden = true;
    $("progress").textContent = "0 %";
    let rest = "";
    const result = await start({ file, fields: false }, (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) addLine(line);
    }, (part) => { $("progress").textContent = `${Math.round(part * 100)} %, ${number(model.units.length)} access units`; });
    // Another file was chosen meanwhile.
    if (file !== chosen) return;
    $("progress").textContent = ["", "The file is empty.", "Neither an H.264 or H.265 byte stream nor MP4.",
      "An MP4 that cannot be read."][result] ?? "This browser cannot read the file; it may be too large.";
    if (result === 0) {
      show();
      $("save").hidden = false;
      drop.classList.add("done");
    }
  }

  documentOf = async (chosen, fields = false) => {
    const parts = [];
    await start({ file: chosen, fields }, (text) => { parts.push(text); });
    return parts;
  };

  $("save").onclick = async () => {
    const link = element("a", { download: `${file.name}.json` });
    link.href = URL.createObjectURL(new Blob(await documentOf(file), { type: "application/jsonl" }));
    link.click();
    URL.revokeObjectURL(link.href);
  };

  // Reads one access unit again, with the parameter sets before it, as a small stream, to get fields and bytes. Of the
  // access units chosen while another is read, only the last is read.
  let reading = null;
  lookUp = (index) => {
    reading = (reading ?? Promise.resolve()).then(() => index === view.chosen ? readUnit(index) : null);
    return reading;
  };

  async function readUnit(index) {
    const unit = model.units[index], startCode = [0, 0, 0, 1], parts = [];
    if (!file || unit.size > 64 << 20) return null;
    const last = new Map();
    for (const set of model.sets) if (set.accessUnit <= index && set.bytes) last.set(`${set.type} ${set.id}`, set.bytes);
    for (const digits of last.values()) parts.push(startCode, digits.match(/../g).map((pair) => parseInt(pair, 16)));
    const bytes = new Uint8Array(await file.slice(unit.offset, unit.offset + unit.size).arrayBuffer());
    for (const nal of unit.nalUnits) parts.push(startCode, bytes.subarray(nal.offset - unit.offset, nal.offset - unit.offset + nal.size));
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
      whole.set(part, place);
      place += part.length;
    }
    let text = "";
    const codec = model.stream.codec === "h265" ? 5 : 4;
    await start({ bytes: whole, fields: true, byteCount: 4096, codec }, (more) => { text += more; });
    const all = text.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((item) => item.kind === "accessUnit")
      .flatMap((item) => item.nalUnits);
    // Without the parameter sets before it, and with the offsets of the file.
    return all.slice(-unit.nalUnits.length).map((full, place) => ({ ...full, offset: unit.nalUnits[place].offset }));
  }
}
