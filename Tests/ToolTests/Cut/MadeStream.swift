// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import Containers

/// A stream without media, of pictures in decoding order, with a model of the pictures that each may refer to.
///
/// A picture is a letter and its number in the order of presentation:
///
/// - `I`: an entry that no later picture refers beyond (IDR). `C`: an entry whose leading pictures may (CRA, or a
///   recovery point of H.264).
/// - `S`: the same, a recovery point that cannot become an IDR picture.
/// - `P`, `B`: a reference picture. `b`: a picture to which none refers.
/// - `R`, `r`: a RASL picture of H.265. `D`, `d`: a RADL picture. Capitals are reference pictures.
/// - `T`: an intra picture that promises nothing, a reference picture. No later picture refers beyond.
/// - `G`: a reference picture at which a gradual refresh begins.
/// - A slash after the number: two fields.
struct MadeStream: CustomTestStringConvertible, Sendable {
  struct Picture: Sendable {
    let kind: Character
    let number: Int
    let hasFields: Bool
    /// The places in the stream of the pictures that it may refer to.
    var references: Set<Int> = []

    var isEntry: Bool { "ICS".contains(kind) }
    var isReference: Bool { kind.isUppercase }
  }

  let testDescription: String
  private(set) var pictures: [Picture] = []
  /// Presentation times by number, in nanoseconds.
  let times: [Int64]

  static let tick: Int64 = 40_000_000

  /// - Parameters:
  ///   - text: pictures, separated by spaces.
  ///   - repeated: how often they come, each time with numbers that are higher by the count of the pictures.
  ///   - isUneven: whether pictures last 1, 2, 3, 1, 2, 3, … ticks.
  init(_ text: String, repeated: Int = 1, isUneven: Bool = false) {
    testDescription = repeated > 1 ? "\(repeated) × \(text)" : text
    let words = text.split(separator: " ")
    for round in 0..<repeated {
      for word in words {
        let digits = word.dropFirst().prefix { $0 != "/" }
        pictures.append(
          Picture(
            kind: word.first ?? "P", number: (Int(digits) ?? 0) + round * words.count, hasFields: word.last == "/"))
      }
    }
    let last = pictures.map(\.number).max() ?? 0
    var (times, time): ([Int64], Int64) = ([], 0)
    for number in 0...last + 1 {
      times.append(time)
      time += Self.tick * Int64(isUneven ? 1 + number % 3 : 1)
    }
    self.times = times
    for place in pictures.indices { pictures[place].references = references(of: place) }
  }

  // MARK: References

  /// The entry of a picture: the last one that is decoded up to it.
  private func entry(of place: Int) -> Int? { pictures[...place].lastIndex { $0.isEntry } }

  private func references(of place: Int) -> Set<Int> {
    let picture = pictures[place]
    guard !picture.isEntry else { return [] }
    guard let entry = entry(of: place) else {
      return Set(pictures.indices[..<place].filter { pictures[$0].isReference })
    }
    let since = (entry..<place).filter { pictures[$0].isReference }
    let first = pictures[entry]
    guard picture.number < first.number else { return Set(since.filter { pictures[$0].number >= first.number }) }
    let isDecodable = first.kind == "I" || "Dd".contains(picture.kind)
    let own = since.filter { !isDecodable || !"R".contains(pictures[$0].kind) }
    guard !isDecodable, entry > 0 else { return Set(own) }
    // Pictures in front of the entry, those from which decoding it is right.
    let before = self.entry(of: entry - 1)
    let lowest = before.map { pictures[$0].number } ?? 0
    return Set(
      own + ((before ?? 0)..<entry).filter { pictures[$0].isReference && pictures[$0].number >= lowest })
  }

  // MARK: Access units

  var accessUnits: [MediaOutput.AccessUnit] {
    pictures.enumerated().flatMap { place, picture -> [MediaOutput.AccessUnit] in
      var role = AccessUnitRole()
      role.start = picture.kind == "I" ? .closed : "CS".contains(picture.kind) ? .open : .none
      role.canBeginAnew = picture.kind != "S"
      role.isLeading = "RrDd".contains(picture.kind)
      role.isSkippedLeading = "Rr".contains(picture.kind)
      role.isReference = picture.isReference
      role.isIntra = picture.isEntry || picture.kind == "T"
      role.mayBeEntry = picture.kind == "T"
      role.isRandomAccess = picture.isEntry || picture.kind == "G"
      role.isGradual = picture.kind == "G"
      let (time, next) = (times[picture.number], times[picture.number + 1])
      var accessUnit = MediaOutput.AccessUnit(
        bytes: [], presentation: time, decoding: Int64(place), duration: next - time, isKeyframe: role.isKeyframe,
        role: role)
      guard picture.hasFields else { return [accessUnit] }
      accessUnit.duration /= 2
      var second = accessUnit
      second.presentation += accessUnit.duration
      second.role.start = .none
      (second.role.isSecondField, second.role.frameStart) = (true, accessUnit.presentation)
      return [accessUnit, second]
    }
  }

  /// The place of an access unit's picture.
  func place(of accessUnit: MediaOutput.AccessUnit) -> Int { Int(accessUnit.decoding) }

  /// The bounds of a range of pictures.
  func bounds(_ start: Int, _ end: Int?, _ mode: Window.Bounds.Mode = .exact) -> Window.Bounds {
    Window.Bounds(start: times[start], end: end.map { times[$0] }, mode: mode)
  }

  /// A window on a range of pictures, and the access units that leave it.
  ///
  /// - Parameter refused: the last intra picture that is no entry.
  func cut(
    _ start: Int, _ end: Int?, refusing refused: Int? = nil
  ) throws -> (window: Window, leaving: [MediaOutput.AccessUnit]) {
    var bounds = bounds(start, end)
    if let refused { bounds.refusedTime = times[refused] }
    var window = Window(bounds)
    var leaving: [MediaOutput.AccessUnit] = []
    for accessUnit in accessUnits where !window.isFinished { leaving += try window.take(accessUnit) }
    leaving += try window.finish()
    return (window, leaving)
  }

  // MARK: The least work

  /// The smallest number of pictures of a range that must be encoded, by trying: the others are neighbors in the order
  /// of presentation, begin with an entry in decoding order, and refer only to one another.
  func leastEncoded(_ start: Int, _ end: Int) -> Int {
    let order = pictures.indices.filter { start..<end ~= pictures[$0].number }
      .sorted { pictures[$0].number < pictures[$1].number }
    for count in stride(from: order.count, to: 0, by: -1) {
      for first in 0...order.count - count where isCopyable(Set(order[first..<first + count])) {
        return order.count - count
      }
    }
    return order.count
  }

  private func isCopyable(_ copied: Set<Int>) -> Bool {
    guard let first = copied.min(), pictures[first].isEntry else { return false }
    return copied.allSatisfy { pictures[$0].references.isSubset(of: copied) }
  }
}
