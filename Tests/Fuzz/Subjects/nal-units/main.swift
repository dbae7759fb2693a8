// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// NAL units by a simple implementation of Annex B.
func byDefinition(_ bytes: Span<UInt8>) -> [Range<Int>] {
  var prefixes: [Int] = []
  var index = 0
  while index + 2 < bytes.count {
    if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
      prefixes.append(index)
      index += 3
    } else {
      index += 1
    }
  }
  var units: [Range<Int>] = []
  for (number, prefix) in prefixes.enumerated() {
    let start = prefix + 3
    var end = number + 1 < prefixes.count ? prefixes[number + 1] : bytes.count
    while end > start, bytes[end - 1] == 0 { end -= 1 }
    if end > start { units.append(start..<end) }
  }
  return units
}

/// The NAL units of data in pieces, with finished bytes discarded.
func inPieces(_ bytes: Span<UInt8>, _ choices: inout Choices) -> [Range<Int>] {
  var scanner = AnnexB.Scanner()
  var units: [Range<Int>] = []
  var base = 0
  var end = 0
  while true {
    let isComplete = end == bytes.count
    while let unit = scanner.next(in: bytes.extracting(base..<end), isComplete: isComplete) {
      units.append(base + unit.range.lowerBound..<base + unit.range.upperBound)
      require(unit.startCodeOffset >= 0 && 3...4 ~= unit.startCodeLength, "scanner: start code out of the data")
    }
    if isComplete { return units }
    require(scanner.searchedOffset <= end - base, "scanner: searched more than it was shown")
    if choices.flag() {
      let done = min(scanner.pendingStartCode ?? scanner.searchedOffset, scanner.searchedOffset)
      scanner.discard(done)
      base += done
    }
    end = min(bytes.count, end + 1 + choices.below(40))
  }
}

fuzz { input in
  var choices = Choices(input)
  let bytes = choices.data
  let expected = byDefinition(bytes)
  var units: [Range<Int>] = []
  var iteration = AnnexB.NALUnits(bytes)
  var last = 0
  while let unit = iteration.next() {
    require(unit.startCodeOffset >= last, "NAL units overlap")
    last = unit.range.upperBound
    units.append(unit.range)
  }
  require(units == expected, "NAL units: \(units), by definition \(expected)")
  require(inPieces(bytes, &choices) == expected, "NAL units differ when the data comes in pieces")

  for size in NALLengthSize.allCases {
    var iteration = LengthPrefixed.NALUnits(bytes, lengthSize: size)
    var position = 0
    while let range = try? iteration.next() {
      require(range.lowerBound >= position + size.byteCount && !range.isEmpty, "length-prefixed NAL units overlap")
      require(range.upperBound == iteration.position && range.upperBound <= bytes.count, "NAL unit out of the data")
      position = range.upperBound
    }
    _ = LengthPrefixed.isAnnexB(bytes, lengthSize: size)
  }
}
