// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

private let frame = TimestampGenerator.ticksPerFrame

@Suite struct TimestampGeneratorTests {
  typealias Picture = TimestampGenerator.Picture

  private func run(
    _ pictures: [Picture], lookAhead: Int = 8, depth: Int? = nil, decodingOrder: Bool = false
  ) -> [TimestampGenerator.Timestamps] {
    var generator = TimestampGenerator(
      lookAhead: Array(pictures.prefix(lookAhead)), reorderDepth: depth, followsDecodingOrder: decodingOrder)
    return pictures.map { generator.next($0) }
  }

  /// Presentation times, from the first shown picture on.
  private func shown(_ times: [TimestampGenerator.Timestamps]) -> [Int64] {
    let first = times.map(\.presentation).min() ?? 0
    return times.map { $0.presentation - first }
  }

  private func frames(_ orders: [Int32]) -> [Picture] {
    orders.enumerated().map { Picture(order: $1, resetsPOC: $0 == 0) }
  }

  private func checkRules(_ times: [TimestampGenerator.Timestamps]) {
    for (index, time) in times.enumerated() {
      #expect(time.decoding >= 0)
      #expect(time.decoding <= time.presentation)
      if index > 0 { #expect(time.decoding >= times[index - 1].decoding) }
    }
  }

  /// 3:2 pulldown from either phase, doubled and tripled frames, with up to three B-frames between P-frames.
  @Test(arguments: [[3, 2], [2, 3], [4], [6]], 0...3 as ClosedRange<Int32>)
  func repeatedFieldsTakeTime(_ cadence: [Int], _ between: Int32) {
    var pictures = [Picture(order: 0, resetsPOC: true)]
    for anchor in stride(from: between + 1, through: 48, by: Int(between) + 1) {
      pictures.append(Picture(order: 2 * anchor, resetsPOC: false))
      for order in (anchor - between)..<anchor { pictures.append(Picture(order: 2 * order, resetsPOC: false)) }
    }
    for index in pictures.indices {
      pictures[index].fieldPeriods = cadence[Int(pictures[index].order) / 2 % cadence.count]
    }
    let times = run(pictures, depth: between > 0 ? 1 : 0)
    checkRules(times)
    let shown = times.sorted { $0.presentation < $1.presentation }
    // The first frames do not show yet which of them are longer: that the second one is, is not known when the third is
    // decoded before it.
    let known = cadence == [2, 3] && between > 0 ? Int(between) + 2 : 0
    for (time, next) in zip(shown.dropFirst(known), shown.dropFirst(known + 1)) {
      #expect(next.presentation == time.presentation + time.duration)
    }
    for (picture, time) in zip(pictures, times) { #expect(time.duration == Int64(picture.fieldPeriods) * frame / 2) }
    // A container adds up what lies between decoding times.
    let total = shown.reduce(0) { $0 + $1.duration }
    let stored = (times.last?.decoding ?? 0) + (times.last?.duration ?? 0)
    #expect(abs(stored - total) <= (cadence == [2, 3] ? frame : frame / 2))
  }

  @Test(arguments: [1, 2, 4] as [Int32]) func acceptsAnyStepOfPOC(_ step: Int32) {
    let places: [Int32] = [0, 3, 1, 2, 6, 4, 5]
    let times = run(frames(places.map { $0 * step }))
    #expect(shown(times) == places.map { Int64($0) * frame })
    #expect(times.map(\.decoding) == (0..<7).map { $0 * frame })
    #expect(times[0].presentation == frame)
    checkRules(times)
  }

  @Test func picturesOfAPyramidAreShownInPOCOrder() {
    let places: [Int32] = [0, 4, 2, 1, 3, 8, 6, 5, 7]
    let times = run(frames(places.map { $0 * 2 }), depth: 2)
    #expect(shown(times) == places.map { Int64($0) * frame })
    #expect(times.map(\.decoding) == (0..<9).map { $0 * frame })
    #expect(times[0].presentation == 2 * frame)
    checkRules(times)
  }

  @Test func sequencesFollowEachOther() {
    var pictures = frames([0, 6, 2, 4])
    pictures += frames([0, 4, 2])
    pictures += frames([0])
    let times = run(pictures)
    #expect(shown(times) == [0, 3, 1, 2, 4, 6, 5, 7].map { $0 * frame })
    checkRules(times)
  }

  /// The step of POCs is assumed to be two until a sequence of several pictures is known.
  @Test func theStepIsGuessedOnce() {
    var generator = TimestampGenerator(lookAhead: frames([0]), reorderDepth: 0)
    let times = (frames([0, 1, 2]) + frames([0, 1, 2]) + frames([0, 2])).map { generator.next($0) }
    #expect(times.map(\.presentation) == [0, frame / 2, frame, 2 * frame, 3 * frame, 4 * frame, 5 * frame, 7 * frame])
    var known = TimestampGenerator(lookAhead: frames([0, 4]), reorderDepth: 0)
    #expect(frames([0, 4, 8]).map { known.next($0).presentation } == [0, frame, 2 * frame])
  }

  /// POCs of different sequences have nothing to do with each other.
  @Test func measuresTheStepWithinASequence() {
    var generator = TimestampGenerator(lookAhead: frames([0]), reorderDepth: 0)
    let times = (frames([0]) + frames([3, 7, 11]) + frames([0, 4])).map { generator.next($0) }
    // 4 is taken for two frames until the sequence is over.
    #expect(times.map(\.presentation) == [0, 1, 3, 5, 6, 7].map { $0 * frame })
  }

  /// Reorder depths that no stream has, and steps that none can have.
  @Test func clampsAbsurdDepthsAndSteps() {
    for (depth, expected) in [(-1, 0), (0, 0), (1, 1), (16, 16), (17, 16)] {
      let sent = TimestampGenerator(lookAhead: frames([0]), reorderDepth: depth)
      #expect(sent.presentationDelay == Int64(expected) * frame)
      let most = TimestampGenerator(lookAhead: frames([0]), reorderDepth: nil, maximumReorderDepth: depth)
      #expect(most.presentationDelay == Int64(expected) * frame)
    }
    // Two frames show the depth, whatever the most would be.
    #expect(TimestampGenerator(lookAhead: frames([0, 2]), reorderDepth: nil).presentationDelay == 0)
    #expect(TimestampGenerator(lookAhead: frames([0]), reorderDepth: nil).presentationDelay == 16 * frame)
    for (usual, expected) in [(0, 1), (1, 1), (3, 3)] as [(Int, Int64)] {
      var generator = TimestampGenerator(lookAhead: frames([0]), reorderDepth: 0, usualStep: usual)
      #expect(frames([0, 6]).map { generator.next($0).presentation } == [0, 6 * frame / expected])
    }
  }

  /// Pictures that follow an IDR picture in decoding order and precede it in output order: rare, but legal.
  @Test func showsNegativePOCBeforeTheIDRPicture() {
    var pictures = frames([0])
    pictures += frames([0, -4, -2])
    pictures += frames([0])
    let times = run(pictures)
    #expect(shown(times) == [0, 3, 1, 2, 4].map { $0 * frame })
    checkRules(times)
  }

  /// Beyond the look ahead the IDR picture has gone out when the pictures come that should have been shown before it.
  /// They share no time, and are shown in their order.
  @Test func ordersUnexpectedNegativeCounts() {
    var pictures = frames([0])
    pictures += frames([0, -4, -6, -2, 2, 4])
    pictures += frames([0, 2])
    let times = run(pictures, lookAhead: 2)
    #expect(shown(times) == [0, 1, 2, 3, 5, 7, 8, 9, 10].map { $0 * frame })
    checkRules(times)
  }

  /// The stream begins with an open GOP: two pictures are shown before the first.
  @Test func showsLeadingPicturesAtTheStartFirst() {
    let times = run(frames([20, 16, 18, 26, 22, 24]))
    #expect(shown(times) == [2, 0, 1, 5, 3, 4].map { $0 * frame })
    checkRules(times)
  }

  @Test func fieldsAreHalfAFrameApart() {
    var pictures: [Picture] = []
    for order: Int32 in [0, 6, 2, 4] {
      pictures.append(Picture(order: order, resetsPOC: order == 0, isField: true))
      pictures.append(Picture(order: order + 1, resetsPOC: false, isField: true, isSecondField: true))
    }
    let times = run(pictures)
    #expect(shown(times) == [0, 1, 6, 7, 2, 3, 4, 5].map { $0 * frame / 2 })
    #expect(times.allSatisfy { $0.duration == frame / 2 })
    checkRules(times)
  }

  /// The second field is shown half a frame after the first, whatever the step of POC. A lower POC does not show it
  /// before the first, which was decoded earlier.
  @Test(arguments: [(1, [0, 1, 2, 3, 4, 5]), (-1, [0, 0, 2, 2, 4, 4])] as [(Int32, [Int64])])
  func fieldsOfOtherStepsAreHalfAFrameApart(_ difference: Int32, _ halves: [Int64]) {
    let pictures: [Picture] = ([0, 4, 8] as [Int32]).flatMap { order -> [Picture] in
      [
        Picture(order: order, resetsPOC: order == 0, isField: true),
        Picture(order: order + difference, resetsPOC: false, isField: true, isSecondField: true),
      ]
    }
    var generator = TimestampGenerator(lookAhead: [pictures[0]], reorderDepth: 0, usualStep: 4)
    #expect(pictures.map { generator.next($0).presentation } == halves.map { $0 * frame / 2 })
    let ordered = run(pictures, decodingOrder: true)
    #expect(ordered.map(\.presentation) == (0..<6).map { $0 * frame / 2 })
    #expect(ordered.map(\.decoding) == (0..<6).map { $0 * frame / 2 })
  }

  @Test func decodingOrderIgnoresPOC() {
    // pic_order_cnt_type 2: non-reference pictures have odd counts.
    let times = run(frames([0, 1, 2, 4, 5, 6]), decodingOrder: true)
    #expect(shown(times) == (0..<6).map { $0 * frame })
    #expect(times.map(\.decoding) == (0..<6).map { $0 * frame })
  }

  /// The stream signals 0 and has a reorder depth of 2: presentation times are exact, decoding times wait.
  @Test func ordersPicturesThatExceedTheSignalledReorderDepth() {
    var pictures = frames([0, 2, 4, 6])
    pictures += frames([0, 8, 4, 2, 6, 16, 12, 10, 14])
    let times = run(pictures, lookAhead: 2, depth: 0)
    checkRules(times)
    #expect(Set(times.map(\.presentation)).count >= pictures.count - 1)
  }

  /// The stream signals 0 and has a reorder depth of 2, which the look ahead shows.
  @Test func aLookAheadDisprovesDecodingOrder() {
    let orders: [Int32] = [0, 8, 4, 2, 6, 16, 12, 10, 14]
    let times = run(frames(orders), depth: 0, decodingOrder: true)
    #expect(shown(times) == orders.map { Int64($0) / 2 * frame })
    #expect(times.map(\.decoding) == (0..<9).map { $0 * frame })
    checkRules(times)
  }

  /// Nothing fills a gap in POC: decoding follows, so that durations in decoding order reach to the last picture.
  @Test(arguments: [0, 2]) func decodingFollowsAGap(_ depth: Int) {
    let times = run(frames([0, 2, 4] + (0..<12).map { 40 + 2 * $0 }), depth: depth)
    #expect(shown(times) == [0, 1, 2].map { $0 * frame } + (20..<32).map { $0 * frame })
    #expect(times.last.map { $0.presentation - $0.decoding } == Int64(depth) * frame)
    checkRules(times)
  }

  /// MMCO 5 in a second field, which still belongs to the frame of the first.
  @Test func aSecondFieldResetsTheCounts() {
    var pictures: [Picture] = []
    for order: Int32 in [0, 2, 2, 4] {
      pictures.append(Picture(order: order, resetsPOC: pictures.isEmpty, isField: true))
      pictures.append(Picture(order: order + 1, resetsPOC: false, isField: true, isSecondField: true))
    }
    (pictures[3].order, pictures[3].resetsPOC) = (0, true)
    for lookAhead in [4, 8] {
      let times = run(pictures, lookAhead: lookAhead, depth: 0)
      #expect(shown(times) == (0..<8).map { $0 * frame / 2 })
      checkRules(times)
    }
  }

  @Test func anyPOCsKeepTheRules() {
    var generator = SeededGenerator(state: 5)
    for _ in 0..<500 {
      let range: ClosedRange<Int32> = Bool.random(using: &generator) ? -20...20 : Int32.min...Int32.max
      let pictures = (0..<60).map { _ in
        Picture(
          order: Int32.random(in: range, using: &generator), resetsPOC: Int.random(in: 0..<9, using: &generator) == 0,
          isField: Bool.random(using: &generator), isSecondField: Bool.random(using: &generator))
      }
      checkRules(run(pictures, lookAhead: Int.random(in: 0...30, using: &generator)))
    }
  }

  /// Every frame of a stream has a presentation time of its own, without gaps.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func vectorsFillTheirTimeline(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    guard row.category != "h264-error-lost", !row.file.contains("multislice") else { return }
    var inspector = H264.AccessUnitInspector()
    var counter = H264.PictureOrderCounter()
    var pictures: [Picture] = []
    var depth: Int?
    var isDecodingOrder = false
    for unit in accessUnits(stream) {
      let info = inspector.inspect(stream.span.extracting(unit), packaging: .annexB, depth: .referenceMarking)
      guard let slice = info.slice,
        let sps = inspector.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { continue }
      let order = counter.next(slice, sps: sps)
      depth = sps.sentReorderFrames
      isDecodingOrder = sps.pictureOrderCountType == .decodingOrder
      pictures.append(
        Picture(
          order: order.picture, resetsPOC: order.resetsPOC, isField: slice.isField,
          isSecondField: info.isSecondField))
    }
    let times = run(pictures, lookAhead: 34, depth: depth, decodingOrder: isDecodingOrder)
    checkRules(times)
    let places = Set(shown(times).map { $0 / frame })
    // Its frame_num jumps by 16 after MMCO 5, and so do its POCs (type 1): a gap in time.
    let hasGap = row.file.contains("jcodec_seq_mmco_test")
    #expect(hasGap || places == Set(0..<Int64(places.count)), "a hole in the timeline")
    let frames = pictures.count { !$0.isSecondField }
    #expect(places.count == frames)
  }
}

@Suite struct DecodingTimeRebuilderTests {
  @Test func rebuildsAscendingDecodingTimes() {
    var rebuilder = DecodingTimeRebuilder(reorderDepth: 1, frameDuration: 40)
    let times = [0, 120, 40, 80, 240, 160, 200].map { rebuilder.next(presentation: $0) }
    #expect(times == [-40, 0, 40, 80, 120, 160, 200])
    var late = DecodingTimeRebuilder(reorderDepth: 2, frameDuration: 40)
    #expect([1000, 1160, 1080, 1040, 1120].map { late.next(presentation: $0) } == [920, 960, 1000, 1040, 1080])
  }

  /// Without a duration, the times before the first differ all the same.
  @Test func timesDifferWithoutADuration() {
    var rebuilder = DecodingTimeRebuilder(reorderDepth: 2)
    #expect([10, 20, 30, 40].map { rebuilder.next(presentation: $0) } == [10, 11, 12, 20])
    rebuilder.reset()
    #expect(rebuilder.next(presentation: 5) == 5)
  }

  @Test func randomTimesKeepTheRules() {
    var generator = SeededGenerator(state: 6)
    var rebuilder = DecodingTimeRebuilder(reorderDepth: 4, frameDuration: .max)
    for _ in 0..<2000 {
      let time = Int64.random(in: Int64.min...Int64.max, using: &generator)
      let decoding = rebuilder.next(presentation: time)
      #expect(decoding >= -4 << 40 && decoding <= max(0, time))
    }
  }

  /// A picture that is shown before all so far, while the first ones are extrapolated.
  @Test func timesIncreaseWhereTheyCan() {
    var rebuilder = DecodingTimeRebuilder(reorderDepth: 2, frameDuration: 40)
    let times = [80, 0, 40, 200, 120, 160].map { rebuilder.next(presentation: $0) }
    #expect(times == [0, 0, 1, 40, 80, 120])
  }
}
