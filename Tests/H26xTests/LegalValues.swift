// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// A structure with its bits, of which one syntax element is replaced.
private struct SyntaxStructure {
  /// Reads the structure, and writes it again or describes what was read.
  typealias Read = ([UInt8], SyntaxTrace?) throws(BitstreamError) -> [UInt8]

  let bits: [Bool]
  let elements: [SyntaxTrace.Element]
  let read: Read

  init(_ nalUnit: [UInt8], _ read: @escaping Read) throws(BitstreamError) {
    let trace = SyntaxTrace()
    _ = try read(nalUnit, trace)
    var reader = BitReader(nalUnit.span)
    var bits: [Bool] = []
    while let bit = try? reader.flag("bit") { bits.append(bit) }
    // Without the trailing bits, which move.
    let end = bits.lastIndex(of: true) ?? 0
    self.bits = Array(bits[..<end])
    elements = trace.elements.filter { $0.bitOffset + $0.bitCount <= end }
    self.read = read
  }

  /// The NAL unit with an Exp-Golomb code in place of an element, cut off a little after it.
  private func nalUnit(_ element: SyntaxTrace.Element, code: UInt32) -> [UInt8] {
    var writer = BitWriter()
    write(bits[..<element.bitOffset], to: &writer)
    writer.ue(code)
    write(bits.dropFirst(element.bitOffset + element.bitCount).prefix(64), to: &writer)
    writer.trailingBits()
    return writer.bytes
  }

  /// The NAL unit with one inverted bit.
  func nalUnit(inverting index: Int) -> [UInt8] {
    var bits = bits
    bits[index].toggle()
    var writer = BitWriter()
    write(bits[...], to: &writer)
    writer.trailingBits()
    return writer.bytes
  }

  private func write(_ bits: ArraySlice<Bool>, to writer: inout BitWriter) {
    var (word, count) = (UInt32(0), 0)
    for bit in bits {
      word = word << 1 | (bit ? 1 : 0)
      count += 1
      if count == 32 {
        writer.u(32, word)
        (word, count) = (0, 0)
      }
    }
    writer.u(count, word)
  }

  /// Whether an element may have the value of a code number.
  private func isLegal(_ element: SyntaxTrace.Element, code: UInt32) -> Bool {
    do throws(BitstreamError) {
      _ = try read(nalUnit(element, code: code), nil)
      return true
    } catch {
      // Other elements may depend on it.
      return error.reason != .valueOutOfRange || error.bitOffset != element.bitOffset
    }
  }

  /// The least and the greatest code number that an element may have, around that which it has.
  private func legalCodes(_ element: SyntaxTrace.Element, code: UInt32, step: UInt32) -> ClosedRange<UInt32> {
    /// The number of steps to the last legal code.
    func steps(_ most: UInt32, _ codeAfter: (UInt32) -> UInt32) -> UInt32 {
      if isLegal(element, code: codeAfter(most)) { return most }
      var (legal, illegal) = (UInt32(0), UInt32(1))
      while illegal < most, isLegal(element, code: codeAfter(illegal)) {
        legal = illegal
        illegal = illegal > most / 4 ? most : illegal * 4
      }
      while illegal - legal > 1 {
        let middle = legal + (illegal - legal) / 2
        if isLegal(element, code: codeAfter(middle)) { legal = middle } else { illegal = middle }
      }
      return legal
    }
    let least = code - steps(code / step) { code - $0 * step } * step
    return least...(code + steps((UInt32.max - 1 - code) / step) { code + $0 * step } * step)
  }

  /// The legal values of an element with an Exp-Golomb code; nil for other elements.
  func legalValues(ofElementAt index: Int) -> String? {
    let element = elements[index]
    let trace = SyntaxTrace()
    _ = try? read(nalUnit(element, code: 2), trace)
    // The code number 2 is 2 when it is unsigned, −1 when it is signed; no fixed length makes either of it.
    guard index < trace.elements.count else { return nil }
    switch trace.elements[index].value {
    case 2:
      let codes = legalCodes(element, code: UInt32(truncatingIfNeeded: element.value), step: 1)
      return codes.upperBound == .max - 1 ? "\(codes.lowerBound)..." : "\(codes.lowerBound)...\(codes.upperBound)"
    case -1:
      // Odd code numbers are positive, even ones are not.
      let positive = isLegal(element, code: 1) ? legalCodes(element, code: 1, step: 2).upperBound / 2 + 1 : 0
      let negative = legalCodes(element, code: 0, step: 2).upperBound / 2
      return "-\(negative)...\(positive)"
    default: return nil
    }
  }
}

/// Expects the legal values of a structure's syntax elements to be those of a record, and what becomes of the structure
/// when a bit of it is inverted.
///
/// - Parameter read: reads the structure, and writes it again or describes what was read.
func expectLegalValues(
  _ name: String, _ nalUnit: [UInt8], sourceLocation: SourceLocation = #_sourceLocation,
  _ read: @escaping ([UInt8], SyntaxTrace?) throws(BitstreamError) -> [UInt8]
) throws {
  let structure = try SyntaxStructure(nalUnit, read)
  var seen: Set<String> = []
  var ranges: [String] = []
  var faults: [String] = []
  var digest = Digest()
  for (index, element) in structure.elements.enumerated() where seen.insert(element.name.description).inserted {
    if let values = structure.legalValues(ofElementAt: index) {
      ranges.append("\(element.name)=\(values)")
      continue
    }
    // The most and the least significant bit of a number.
    for bit in Set([element.bitOffset, element.bitOffset + element.bitCount - 1]).sorted() {
      do throws(BitstreamError) {
        for byte in try read(structure.nalUnit(inverting: bit), nil) { digest.add(Int(byte)) }
      } catch {
        faults.append("\(element.name): \(error)")
      }
    }
  }
  try RecordFile.legalValues.expect(
    name, [ranges.joined(separator: " "), faults.joined(separator: "; "), digest.text], sourceLocation: sourceLocation)
}
