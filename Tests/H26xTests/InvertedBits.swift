// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Inverts each bit of the bytes in turn, lets them end early, and compares the results with a record. The record has
/// the number of errors, by element, and a digest of all results.
///
/// - Parameter read: reads the bytes, and writes them again or describes what was read.
func expectInvertedBits(
  _ name: String, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation,
  _ read: ([UInt8]) throws(BitstreamError) -> [UInt8]
) throws {
  var good = 0
  var faults: [String: Int] = [:]
  var digest = Digest()
  func add(_ bytes: [UInt8]) {
    do throws(BitstreamError) {
      for byte in try read(bytes) { digest.add(Int(byte)) }
      good += 1
    } catch {
      faults["\(error.reason) in \(error.element)", default: 0] += 1
      digest.add("\(error)")
    }
  }
  _ = try read(bytes)
  for bit in 0..<bytes.count * 8 {
    var bytes = bytes
    bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
    add(bytes)
  }
  for count in bytes.indices { add(Array(bytes[..<count])) }
  let errors = faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  try RecordFile.legalValues.expect(
    name, ["\(good) readable", errors, digest.text], sourceLocation: sourceLocation)
}

/// What a trace has recorded.
func described(_ trace: SyntaxTrace) -> [UInt8] { trace.elements.flatMap { "\($0.name)=\($0.value) ".utf8 } }
