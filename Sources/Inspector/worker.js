// SPDX-License-Identifier: MPL-2.0
// Runs the WebAssembly module over a file, outside the page's thread.
let compiled = null, memory = null, source = null, id = 0, done = 0, told = 0, refusal = {};
const decoder = new TextDecoder();

const host = {
  read(low, high, count, target) {
    const offset = (low >>> 0) + (high >>> 0) * 4294967296;
    const end = Math.min(offset + count, source.size);
    if (end <= offset) return 0;
    const bytes = source.read(offset, end);
    new Uint8Array(memory.buffer).set(bytes, target);
    // Counts bytes, not the position in the file: MP4 may have its table at the end.
    done = Math.min(done + bytes.length, source.size);
    if (done - told > 4 << 20) {
      told = done;
      postMessage({ id, progress: done / source.size });
    }
    return bytes.length;
  },
  refuse(box, low, high, fault) {
    refusal = { box: String.fromCharCode(...[24, 16, 8, 0].map((shift) => box >>> shift & 255)), offset: (low >>> 0) + (high >>> 0) * 4294967296,
      fault: ["truncated", "badSize", "missing", "tooLarge", "unsupported", "unreadable"][fault] };
  },
  write(start, count) {
    postMessage({ id, text: decoder.decode(new Uint8Array(memory.buffer, start, count), { stream: true }) });
  },
};

function fileSource(file) {
  const reader = new FileReaderSync();
  return { size: file.size, read: (from, to) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to))) };
}

onmessage = async (event) => {
  const request = event.data;
  if (request.module) {
    const unpacked = new Blob([request.module]).stream().pipeThrough(new DecompressionStream("gzip"));
    compiled = new Response(unpacked).arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
    return;
  }
  const module = await compiled;
  id = request.id;
  source = request.file ? fileSource(request.file)
    : { size: request.bytes.length, read: (from, to) => request.bytes.subarray(from, to) };
  done = told = 0;
  refusal = {};
  try {
    // A new instance for each file, so that memory starts empty.
    const { exports } = new WebAssembly.Instance(module, { host });
    memory = exports.memory;
    const result = exports.inspect(source.size % 4294967296, Math.floor(source.size / 4294967296),
      request.fields ? 1 : 0, request.byteCount ?? 0, request.codec ?? 0);
    postMessage({ id, result, ...refusal });
  } catch (error) {
    postMessage({ id, result: -1, error: String(error) });
  }
};
