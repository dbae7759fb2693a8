// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Testing

@testable import VideoDecoding

/// Slices and pictures that are sent twice, as by a network that repeats packets, and slices in disorder.
@Suite struct RepetitionTests {
  /// The NAL units of an access unit, with start codes.
  private func nalUnits(_ unit: [UInt8]) -> [[UInt8]] {
    var nalUnits: [[UInt8]] = []
    var rest = AnnexB.NALUnits(unit.span)
    while let nalUnit = rest.next() { nalUnits.append([0, 0, 0, 1] + unit[nalUnit.range]) }
    return nalUnits
  }

  private func isSlice(_ nalUnit: [UInt8]) -> Bool { 1...5 ~= nalUnit[4] & 31 }

  /// Every slice, whether the first of its picture, in its middle, or its last, and in IDR pictures and others.
  @Test(arguments: SessionConfiguration.threadings.indices) func discardsSlicesSentTwice(_ threading: Int) throws {
    let units = try mediaAccessUnits("small-slices.h264").prefix(20)
    let whole = try decodeAll(Array(units)).checksums
    var countTried = 0
    for (index, unit) in units.enumerated() {
      let parts = nalUnits(unit)
      for place in parts.indices where isSlice(parts[place]) && place % 3 == index % 3 {
        // Next to the slice, and at the end of the picture.
        for target in Set([place, parts.count]) {
          var damaged = parts
          damaged.insert(parts[place], at: target)
          var stream = Array(units)
          stream[index] = damaged.flatMap { $0 }
          let run = try decodeAll(stream, .threadings[threading])
          #expect(run.checksums == whole, "slice \(place) of access unit \(index) at \(target)")
          #expect(run.frames.allSatisfy { !$0.isCorrupt } && run.accounts(for: units.count))
          countTried += 1
        }
      }
    }
    #expect(countTried > 20)
  }

  /// One of two slices for the same place is wrong, and it is unknown which. The picture is flagged, and so are
  /// pictures that refer to it.
  @Test(arguments: SessionConfiguration.threadings.indices) func flagsDifferentSlicesForTheSamePlace(_ threading: Int)
    throws
  {
    try pictureAndSuccessorsAreFlagged(threading) { parts, slices in
      var other = parts[slices[1]]
      other[other.count - 2] ^= 0x10
      parts.insert(other, at: slices[1])
    }
  }

  /// The profile allows no other order than that of the macroblocks.
  @Test(arguments: [0, 1], SessionConfiguration.threadings.indices)
  func flagsSlicesInDisorder(_ place: Int, _ threading: Int) throws {
    try pictureAndSuccessorsAreFlagged(threading) { parts, slices in
      parts.swapAt(slices[place], slices[place + 1])
    }
  }

  private func pictureAndSuccessorsAreFlagged(
    _ threading: Int, _ damage: (inout [[UInt8]], _ slices: [Int]) -> Void
  ) throws {
    let units = Array(try mediaAccessUnits("small-slices.h264").prefix(20))
    let whole = Set(try decodeAll(units).checksums)
    for index in [0, 1, 4, 7] {
      var parts = nalUnits(units[index])
      let slices = parts.indices.filter { isSlice(parts[$0]) }
      guard slices.count > 2 else { continue }
      damage(&parts, slices)
      var damaged = units
      damaged[index] = parts.flatMap { $0 }
      let run = try decodeAll(damaged, .threadings[threading])
      #expect(run.accounts(for: units.count) && run.failures.isEmpty)
      #expect(run.frames.contains { $0.tag == UInt64(index) && $0.isCorrupt }, "\(index)")
      let silent = zip(run.frames, run.checksums).filter { !$0.isCorrupt && !whole.contains($1) }.map(\.0.tag)
      #expect(silent == [], "\(index)")
    }
  }

  /// A picture that is sent twice is decoded once: nothing is flagged, nothing differs, and the second access unit has no
  /// picture. Two IDR pictures with the same bytes are two pictures: some encoders number all of them alike.
  @Test(
    arguments: ["clip.h264", "small-slices.h264", "interlaced.h264", "open-gop.h264", "intra-refresh.h264"],
    SessionConfiguration.threadings.indices)
  func decodesPicturesSentTwiceOnce(_ name: String, _ threading: Int) throws {
    let units = Array(try mediaAccessUnits(name).prefix(40))
    let whole = try decodeAll(units).frames.map(\.fingerprint)
    for index in units.indices.dropFirst().filter({ $0 % 7 == 1 }) {
      let isIDR = nalUnits(units[index]).contains { $0[4] & 31 == 5 }
      var stream = units
      // Without parameter sets and SEI too, as where a single NAL unit is repeated.
      let parts = nalUnits(units[index]).filter { index % 2 == 0 || isSlice($0) }
      stream.insert(parts.flatMap { $0 }, at: index + 1)
      let run = try decodeAll(stream, .threadings[threading])
      #expect(run.accounts(for: stream.count))
      #expect(run.drops == (isIDR ? [] : [.noPicture]), "\(index)")
      #expect(run.frames.allSatisfy { !$0.isCorrupt })
      if !isIDR { #expect(run.frames.map(\.fingerprint) == whole, "\(index)") }
    }
  }

  /// Parameter sets that come with the second copy reach the codec all the same.
  @Test func takesParameterSetsOfARepeatedPicture() throws {
    let units = Array(try mediaAccessUnits("clip.h264").prefix(30))
    let other = try mediaAccessUnits("wide.h264")
    let sets = nalUnits(other[0]).filter { 7...8 ~= $0[4] & 31 }.flatMap { $0 }
    let tail = other.map { unit in nalUnits(unit).filter { !(7...8 ~= $0[4] & 31) }.flatMap { $0 } }
    let last = try #require(units.last)
    let run = try decodeAll(units + [last + sets] + tail)
    #expect(run.frames.map(\.fingerprint) == (try decodeAll(units).frames + decodeAll(other).frames).map(\.fingerprint))
    #expect(run.drops == [.noPicture])
  }
}
