// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct H265AccessUnitInspectorTests {
  /// Decoding begins in the middle, at a recovery point SEI: pictures are correct from so many POCs on (D.3.8).
  @Test(arguments: [(0x90, 0), (0x44, 1), (0x31, 3)] as [(UInt8, Int)])
  func recoveryIsCompleteFromItsPOCOn(_ payload: UInt8, _ pictureOrderCount: Int) throws {
    let stream = try H265Stream(media: "clip.h265")
    // Tags in order of output: the clip has one IDR picture, and POC counts pictures.
    let shown = try stream.decode().frames.map { Int($0.tag) }
    let place = try #require(stream.types.indices.first { $0 > 8 && stream.types[$0] == .trailingR })
    var units = Array(stream.units[place..<place + 12])
    units[0] = H265Stream.joined([[0x4E, 1, 6, 1, payload, 0x80]]) + units[0]
    var inspector = H265AccessUnitInspector(lengthSize: nil, verifiesPictureHash: false)
    let sets = stream.format.parameterSets
    inspector.insert(parameterSets: sets.video + sets.sequence + sets.picture)
    let first = try #require(shown.firstIndex(of: place))
    for (index, unit) in units.enumerated() {
      let summary = inspector.inspect(unit.span, index: UInt64(index))
      let order = try #require(shown.firstIndex(of: place + index))
      let isComplete = order >= first + pictureOrderCount
      #expect(summary.randomAccess == (index == 0 ? .recoveryPoint(frameCount: pictureOrderCount) : .none))
      #expect(summary.awaitsRecovery == !isComplete && summary.completesRecovery == isComplete, "\(index)")
      #expect(summary.recoveredSince == (isComplete ? 0 : nil))
    }
  }
}
