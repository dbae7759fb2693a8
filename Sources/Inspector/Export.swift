// SPDX-License-Identifier: MPL-2.0

// The functions that the page's worker calls, and the functions that it provides. Compiled with H26x, Slices and
// StreamReport into one WebAssembly module.

/// Reads bytes of the file at offset `low + high * 2^32` into memory. Returns how many were read.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(wasm, module: "host", name: "read")
@_extern(c)
func host_read(_ low: UInt32, _ high: UInt32, _ count: Int32, _ target: UnsafeMutablePointer<UInt8>) -> Int32

/// Takes the next bytes of the document.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(wasm, module: "host", name: "write")
@_extern(c)
func host_write(_ bytes: UnsafePointer<UInt8>, _ count: Int32)

/// Takes why an MP4 cannot be read: the box, its offset, and the number of the reason.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(wasm, module: "host", name: "refuse")
@_extern(c)
func host_refuse(_ box: UInt32, _ low: UInt32, _ high: UInt32, _ reason: Int32)

/// The file that was chosen on the page, or bytes that the page assembled.
struct HostSource: ByteSource {
  let size: UInt64

  mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    read(at: offset, count: count, appendingTo: &bytes)
    return bytes
  }

  mutating func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    guard offset < size, count > 0 else { return }
    let wanted = Int(min(UInt64(count), size - offset, UInt64(Int32.max)))
    bytes.append(addingCapacity: wanted) { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        guard let base = buffer.baseAddress else { return }
        let got = unsafe host_read(
          UInt32(truncatingIfNeeded: offset), UInt32(truncatingIfNeeded: offset >> 32), Int32(clamping: wanted), base)
        filled = max(0, min(Int(got), wanted))
      }
    }
  }
}

/// Writes the report on the file.
///
/// - Parameters:
///   - low: the size of the file, lower 32 bits.
///   - high: the size of the file, upper 32 bits.
///   - fields: 1 for every syntax element.
///   - byteCount: how many of its first bytes each NAL unit is listed with.
///   - codec: 4 for H.264, 5 for H.265, 0 to detect it.
/// - Returns: 0 for success, 1 for an empty file, 2 for neither a byte stream nor MP4, 3 for an MP4 that cannot be
///   read.
@_expose(wasm, "inspect")
@_cdecl("h26x_inspect")
func inspect(_ low: UInt32, _ high: UInt32, _ fields: Int32, _ byteCount: Int32, _ codec: Int32) -> Int32 {
  var options = ReportOptions()
  options.includesFields = fields != 0
  options.byteCount = Int(max(0, byteCount))
  do throws(ReportFailure) {
    var reporter = try StreamReporter(
      HostSource(size: UInt64(high) << 32 | UInt64(low)), options: options,
      codec: codec == 4 ? .h264 : codec == 5 ? .h265 : nil)
    var lines = JSONLines()
    while let item = reporter.next() {
      lines.append(item)
      if lines.bytes.count > 1 << 18 { write(lines.take()) }
    }
    write(lines.take())
    return 0
  } catch {
    switch error {
    case .empty: return 1
    case .mp4(let error):
      host_refuse(
        error.box.rawValue, UInt32(truncatingIfNeeded: error.offset), UInt32(truncatingIfNeeded: error.offset >> 32),
        number(of: error.reason))
      return 3
    default: return 2
    }
  }
}

/// The number that the worker uses for a reason.
private func number(of reason: MP4.ReadError.Reason) -> Int32 {
  switch reason {
  case .truncated: 0
  case .badSize: 1
  case .missing: 2
  case .tooLarge: 3
  case .unsupported: 4
  case .unreadable: 5
  }
}

private func write(_ bytes: [UInt8]) {
  unsafe bytes.withUnsafeBufferPointer { buffer in
    if let base = buffer.baseAddress { unsafe host_write(base, Int32(clamping: buffer.count)) }
  }
}
