// SPDX-License-Identifier: MPL-2.0
// Marks the colours of a byte stream as BT.709 in limited range, and changes nothing else: edit-stream INPUT OUTPUT
import Foundation
import H26x

guard CommandLine.arguments.count == 3 else {
  FileHandle.standardError.write(Data("usage: edit-stream INPUT OUTPUT\n".utf8))
  exit(64)
}
let stream = [UInt8](try Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
let edits: [StreamEdit] = [
  .colour(ColourDescription(primaries: 1, transfer: 1, matrix: 1)), .fullRange(false),
]

/// The edited stream, and what has changed. Any number of whole NAL units may be passed to an editor at once.
func edit<Codec: StreamEditing>(_ codec: Codec.Type) throws -> (bytes: [UInt8], changes: [FieldChange]) {
  var editor = StreamEditor<Codec>(edits)
  let edited = try editor.edit(stream.span, packaging: .annexB)
  return (edited ?? stream, editor.changes)
}

let isH265 = CommandLine.arguments[1].hasSuffix("5")
let (bytes, changes) = isH265 ? try edit(H265.self) : try edit(H264.self)
try Data(bytes).write(to: URL(filePath: CommandLine.arguments[2]))
for change in changes { print(change) }
print("\(stream.count) bytes, now \(bytes.count)")
