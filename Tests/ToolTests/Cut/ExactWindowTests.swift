// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing

@testable import Containers

/// The choice of exact cuts, without media.
@Suite struct ExactWindowTests {
  // MARK: Tables

  /// Access units in the order in which they leave: `c` copied, `e` encoded, `n` needed, and the number of the picture.
  private static func text(_ leaving: [MediaOutput.AccessUnit], of stream: MadeStream) -> String {
    leaving.map { accessUnit in
      let letter =
        switch accessUnit.disposition {
        case .copied: "c"
        case .encoded: "e"
        case .needed: "n"
        case .hidden: "h"
        }
      return "\(letter)\(stream.pictures[stream.place(of: accessUnit)].number)"
    }.joined(separator: " ")
  }

  @Test(
    arguments: [
      // P-frames: from the start to the next entry, and nothing at the end.
      ("I0 P1 P2 P3 I4 P5 P6 P7", 0, 6, "c0 c1 c2 c3 c4 c5"), ("I0 P1 P2 P3 I4 P5 P6 P7", 4, nil, "c4 c5 c6 c7"),
      ("I0 P1 P2 P3 I4 P5 P6 P7", 2, 6, "n0 n1 e2 e3 c4 c5"), ("I0 P1 P2 P3 I4 P5 P6 P7", 1, 3, "n0 e1 e2"),
      // Pictures that nothing refers to are not decoded.
      ("I0 P3 b1 b2 P6 b4 b5 I7 P8", 5, 8, "n0 n3 e6 e5 c7"),
      // At the end, b4 and b5 need P6, and b7 needs nothing behind.
      ("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8", 0, 6, "c0 c3 c1 c2 n0 n3 n6 e4 e5"),
      ("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8", 0, 5, "c0 c3 c1 c2 n0 n3 n6 e4"),
      ("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8", 0, 4, "c0 c3 c1 c2"),
      ("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8", 0, 7, "c0 c3 c1 c2 c6 c4 c5"),
      ("I0 P3 b1 b2 P6 b4 b5 P9 b7 b8", 0, 3, "c0 n0 n3 e1 e2"),
      // A pyramid: pictures that are shown behind the first encoded one are encoded, too.
      ("I0 P4 B2 b1 b3 P8 B6 b5 b7", 0, 8, "c0 c4 c2 c1 c3 n0 n4 n2 n8 e6 e5 e7"),
      // Open groups.
      ("I0 P2 b1 C5 b3 b4 P7 b6", 5, nil, "c5 c7 c6"), ("I0 P2 b1 C5 b3 b4 P7 b6", 4, nil, "n0 n2 n5 e4 c5 c7 c6"),
      ("I0 P2 b1 C5 b3 b4 P7 b6", 1, nil, "n0 e2 e1 n5 e3 e4 c5 c7 c6"),
      ("I0 P2 b1 C5 b3 b4 P7 b6", 0, 5, "c0 c2 c1 n0 n2 n5 e3 e4"), ("I0 P2 b1 C5 b3 b4 P7 b6", 0, 3, "c0 c2 c1"),
      // RASL pictures are encoded, and RADL pictures are kept.
      ("I0 P1 C6 R3 r2 D5 d4 P7", 6, nil, "c6 c7"), ("I0 P1 C6 R3 r2 D5 d4 P7", 4, nil, "c6 c5 c4 c7"),
      ("I0 P1 C6 R3 r2 D5 d4 P7", 3, nil, "n0 n1 n6 e3 c6 c5 c4 c7"),
      ("I0 P1 C6 R3 r2 D5 d4 P7", 1, nil, "n0 e1 n6 e3 e2 c6 c5 c4 c7"),
      // A RADL picture that may need one in front of the range is encoded.
      ("I0 P1 I5 D2 D3 d4 P6", 3, nil, "n5 n2 e3 e4 c5 c6"), ("I0 P1 I5 d2 D3 d4 P6", 3, nil, "c5 c3 c4 c6"),
      // At the end they need the entry, which is enough to decode them.
      ("I0 P1 I4 D2 d3 P5", 0, 4, "c0 c1 n4 e2 e3"), ("I0 P1 C4 R2 d3 P5", 0, 4, "c0 c1 n0 n1 n4 e2 e3"),
      // Intra-only.
      ("I0 I1 I2 I3 I4", 1, 4, "c1 c2 c3"),
      // Fields.
      ("I0/ P1/ I2/ P3/", 1, 3, "n0 n0 e1 e1 c2 c2"), ("I0/ P2/ b1/ P3/", 0, 2, "c0 c0 n0 n0 n2 n2 e1 e1"),
      // A gradual refresh is no entry.
      ("I0 P1 G2 P3 I4 P5", 2, nil, "n0 n1 e2 e3 c4 c5"),
    ] as [(String, Int, Int?, String)])
  func chooses(text: String, start: Int, end: Int?, leaving: String) throws {
    let stream = MadeStream(text)
    #expect(try Self.text(stream.cut(start, end).leaving, of: stream) == leaving)
  }

  @Test(
    arguments: [
      // An intra picture in front of all entries is one. The source is decoded up to it.
      ("I0 P1 T2 P3 I4 P5", 1, nil, nil, "n0 e1 c2 c3 c4 c5"), ("I0 P1 T2 P3 I4 P5", 2, 4, nil, "n0 n1 c2 c3"),
      ("I0 P1 T2 P3 T4 P5", 1, nil, nil, "n0 e1 c2 c3 c4 c5"), ("T0 P1 P2", 0, 2, nil, "c0 c1"),
      // Its leading pictures may need others.
      ("I0 P2 b1 T5 b3 b4 P6", 4, nil, nil, "n0 n2 n5 e4 c5 c6"),
      ("I0/ P1/ T2/ P3/", 2, nil, nil, "n0 n0 n1 n1 c2 c2 c3 c3"),
      // One that was refused, and one behind an entry.
      ("I0 P1 T2 P3 I4 P5", 1, nil, 2, "n0 e1 e2 e3 c4 c5"), ("I0 P1 T2 P3 T4 P5", 1, nil, 2, "n0 e1 e2 e3 c4 c5"),
      ("I0 P1 I2 P3 T4 P5", 1, nil, nil, "n0 e1 c2 c3 c4 c5"),
    ] as [(String, Int, Int?, Int?, String)])
  func triesIntraPicturesThatPromiseNothing(
    text: String, start: Int, end: Int?, refused: Int?, leaving: String
  ) throws {
    let stream = MadeStream(text)
    let cut = try stream.cut(start, end, refusing: refused)
    #expect(Self.text(cut.leaving, of: stream) == leaving)
    let tried = cut.leaving.first { $0.role.isUnproven }
    #expect(cut.window.unprovenEntry == tried?.presentation)
  }

  // MARK: All ranges

  static let streams = [
    MadeStream("I0 P1 P2 P3 P4", repeated: 4), MadeStream("I0 P3 b1 b2 P6 b4 b5", repeated: 3),
    MadeStream("I0 P3 b1 b2 P6 b4 b5", repeated: 3, isUneven: true),
    // Pictures that are decoded long before they are shown.
    MadeStream("I0 P2 P4 b1 b3", repeated: 3), MadeStream("I0 P3 b1 P4 b2", repeated: 3),
    MadeStream("I0 P4 B2 b1 b3 P8 B6 b5 b7", repeated: 2), MadeStream("I0 P8 B4 B2 b1 b3 B6 b5 b7", repeated: 2),
    MadeStream("I0 P1 P2 C5 b3 b4 P7 b6 C10 b8 b9 P11"), MadeStream("C0 P3 b1 b2 C6 b4 b5 P9 b7 b8 C12 B10 b11 P13"),
    MadeStream("C0 C4 B2 b1 b3 C8 B6 b5 b7 C12 B10 b9 b11"),
    MadeStream("C0 P3 b1 b2 C8 R5 r4 r6 d7 P11 b9 b10 C15 R13 r12 D14 P16"),
    MadeStream("I0 P2 b1 I7 D5 d3 d4 d6 P9 b8 I13 D11 D10 d12 P14"), MadeStream("I0 I1 I2 I3 I4 I5 I6"),
    MadeStream("I0/ P3/ b1/ b2/ P6/ b4/ b5/", repeated: 2), MadeStream("I0/ P1 b2 I3 P5/ b4/ C8/ b6 b7/ P9"),
    MadeStream("I0 P1 G2 P3 P4 G5 P6 I7 P8 G9 P10"), MadeStream("G0 P1 P2 G3 P4 P5 C6 P7"),
  ]

  /// All ranges of short streams.
  @Test(arguments: streams) func encodesAsFewPicturesAsPossible(stream: MadeStream) throws {
    for start in stream.pictures.indices {
      for end in start + 1...stream.pictures.count { try check(stream, start, end) }
      try check(stream, start, nil)
    }
  }

  static let longStreams = [
    MadeStream("I0 P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11", repeated: 12),
    MadeStream("C0 P3 b1 b2 P6 b4 b5 P9 b7 b8 C12 b10 b11 P13", repeated: 9),
    MadeStream("I0 P4 B2 b1 b3 C8 R6 r5 d7 P12 B10 b9 b11 P13", repeated: 9),
    MadeStream("I0/ P2/ b1/ P4/ b3/ P6/ b5/ I7/ P9/ b8/", repeated: 10),
  ]

  /// Some ranges of streams that are longer than the pictures by which a window decides.
  @Test(arguments: longStreams) func encodesAsFewPicturesAsPossibleOfLongStreams(stream: MadeStream) throws {
    var random = SeededGenerator(state: 49)
    for _ in 0..<60 {
      let start = Int.random(in: stream.pictures.indices, using: &random)
      try check(stream, start, Int.random(in: start + 1...stream.pictures.count, using: &random))
    }
  }

  // MARK: Positions and limits

  /// A picture belongs to the range in which it begins. Containers round times to milliseconds.
  @Test(arguments: [
    (0.5, 3.5, [1, 2, 3]), (1, 3, [1, 2]), (1.012, 3.012, [1, 2]), (0.988, 2.988, [1, 2]), (1.02, 3.02, [2, 3]),
    (1.3, 1.7, []), (7.5, 20, []), (7, 20, [7]),
  ])
  func roundsPositions(start: Double, end: Double, numbers: [Int]) throws {
    let stream = MadeStream("I0 P1 P2 P3 I4 P5 P6 P7")
    let tick = Double(MadeStream.tick)
    var window = Window(Window.Bounds(start: Int64(start * tick), end: Int64(end * tick), mode: .exact))
    var leaving: [MediaOutput.AccessUnit] = []
    for accessUnit in stream.accessUnits { leaving += try window.take(accessUnit) }
    leaving += try window.finish()
    let shown = leaving.filter { $0.disposition != .needed }.map { stream.pictures[stream.place(of: $0)].number }
    #expect(shown == numbers)
    #expect((window.shownSpan == nil) == numbers.isEmpty)
    if let span = window.shownSpan, let first = numbers.first, let last = numbers.last {
      #expect(span.start == stream.times[first] && span.end == stream.times[last + 1])
    }
  }

  /// The duration of the last picture may be that of decoding. The source's edit list states when it ends.
  @Test(arguments: [Window.Bounds.Mode.exact, .hidden], [nil, 20] as [Int64?])
  func endsWithTheEditList(mode: Window.Bounds.Mode, end: Int64?) throws {
    let stream = MadeStream("I0 P3 b1 b2 P6 b4 b5 P7")
    let bounds = Window.Bounds(
      start: 3 * MadeStream.tick, end: end.map { $0 * MadeStream.tick }, mode: mode, isHalfOpen: true)
    let sourceEnd = stream.times[8] + 5 * MadeStream.tick
    var window = Window(bounds, of: ShownRange(start: 0, end: sourceEnd, time: 0))
    for accessUnit in stream.accessUnits {
      var accessUnit = accessUnit
      accessUnit.duration = 10 * MadeStream.tick
      _ = try window.take(accessUnit)
    }
    _ = try window.finish()
    #expect(window.shownDuration == sourceEnd - stream.times[3])
  }

  /// Positions in the middle of a frame belong to the next one.
  @Test(arguments: [(0, 1, [0]), (1, 3, [1]), (1, 2, []), (1, 5, [1, 2]), (2, 4, [1])]) func keepsFramesWhole(
    start: Int64, end: Int64, numbers: [Int]
  ) throws {
    let stream = MadeStream("I0/ P1/ P2/ P3/")
    let field = MadeStream.tick / 2
    var window = Window(Window.Bounds(start: start * field, end: end * field, mode: .exact))
    var leaving: [MediaOutput.AccessUnit] = []
    for accessUnit in stream.accessUnits { leaving += try window.take(accessUnit) }
    leaving += try window.finish()
    let shown = leaving.filter { $0.disposition != .needed }.map { stream.pictures[stream.place(of: $0)].number }
    #expect(shown == numbers.flatMap { [$0, $0] })
  }

  @Test func holdsOneGroup() throws {
    let stream = Self.longStreams[0]
    var (bounded, endless) = (Window(stream.bounds(0, 140)), Window(stream.bounds(0, nil)))
    var counts = (bounded: 0, endless: 0)
    for (index, accessUnit) in stream.accessUnits.enumerated() {
      counts.bounded += try bounded.take(accessUnit).count
      counts.endless += try endless.take(accessUnit).count
      #expect(index - counts.bounded <= 12 + Window.reorderLimit + 1)
      #expect(index - counts.endless <= Window.reorderLimit)
    }
    counts.bounded += try bounded.finish().count
    counts.endless += try endless.finish().count
    #expect(counts == (140, stream.pictures.count))
  }

  @Test(arguments: [
    ("I0 P1 G2 P3 G4 P5", 1, 5, true), ("I0 P1 G2 P3 I4 P5", 1, 5, false), ("I0 P1 P2 P3 P4 P5 G6", 1, 5, false),
    ("G0 P1 P2 P3", 0, 3, true), ("I0 P1 G2 P3 G4 P5", 0, 5, false),
  ])
  func reportsGradualRefreshWithoutAnEntry(text: String, start: Int, end: Int, isOnly: Bool) throws {
    #expect(try MadeStream(text).cut(start, end).window.hasOnlyGradualRefresh == isOnly)
  }

  @Test func countsTheAccessUnitsThatAreLeftOut() throws {
    // b1 and b2 are in front of the range, and nothing needs them; b7 and b8 are behind, in front of C9's leading picture.
    let stream = MadeStream("I0 P3 b1 b2 P5 b4 C8 b6 b7 P10")
    let (window, leaving) = try stream.cut(3, 7)
    #expect(Self.text(leaving, of: stream) == "n0 e3 e5 e4 n8 e6")
    #expect(window.tally.leftOut == [.front: 2])
    let (other, rest) = try MadeStream("I0 P3 b1 b2 P5 b4 C8 b7 b6 P10").cut(3, 7)
    #expect(rest.count == 6 && other.tally.leftOut == [.front: 2, .behind: 1])
  }

  /// Files may have any times and roles.
  @Test func takesAnything() {
    var random = SeededGenerator(state: 7)
    let times: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for round in 0..<400 {
      let stream = Self.longStreams[round % Self.longStreams.count]
      let start = Int.random(in: 0..<40, using: &random)
      let end = Bool.random(using: &random) ? start + Int.random(in: 1..<40, using: &random) : nil
      var window = Window(stream.bounds(start, end))
      var (taken, left) = (0, 0)
      for var accessUnit in stream.accessUnits where !window.isFinished {
        if Int.random(in: 0..<9, using: &random) == 0 {
          accessUnit.presentation = times.randomElement(using: &random) ?? 0
          accessUnit.duration = times.randomElement(using: &random) ?? 0
        }
        if Int.random(in: 0..<9, using: &random) == 0 {
          accessUnit.role.start = [.none, .closed, .open].randomElement(using: &random) ?? .none
          accessUnit.role.isLeading.toggle()
          accessUnit.role.isSecondField.toggle()
          accessUnit.role.frameStart = times.randomElement(using: &random)
          accessUnit.role.isReference.toggle()
        }
        taken += 1
        left += (try? window.take(accessUnit).filter { $0.disposition != .needed }.count) ?? 0
      }
      left += (try? window.finish().filter { $0.disposition != .needed }.count) ?? 0
      #expect(left <= taken)
      _ = window.shownSpan
    }
  }

  private func check(_ stream: MadeStream, _ start: Int, _ end: Int?) throws {
    let (window, leaving) = try stream.cut(start, end)
    let what: Comment = "\(stream.testDescription), \(start) to \(end ?? -1): \(Self.text(leaving, of: stream))"
    let places = { (disposition: MediaOutput.Disposition) in
      leaving.filter { $0.disposition == disposition }.map(stream.place)
    }
    // A frame's fields are next to one another.
    func pictures(_ places: [Int]) -> [Int] {
      places.indices.filter { $0 == 0 || places[$0 - 1] != places[$0] }.map { places[$0] }
    }
    let (copied, encoded) = (pictures(places(.copied)), pictures(places(.encoded)))
    let count = end ?? stream.pictures.count
    let wanted = Array(start..<count)
    let shown = (copied + encoded).map { stream.pictures[$0].number }
    #expect(shown.sorted() == wanted, what)
    #expect(encoded.count == stream.leastEncoded(start, count), what)
    #expect(window.tally.count[.copied, default: 0] == places(.copied).count, what)
    #expect(window.tally.count[.encoded, default: 0] == places(.encoded).count, what)
    #expect(window.edits(offset: 0).isEmpty, what)

    // Copied pictures come in decoding order, and refer to copied ones.
    #expect(copied == copied.sorted(), what)
    #expect(copied.isEmpty || stream.pictures[copied[0]].isEntry, what)
    for place in copied { #expect(stream.pictures[place].references.isSubset(of: copied), what) }

    // Seams come in decoding order, and have everything that their pictures refer to.
    var seam: [Int] = []
    for accessUnit in leaving {
      let place = stream.place(of: accessUnit)
      guard accessUnit.disposition != .copied else {
        seam = []
        continue
      }
      if place == seam.last { continue }
      #expect(place > seam.last ?? -1, what)
      #expect(!seam.isEmpty || stream.pictures[place].isEntry || !stream.pictures[0].isEntry, what)
      #expect(stream.pictures[place].references.isSubset(of: seam), what)
      seam.append(place)
    }
    // A seam in front is shown before the copied pictures, and one at the end behind them.
    let numbers = copied.map { stream.pictures[$0].number }
    guard let lowest = numbers.min(), let highest = numbers.max() else { return }
    let last = leaving.lastIndex { $0.disposition == .copied } ?? 0
    for (place, accessUnit) in leaving.enumerated() where accessUnit.disposition == .encoded {
      let number = stream.pictures[stream.place(of: accessUnit)].number
      #expect(place < last ? number < lowest : number > highest, what)
    }
  }
}
