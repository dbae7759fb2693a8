// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct H265StreamFollowerTests {
  /// Decoding begins in the middle, at a recovery point SEI: pictures are correct from so many POCs on (D.3.8).
  @Test(arguments: [(0x90, 0), (0x44, 1), (0x31, 3)] as [(UInt8, Int)])
  func recoveryIsCompleteFromItsPOCOn(_ payload: UInt8, _ pictureOrderCount: Int) throws {
    let stream = try H265Stream(media: "clip.h265")
    // Tags in order of output: the clip has one IDR picture, and POC counts pictures.
    let shown = try stream.decode().frames.map { Int($0.tag) }
    let place = try #require(stream.types.indices.first { $0 > 8 && stream.types[$0] == .trailingR })
    var units = Array(stream.units[place..<place + 12])
    units[0] = H265Stream.joined([[0x4E, 1, 6, 1, payload, 0x80]]) + units[0]
    var follower = H265StreamFollower(lengthSize: nil, verifiesPictureHash: false)
    let sets = stream.format.parameterSets
    follower.insert(parameterSets: sets.video + sets.sequence + sets.picture)
    let first = try #require(shown.firstIndex(of: place))
    for (index, unit) in units.enumerated() {
      let summary = follower.inspect(unit.span, index: UInt64(index))
      let order = try #require(shown.firstIndex(of: place + index))
      let isComplete = order >= first + pictureOrderCount
      #expect(
        summary.randomAccess == (index == 0 ? .recoveryPoint(frameCount: pictureOrderCount, isExact: false) : .none))
      #expect(summary.awaitsRecovery == !isComplete && summary.completesRecovery == isComplete, "\(index)")
      #expect(summary.recoveredSince == (isComplete ? 0 : nil))
    }
  }

  /// The summaries of a stream, or of a changed copy of it.
  private func read(
    _ units: [[UInt8]], of stream: H265Stream, _ change: (inout H265StreamFollower, Int) -> Void = { _, _ in }
  ) -> [DecodingSummary] {
    var follower = H265StreamFollower(lengthSize: nil, verifiesPictureHash: false)
    let sets = stream.format.parameterSets
    follower.insert(parameterSets: sets.video + sets.sequence + sets.picture)
    var summaries: [DecodingSummary] = []
    for (index, unit) in units.enumerated() {
      change(&follower, index)
      summaries.append(follower.inspect(unit.span, index: UInt64(index)))
    }
    return summaries
  }

  /// Each access unit of a stream with leading pictures, by the type of its slices.
  @Test func classifiesPicturesByType() throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let summaries = read(stream.units, of: stream)
    #expect(stream.types.contains { $0?.isLeading == true } && stream.types.dropFirst().contains(.cra))
    for (index, summary) in summaries.enumerated() {
      let type = try #require(stream.types[index])
      #expect(summary.nalUnitType == type.rawValue && summary.isLeading == type.isLeading)
      #expect(summary.randomAccess == (index == 0 ? .idr : type == .cra ? .cra : .none))
      #expect(summary.completesRecovery == type.isIRAP && !summary.awaitsRecovery && summary.recoveredSince == nil)
      #expect(summary.isDiscardable == type.isSubLayerNonReference)
      #expect(summary.isReference && summary.isShown && !summary.isSkipped && !summary.isIncomplete)
      #expect(!summary.beginsOtherSequence && !summary.endsSequence && summary.hash == nil)
      let references = try #require(summary.references)
      #expect(references.areComplete && references.pictures.allSatisfy { $0 < index })
      #expect(references.kept.contains(UInt64(index)) && references.pictures.isEmpty == type.isIRAP)
    }
  }

  /// Where decoding begins at a CRA picture, the pictures that lead it are left out, and the rest is complete.
  @Test func skipsLeadingPicturesAfterAStart() throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let start = try #require(stream.types.indices.dropFirst().first { stream.types[$0] == .cra })
    let summaries = read(Array(stream.units[start...]), of: stream)
    #expect(summaries[0].randomAccess == .idr)
    let next = try #require(summaries.indices.dropFirst().first { summaries[$0].randomAccess == .cra })
    #expect(summaries[..<next].contains { $0.isSkipped })
    for (index, summary) in summaries.enumerated() {
      let isRASL = stream.types[start + index].map { $0 == .raslN || $0 == .raslR } == true
      #expect(summary.isSkipped == (isRASL && index < next))
      if !summary.isSkipped { #expect(summary.references?.areComplete == true) }
    }
  }

  /// The end of a sequence, in front of a CRA picture, behind the one before, or by itself, makes it a start.
  @Test(arguments: [0, 1, 2]) func anEndOfSequenceMakesTheNextCRAPictureAStart(_ place: Int) throws {
    let stream = try H265Stream(media: "open-gop.h265")
    let cra = try #require(stream.types.indices.dropFirst().first { stream.types[$0] == .cra })
    var units = Array(stream.units[...cra])
    let end: [UInt8] = [0, 0, 0, 1, 72, 1]
    switch place {
    case 0: units[cra] = end + units[cra]
    case 1: units[cra - 1] += end
    default: units.insert(end, at: cra)
    }
    let summaries = read(units, of: stream)
    #expect(summaries.last?.randomAccess == .idr && summaries.count { $0.endsSequence } == 1)
    #expect(summaries.count { $0.randomAccess == .cra } == 0)
  }

  /// References are missing if their picture is missing, or if no decoded picture is left.
  @Test(arguments: [0, 1, 2, 3]) func reportsMissingReferences(_ loss: Int) throws {
    let stream = try H265Stream(media: "clip.h265")
    let whole = read(Array(stream.units.prefix(12)), of: stream)
    let user = try #require(whole.indices.first { $0 > 4 && whole[$0].references?.pictures.isEmpty == false })
    let lost = try #require(whole[user].references?.pictures.max())
    let summaries = read(Array(stream.units.prefix(12)), of: stream) { follower, index in
      guard index == user else { return }
      switch loss {
      case 0: follower.pictureIsMissing(lost)
      case 1: follower.pictureIsMissing(1000)
      case 2: follower.reset(keepsReferences: true)
      default: follower.reset(keepsReferences: false)
      }
    }
    #expect(summaries[..<user].allSatisfy { $0.references?.areComplete == true })
    #expect(summaries[user].references?.areComplete == (loss == 1 || loss == 2))
    #expect(summaries[user].references?.pictures.contains(lost) == (loss == 1 || loss == 2))
  }

  /// A picture whose first slice segment comes twice, not at all, or cut off.
  @Test(arguments: [("whole", false), ("twice", true), ("cut off", true), ("with a stump", true)])
  func findsRepeatedAndMissingSliceSegments(_ change: String, _ isIncomplete: Bool) throws {
    let stream = try H265Stream(media: "clip.h265")
    var nalUnits = H265Stream.nalUnits(stream.units[3])
    let slice = try #require(nalUnits.firstIndex { H265.NALUnitType(headerByte: $0[0]).isVCL })
    let stump = Array(nalUnits[slice].prefix(2))
    switch change {
    case "twice": nalUnits.insert(nalUnits[slice], at: slice)
    case "cut off": nalUnits[slice] = stump
    case "with a stump": nalUnits.append(stump)
    default: break
    }
    let summaries = read(Array(stream.units[..<3]) + [H265Stream.joined(nalUnits)], of: stream)
    #expect(summaries.map(\.isIncomplete) == [false, false, false, isIncomplete])
    #expect(summaries[3].nalUnitType == stream.types[3]?.rawValue && summaries[3].isReference)
  }

  /// A slice segment of the next picture that got into an access unit does not describe it.
  @Test func describesThePictureByItsFirstSliceSegment() throws {
    let stream = try H265Stream(media: "clip.h265")
    let whole = read(Array(stream.units.prefix(12)), of: stream)
    for place in 2..<11 {
      let mixed = stream.units[place] + stream.units[place + 1]
      let summary = read(Array(stream.units[..<place]) + [mixed], of: stream)[place]
      #expect(summary.references?.pictures == whole[place].references?.pictures && summary.isIncomplete)
      #expect(summary.references?.areComplete == true && summary.isDiscardable == whole[place].isDiscardable)
    }
  }
}
