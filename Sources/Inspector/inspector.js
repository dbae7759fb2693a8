// SPDX-License-Identifier: MPL-2.0
// The inspector: a worker creates the document of a file that is dropped on the page.
let file = null;
// Returns the document of a file as pieces of text, as `h26x inspect --json` writes it.
let documentOf = null;

{
  const code = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  const module = Uint8Array.from(atob($("module").textContent), (character) => character.charCodeAt(0));
  const drop = $("drop");
  const changed = "The file has changed, or can no longer be read; choose it again.";

  // A worker and its unanswered requests. A worker cannot be interrupted, so stopping it replaces it.
  class Reader {
    runs = new Map();
    next = 1;
    worker = null;

    begin() {
      this.worker = new Worker(code);
      this.worker.onmessage = ({ data }) => {
        const run = this.runs.get(data.id);
        if (!run) return;
        if (data.text !== undefined) run.text(data.text);
        else if (data.progress !== undefined) run.progress?.(data.progress);
        else {
          this.runs.delete(data.id);
          run.end(data);
        }
      };
      this.worker.postMessage({ module });
    }

    // Ends all requests without a result.
    stop() {
      if (!this.runs.size) return;
      this.worker.terminate();
      for (const run of this.runs.values()) run.end({ result: null });
      this.runs.clear();
      this.worker = null;
    }

    // Returns the result, or the reason that there is none.
    run(request, text, progress) {
      if (!this.worker) this.begin();
      return new Promise((end) => {
        const id = this.next++;
        this.runs.set(id, { text, progress, end });
        this.worker.postMessage({ ...request, id });
      });
    }
  }

  // One for the document, one to save it, and one for access units, so that none waits for another.
  const whole = new Reader(), saving = new Reader(), units = new Reader();

  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") dropped(event.dataTransfer);
    });
  }
  // Allows choosing the same file again: browsers report only a change of the value.
  $("file").addEventListener("click", () => { $("file").value = ""; });
  $("file").addEventListener("change", () => { if ($("file").files.length) open($("file").files[0]); });

  function dropped({ files, items }) {
    if (!files.length) return;
    const isFolder = [...items].some((item) => item.webkitGetAsEntry?.()?.isDirectory);
    if (isFolder) return refuse(files[0], "a folder; drop one file");
    open(files[0], files.length > 1 ? `Only the first of ${number(files.length)} files is shown.` : "");
  }

  // Forgets the previous file, so that none of its data appears beside the new name.
  function forget(name) {
    for (const each of [whole, saving, units]) each.stop();
    reading = Promise.resolve();
    file = null;
    Object.assign(model, emptyModel(name));
    $("report").hidden = $("nav").hidden = $("save").hidden = $("busy").hidden = true;
    $("save").disabled = false;
    $("save").textContent = "Save as JSON";
    $("title").textContent = name;
    $("facts").textContent = "";
    document.title = `${name} – Stream inspector`;
    drop.classList.remove("done");
  }

  // Shows how much of the file has been read.
  function advance(part) {
    $("bar").value = part;
    $("progress").textContent = `${Math.floor(part * 100)} %, ${plural(model.units.length, "access unit")}`;
  }

  function refuse(chosen, why) {
    forget(chosen.name);
    $("progress").textContent = `${chosen.name}: ${why}.`;
  }

  async function open(chosen, note = "") {
    forget(chosen.name);
    file = chosen;
    $("about").hidden = true;
    $("busy").hidden = false;
    advance(0);
    const why = await known(chosen);
    if (file !== chosen) return;
    if (why) return refuse(chosen, why);
    let rest = "";
    const answer = await whole.run({ file, fields: false }, (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) addLine(line);
    }, advance);
    // Another file was chosen in the meantime.
    if (file !== chosen) return;
    if (answer.result !== 0) return refuse(chosen, reason(answer));
    $("busy").hidden = true;
    $("progress").textContent = note;
    show();
    $("save").hidden = false;
    drop.classList.add("done");
  }

  $("stop").onclick = () => {
    forget("Stream inspector");
    $("file").value = "";
    $("progress").textContent = "Stopped.";
    $("about").hidden = false;
    document.title = "Stream inspector";
  };

  // First bytes of files that the inspector cannot read. Start codes in such files are coincidence.
  const kinds = [
    [[0x1a, 0x45, 0xdf, 0xa3], "Matroska or WebM", true], [[0x46, 0x4c, 0x56, 1], "FLV", true], [[0x52, 0x49, 0x46, 0x46], "AVI or another RIFF file", true],
    [[0x1f, 0x8b], "compressed with gzip; decompress it first"], [[0x42, 0x5a, 0x68], "compressed with bzip2; decompress it first"],
    [[0xfd, 0x37, 0x7a], "compressed with xz; decompress it first"], [[0x50, 0x4b, 3, 4], "a ZIP archive; unpack it first"],
    [[0x89, 0x50, 0x4e, 0x47], "a PNG picture"], [[0xff, 0xd8, 0xff], "a JPEG picture"], [[0x25, 0x50, 0x44, 0x46], "a PDF document"],
    [[0x4f, 0x67, 0x67, 0x53], "Ogg, which has no H.264 or H.265"],
  ];

  async function known(chosen) {
    let front;
    try { front = new Uint8Array(await chosen.slice(0, 400).arrayBuffer()); } catch { return "cannot be read: a folder, or no longer there"; }
    const isTransport = [0, 4].some((start) => [0, 1].every((packet) => front[start + packet * (188 + start)] === 0x47));
    const [, kind, isContainer] = isTransport ? [, "MPEG-TS", true] : kinds.find(([bytes]) => bytes.every((byte, place) => front[place] === byte)) ?? [];
    return isContainer ? `${kind}, which this page does not read; h26x report ${quoted(chosen.name)} -o report.html does` : kind;
  }

  // In the program's words.
  function reason({ result, box, offset, fault }) {
    const place = `box ${box} at byte ${offset}`;
    if (result === 1) return "empty; expected H.264 or H.265";
    if (result === 2) return "no H.264 or H.265 found; expected a byte stream, MP4 or MOV";
    if (result !== 3) return "too large for this browser, or changed during reading";
    if (fault === "missing") return box === "moov" ? "MP4 without its table of contents (box moov): cut off, or never finished" : "MP4 without H.264 or H.265 video";
    if (fault === "unsupported") return `MP4 whose ${place} is unsupported`;
    if (fault === "tooLarge") return `MP4 whose ${place} is implausibly large`;
    return fault === "unreadable" ? `cannot be read at byte ${offset}` : `MP4 that is cut off or damaged in its ${place}`;
  }

  // A file name, quoted for a shell if necessary.
  function quoted(name) { return /^[\w.+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`; }

  documentOf = async (chosen, fields = false, progress = undefined) => {
    const parts = [];
    const { result } = await saving.run({ file: chosen, fields }, (text) => { parts.push(text); }, progress);
    if (result !== 0) throw new Error(result === null ? "stopped" : changed);
    return parts;
  };

  $("save").onclick = async () => {
    const chosen = file, button = $("save");
    button.disabled = true;
    button.textContent = "Saving…";
    try {
      const parts = await documentOf(chosen, false, (part) => { button.textContent = `Saving, ${Math.floor(part * 100)} %`; });
      const link = element("a", { download: `${chosen.name}.json` });
      link.href = URL.createObjectURL(new Blob(parts, { type: "application/jsonl" }));
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      // Opening another file stops the saving.
      if (file === chosen) $("progress").textContent = error.message;
    }
    if (file !== chosen) return;
    button.disabled = false;
    button.textContent = "Save as JSON";
  };

  // If several access units are chosen while one is being read, only the last of them is read.
  let reading = Promise.resolve();
  lookUp = (index) => {
    const chosen = file;
    const result = reading.then(() => index === view.chosen && file === chosen ? readUnit(index) : {}).catch(() => ({ error: changed }));
    reading = result;
    return result;
  };

  readFields = (index) => {
    const chosen = file;
    const result = reading.then(() => file === chosen ? readUnit(index) : {}).catch(() => ({}));
    reading = result;
    return result;
  };

  // Reads one access unit again, with the parameter sets before it, as a small stream, to get fields and bytes.
  async function readUnit(index) {
    const unit = model.units[index], startCode = [0, 0, 0, 1], parts = [], limit = 64 << 20;
    if (!file) return {};
    if (unit.size > limit) return { error: `Its syntax elements and bytes are not shown: it is larger than ${number(limit)} bytes.` };
    // Parameter sets within the access unit come with its bytes.
    const last = new Map();
    for (const set of model.sets) {
      if (set.bytes && (set.accessUnit < index || set.outOfBand && set.accessUnit === index)) last.set(`${set.type} ${set.id}`, set.bytes);
    }
    for (const digits of last.values()) parts.push(startCode, digits.match(/../g).map((pair) => parseInt(pair, 16)));
    const bytes = new Uint8Array(await file.slice(unit.offset, unit.offset + unit.size).arrayBuffer());
    for (const nal of unit.nalUnits) parts.push(startCode, bytes.subarray(nal.offset - unit.offset, nal.offset - unit.offset + nal.size));
    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
      joined.set(part, place);
      place += part.length;
    }
    let text = "";
    const codec = model.stream.codec === "h265" ? 5 : 4;
    const { result } = await units.run({ bytes: joined, fields: true, byteCount: 4096, codec }, (more) => { text += more; });
    if (result === null) return {};
    if (result !== 0) return { error: "Its syntax elements cannot be read." };
    const all = text.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((item) => item.kind === "accessUnit")
      .flatMap((item) => item.nalUnits);
    // Drops the parameter sets in front, and restores the file's offsets.
    return { nalUnits: all.slice(-unit.nalUnits.length).map((full, place) => ({ ...full, offset: unit.nalUnits[place].offset })) };
  }
}
