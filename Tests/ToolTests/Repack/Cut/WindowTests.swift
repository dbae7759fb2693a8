// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import Containers

/// The choice of access units and pictures, without media: pictures last 40 ms, and there is a keyframe every ten.
@Suite struct WindowTests {
  private static let tick: Int64 = 40_000_000

  /// An access unit of the picture with this number in order of presentation.
  private static func accessUnit(_ number: Int, _ start: AccessUnitRole.Start = .none) -> MediaOutput.AccessUnit {
    var role = AccessUnitRole()
    role.start = start
    return MediaOutput.AccessUnit(
      bytes: [], presentation: Int64(number) * tick, decoding: 0, duration: tick, isKeyframe: start != .none, role: role
    )
  }

  /// Pictures whose order of presentation is their decoding order.
  private static func stream(_ count: Int) -> [MediaOutput.AccessUnit] {
    (0..<count).map { accessUnit($0, $0 % 10 == 0 ? .closed : .none) }
  }

  private static func numbers(_ accessUnits: [MediaOutput.AccessUnit]) -> [Int] {
    accessUnits.map { Int($0.presentation / tick) }
  }

  /// The pictures that a window writes.
  private static func written(
    _ window: inout Window, of accessUnits: [MediaOutput.AccessUnit]
  ) throws -> [Int] {
    var written: [MediaOutput.AccessUnit] = []
    for accessUnit in accessUnits where !window.isFinished { written += try window.take(accessUnit) }
    return numbers(written + (try window.finish()))
  }

  private static func bounds(_ start: Int, _ end: Int?, _ mode: Window.Bounds.Mode = .keyframe) -> Window.Bounds {
    Window.Bounds(start: Int64(start) * tick, end: end.map { Int64($0) * tick }, mode: mode)
  }

  @Test func takesEverythingWithoutBounds() throws {
    var window = Window()
    let written = try Self.written(&window, of: Self.stream(3))
    #expect(written == [0, 1, 2])
    #expect(window.edits(offset: 0).isEmpty && window.opening == nil)
  }

  /// Files may have any times.
  @Test(arguments: [nil, 0, 25]) func takesTimesAtTheLimits(start: Int?) {
    for time in [Int64.min, .min + 1, .max - 1, .max] {
      var window = Window(start.map { Self.bounds($0, $0 + 3, .hidden) })
      for (index, accessUnit) in Self.stream(60).enumerated() {
        var accessUnit = accessUnit
        if index % 7 == 3 { (accessUnit.presentation, accessUnit.duration) = (time, .max) }
        _ = try? window.take(accessUnit)
        _ = window.distantStart
        _ = window.searched
      }
      _ = try? window.finish()
      _ = window.edits(offset: time)
      #expect(!window.isSearching || start != nil)
    }
  }

  @Test func beginsAtTheKeyframeInFrontOfTheStart() throws {
    var window = Window(Self.bounds(25, 28))
    let written = try Self.written(&window, of: Self.stream(100))
    #expect(written == Array(20..<28))
    #expect(window.isFinished)
    let opening = try #require(window.opening)
    #expect(window.shown?.start == 20 * Self.tick && opening.wanted == 25 * Self.tick && opening.origin == 0)
  }

  @Test func hidesPicturesInFrontOfTheStart() throws {
    var window = Window(Self.bounds(25, 28, .hidden))
    let written = try Self.written(&window, of: Self.stream(100))
    #expect(written == Array(20..<28))
    #expect(window.hiddenInFront == 5)
    let edits = window.edits(offset: 25 * Self.tick)
    #expect(edits == [ShownRange(start: 0, end: 3 * Self.tick, time: 0)])
  }

  @Test func countsFromTheFirstPictureThatCanBeDecoded() throws {
    // The picture in front of the first keyframe is not counted; the end is counted from the keyframe.
    let stream = [Self.accessUnit(0)] + (1..<80).map { Self.accessUnit($0, $0 % 10 == 1 ? .closed : .none) }
    var window = Window(Self.bounds(10, 12))
    let written = try Self.written(&window, of: stream)
    #expect(written == [11, 12])
    #expect(window.opening?.origin == Self.tick)
  }

  @Test func leavesOutLeadingPicturesThatNothingRefersTo() throws {
    var stream = Self.stream(20)
    var leading = [Self.accessUnit(8), Self.accessUnit(9)]
    leading[0].role.isReference = false
    // The keyframe 10 is decoded in front of 8 and 9, which are shown before it.
    stream.replaceSubrange(8...10, with: [Self.accessUnit(10, .open)] + leading)
    var window = Window(Self.bounds(10, nil))
    let written = try Self.written(&window, of: stream)
    #expect(written == [10, 9] + Array(11..<20))
    let opening = try #require(window.opening)
    #expect((opening.droppedLeading, opening.keptLeading) == (1, 1))
    #expect(opening.earliest == 9 * Self.tick)
  }

  @Test func keepsHiddenPicturesThatALaterOneNeeds() throws {
    // Picture 4 is behind the end, but decoded in front of 3.
    var window = Window(of: ShownRange(start: 0, end: 4 * Self.tick, time: 0))
    let stream = [0, 1, 2, 4, 3, 5].map { Self.accessUnit($0, $0 == 0 ? .closed : .none) }
    let written = try Self.written(&window, of: stream)
    #expect(written == [0, 1, 2, 4, 3])
    #expect(window.hiddenBehind == 1)
    #expect(window.edits(offset: 0) == [ShownRange(start: 0, end: 4 * Self.tick, time: 0)])
  }

  @Test func endsBeforeAStartBehindTheLastPicture() throws {
    var window = Window(Self.bounds(30, nil))
    let written = try Self.written(&window, of: Self.stream(20))
    #expect(written.isEmpty)
    #expect(window.searched?.duration == 20 * Self.tick)
  }

  @Test func findsAPlaceInFrontOfADistantStart() throws {
    var (near, far) = (Window(Self.bounds(200, nil)), Window(Self.bounds(2000, nil)))
    for accessUnit in Self.stream(Window.reorderLimit) {
      let written = try near.take(accessUnit) + far.take(accessUnit)
      #expect(written.isEmpty)
    }
    #expect(near.origin == 0 && near.distantStart == nil)
    #expect(far.distantStart == 75_000_000_000)
  }

  @Test(arguments: [(1990, 2000), (2005, 2000)]) func missesAKeyframeBehindThePlace(first: Int, start: Int) throws {
    var window = Window(Self.bounds(start, nil), origin: 0)
    let stream = (first..<first + 60).map { Self.accessUnit($0, $0 == first ? .closed : .none) }
    if first <= start {
      let written = try Self.written(&window, of: stream)
      #expect(written.first == first)
    } else {
      #expect(throws: CopyRefusal.self) { try Self.written(&window, of: stream) }
    }
  }

  @Test func findsThePartOfAnEditList() throws {
    let second: Int64 = 1_000_000_000
    let parts = [
      ShownRange(start: 0, end: second, time: 0), ShownRange(start: 5 * second, end: 7 * second, time: second),
    ]
    let inside = try #require(Window.Bounds(start: 3 * second / 2, end: 2 * second, mode: .keyframe).within(parts))
    #expect(inside.part == 1)
    #expect(inside.bounds == Window.Bounds(start: second / 2, end: second, mode: .keyframe, offset: second))
    #expect(Window.Bounds(start: second / 2, end: 2 * second, mode: .keyframe).within(parts) == nil)
    #expect(Window.Bounds(start: second / 2, end: nil, mode: .keyframe).within(Array(parts.prefix(1)))?.part == 0)
  }

  @Test func beginsThePresentationWithoutTimesBelowZero() {
    let window = Window(of: ShownRange(start: 3 * Self.tick, end: nil, time: 0))
    for (hasEditList, offset) in [(true, 3 * Self.tick), (false, Self.tick)] {
      var times = PresentationTimes(shift: -3 * Self.tick)
      let delay = times.begin(window, at: Self.tick, hasEditList: hasEditList)
      #expect(times.offset == offset && delay == 3 * Self.tick - offset)
      #expect(times.otherStreamOffset == offset - 3 * Self.tick)
    }
  }
}
