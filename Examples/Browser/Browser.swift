// SPDX-License-Identifier: MPL-2.0
// H26x in a browser: the format of a byte stream, and its access units, as lines of text for page.html.
import H26x

// What the page provides.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(wasm, module: "page", name: "read")
@_extern(c)
func page_read(_ target: UnsafeMutablePointer<UInt8>)

// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(wasm, module: "page", name: "write")
@_extern(c)
func page_write(_ text: UnsafePointer<UInt8>, _ count: Int32)

/// What the page calls: lists a file of `size` bytes, which `page_read` copies into memory.
@_expose(wasm, "list")
@_cdecl("h26x_list")
func list(_ size: Int32, _ isH265: Int32) {
  let capacity = Int(max(0, size))
  let stream = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    guard let start = buffer.baseAddress else { return }
    unsafe page_read(start)
    count = capacity
  }
  if isH265 == 0 { list(stream, H264.self) } else { list(stream, H265.self) }
}

func list<Codec: VideoCodecSyntax>(_ stream: [UInt8], _: Codec.Type) {
  var scanner = Codec.Scanner()
  scanner.listsNALUnits = true
  var (start, number, described) = (0, 0, false)
  while start < stream.count {
    // The whole rest at once; a stream that arrives in pieces is drained with its last piece only.
    let finding = scanner.next(in: stream.span.extracting(start...), isMarked: false, isDraining: true)
    if case .accessUnit(let size) = finding {
      let accessUnit = scanner.takeAccessUnit()
      if !described, let format = format(scanner.parameterSets, Codec.self) {
        write(format)
        described = true
      }
      let kind = accessUnit.randomAccessOffset != nil ? "keyframe" : accessUnit.contents.contains(.bSlice) ? "B" : "P"
      write("\(number): \(size) bytes, \(accessUnit.nalUnits.count) NAL units, \(kind)")
      number += 1
    }
    // Nothing more can be found in bytes that the scanner does not get past.
    guard finding.size > 0 else { break }
    start += finding.size
  }
  if number == 0 { write("There is no access unit of \(Codec.name) in this file.") }
}

/// The line about the format, nil where the parameter sets are missing or cannot be read.
func format<Codec: VideoCodecSyntax>(_ sets: Codec.ParameterSets, _: Codec.Type) -> String? {
  guard let format = try? Codec.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil) else {
    return nil
  }
  return "\(Codec.name) \(format.profileName ?? "of an unknown profile"), level \(format.levelName ?? "unknown"), "
    + "\(format.croppedSize.width) × \(format.croppedSize.height), \(format.lumaBitDepth) bits"
}

func write(_ line: String) {
  let text = Array((line + "\n").utf8)
  unsafe text.withUnsafeBufferPointer { buffer in
    guard let start = buffer.baseAddress else { return }
    unsafe page_write(start, Int32(buffer.count))
  }
}
