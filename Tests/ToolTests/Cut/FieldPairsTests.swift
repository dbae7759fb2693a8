// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import Containers

/// Fields of H.265, whose frames are known in the order of presentation.
@Suite struct FieldPairsTests {
  /// Access units by words in decoding order. A word is a time and the kind of picture: `T` (top field), `B` (bottom
  /// field), `F` (frame) or `U` (a field whose parity is not sent). `e` follows for a random access point, `s` for a RASL
  /// picture.
  private static func accessUnits(_ text: String) -> [MediaOutput.AccessUnit] {
    text.split(separator: " ").map { word in
      let time = word.prefix { $0.isNumber }
      var role = AccessUnitRole()
      role.isPresentedField = !word.contains("F")
      role.presentedField =
        switch true {
        case word.contains("T"): PresentedField(isTop: true, isSecond: nil)
        case word.contains("B"): PresentedField(isTop: false, isSecond: nil)
        default: nil
        }
      (role.isRandomAccess, role.isSkippedLeading) = (word.contains("e"), word.contains("s"))
      return MediaOutput.AccessUnit(
        bytes: [], presentation: Int64(time) ?? 0, decoding: 0, duration: 1, isKeyframe: false, role: role)
    }
  }

  @Test(
    arguments: [
      ("0Te 1B 2T 3B", [0, 0, 2, 2]), ("0Te 3B 2T 1B 6T 5B 4T 7B", [0, 2, 2, 0, 6, 4, 4, 6]),
      ("0Ue 2U 1U 3U", [0, 2, 0, 2]),
      // One is missing.
      ("0Te 2B 1T 3T 4B", [0, 1, 1, 3, 3]),
      // A frame between fields.
      ("0Te 1F 2B 3T", [0, 1, 2, 2]),
      // Decoders leave out leading pictures of the first random access point only.
      ("3Te 2Bs 4B", [3, 2, 3]), ("0Te 3Te 2Bs 1Ts 4B", [0, 3, 1, 1, 3]),
    ] as [(String, [Int64])]) func fieldsPairInTheOrderOfPresentation(text: String, frames: [Int64])
  {
    var pairs = FieldPairs()
    let accessUnits = Self.accessUnits(text)
    let leaving = accessUnits.flatMap { pairs.take($0) } + pairs.finish()
    #expect(leaving.map(\.presentation) == accessUnits.map(\.presentation))
    #expect(leaving.map(\.frameStart) == frames)
    #expect(leaving.map(\.role.isSecondField) == zip(leaving, frames).map { $0.presentation != $1 })
  }

  @Test func framesDoNotWait() {
    var pairs = FieldPairs()
    for accessUnit in Self.accessUnits("0Fe 3F 1F 2F") {
      #expect(pairs.take(accessUnit).map(\.frameStart) == [accessUnit.presentation])
    }
  }

  /// The first field is never the earliest one.
  @Test func holdsFewFieldsOfAnyStream() {
    var (pairs, leftCount) = (FieldPairs(), 0)
    let descending = (0..<300).map { "\(1000 - $0)T" }.joined(separator: " ")
    for (place, accessUnit) in Self.accessUnits(descending).enumerated() {
      leftCount += pairs.take(accessUnit).count
      #expect(place + 1 - leftCount <= 2 * Window.reorderLimit)
    }
    #expect(leftCount + pairs.finish().count == 300)
  }
}
