// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

// The testing macros do not support nonescapable values such as spans and readers. These functions take arrays.

/// Expects two values to be equal, for expressions that `#expect` does not support.
func same<Value: Equatable>(
  _ left: Value, _ right: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(left == right, sourceLocation: sourceLocation)
}

/// The bytes that hexadecimal digits stand for.
func hexadecimal(_ digits: String) throws -> [UInt8] {
  try #require(EditText.hexadecimal(Array(digits.utf8)[...]))
}

extension H264.SequenceParameterSet {
  init(bytes: [UInt8]) throws(BitstreamError) { try self.init(nalUnit: bytes.span) }
}

extension H264.PictureParameterSet {
  init(bytes: [UInt8], chromaFormat: ChromaFormat = .yuv420) throws(BitstreamError) {
    try self.init(nalUnit: bytes.span, chromaFormat: chromaFormat)
  }
}

extension H264.DecoderConfigurationRecord {
  init(bytes: [UInt8]) throws(BitstreamError) { try self.init(bytes.span) }
}

extension H264.ParameterSets {
  @discardableResult
  mutating func insert(bytes: [UInt8]) throws(BitstreamError) -> Change { try insert(bytes.span) }
}

extension H264.SliceHeader {
  init(
    bytes: [UInt8], _ sets: H264.ParameterSets, depth: Depth = .pictureIdentity
  ) throws(BitstreamError) { try self.init(nalUnit: bytes.span, parameterSets: sets, depth: depth) }
}

/// The error that `body` throws, nil if none.
func failure(_ body: () throws(BitstreamError) -> Void) -> BitstreamError? {
  do throws(BitstreamError) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// Expects a structure's syntax elements to be those of a record, because writer and reader could have the same
/// fault.
func expectRecorded(
  _ name: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ read: (SyntaxTrace) throws(BitstreamError) -> Void
) throws {
  let trace = SyntaxTrace()
  try read(trace)
  var elements: [String] = []
  for (index, element) in trace.elements.enumerated() {
    let isRepeated = index > 0 && trace.elements[index - 1].name.description == element.name.description
    if isRepeated {
      elements[elements.count - 1] += ",\(element.value)"
    } else {
      elements.append("\(element.name)=\(element.value)")
    }
  }
  try RecordFile.structures.expect(name, [elements.joined(separator: " ")], sourceLocation: sourceLocation)
}
