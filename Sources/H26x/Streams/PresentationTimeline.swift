// SPDX-License-Identifier: MPL-2.0

/// The implementation of ``PresentationTiming`` for every codec.
struct PresentationTimeline<Codec: ElementCodecSyntax>: Sendable {
  /// Pictures of one SPS at one rate.
  private struct Sequence: Sendable {
    var generator: TimestampGenerator
    let rate: Ratio
    let clock: Clock
    let parameters: Codec.SequenceParameterSet
    /// How often parameter sets had changed when that SPS was found.
    var generation: UInt64
  }

  /// Converts the generator's ticks to nanoseconds.
  private struct Clock: Sendable {
    private let numerator: UInt64
    private let denominator: UInt64

    /// - Parameters:
    ///   - rate: frames a second.
    ///   - pictures: pictures in a frame.
    init(_ rate: Ratio, pictures: Int) {
      numerator = UInt64(rate.denominator) * 1_000_000_000
      denominator = UInt64(rate.numerator) * UInt64(max(pictures, 1)) * UInt64(TimestampGenerator.ticksPerFrame)
    }

    func time(_ ticks: Int64) -> UInt64 {
      let product = UInt64(max(ticks, 0)).multipliedFullWidth(by: numerator)
      guard product.high < denominator else { return .max }
      return denominator.dividingFullWidth(product).quotient
    }

    /// The ticks at a time that a whole number of fields takes; nil at any other time.
    func ticks(at time: UInt64) -> Int64? {
      let product = time.multipliedFullWidth(by: denominator)
      guard numerator > 0, product.high < numerator else { return nil }
      let field = TimestampGenerator.ticksPerFrame / 2
      // A time is rounded down, by less than a field.
      guard let before = Int64(exactly: numerator.dividingFullWidth(product).quotient), before < Int64.max / 4 else {
        return nil
      }
      let ticks = (before + field / 2) / field * field
      return self.time(ticks) == time ? ticks : nil
    }
  }

  private var reader = Codec.PictureReader()
  private var sequence: Sequence?
  private var lookAhead: PictureLookAhead<Codec>?
  private var picture: TimestampGenerator.Picture?
  /// The time at which ``ticks`` are 0.
  private var origin: UInt64 = 0
  /// The offset added to the generator's time.
  private var ticks: Int64 = 0
  /// The generator's presentation time of the picture whose times were taken last.
  private var lastPresentation: Int64 = 0
  /// The end of the latest picture so far.
  private var end: UInt64 = 0

  var fieldPeriods: Int?
  var mayWait = false
  var hasPicture: Bool { picture != nil }

  var endOfPictures: UInt64? { sequence == nil ? nil : end }

  mutating func endSequence() { reader.endSequence() }

  // MARK: Order

  mutating func read(_ slice: Codec.SliceHeader, rate: Ratio?, generation: UInt64) -> Bool {
    guard sequence?.generation == generation, sequence?.rate == rate,
      sequence?.parameters.id == slice.sequenceParameterSetID, let parameters = sequence?.parameters
    else { return false }
    let before = reader
    var next = reader.picture(slice, parameters)
    show(&next, parameters)
    guard !next.mayHaveLeadingPictures else {
      reader = before
      return false
    }
    picture = next
    return true
  }

  mutating func read(
    _ slice: Codec.SliceHeader, isContinued: Bool, endsSequence: Bool, rate: Ratio?,
    parameterSets: borrowing Codec.ParameterSets, generation: UInt64, lookingAt bytes: Span<UInt8>, from offset: Int,
    isComplete: Bool
  ) -> Bool {
    guard let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else { return true }
    if !isContinued {
      var next = reader.picture(slice, sps)
      show(&next, sps)
      picture = next
    }
    guard let picture, let rate else { return true }
    let continues = covers(sps, rate, generation)
    if continues, !picture.mayHaveLeadingPictures { return true }
    var lookAhead: PictureLookAhead<Codec>
    if let begun = self.lookAhead {
      lookAhead = begun
    } else {
      var reader = reader
      if endsSequence { reader.endSequence() }
      lookAhead = PictureLookAhead(
        picture, of: sps, reader: reader, parameterSets: copy parameterSets, from: offset, mayWait: mayWait)
      if continues { lookAhead.endWithLeadingPictures() }
    }
    guard lookAhead.advance(bytes, isComplete: isComplete) else {
      self.lookAhead = lookAhead
      return false
    }
    self.lookAhead = nil
    if continues {
      let least = lookAhead.pictures.min { $0.order < $1.order }
      sequence?.generator.expectSequence(from: least?.order ?? picture.order)
      return true
    }
    begin(sps, rate, lookAhead.pictures, generation)
    return true
  }

  /// Sets how long a picture is shown. Each field of a field sequence is a picture of its own.
  private func show(_ picture: inout TimestampGenerator.Picture, _ sps: Codec.SequenceParameterSet) {
    if let fieldPeriods, sps.picturesPerFrame == 1 { picture.fieldPeriods = min(max(fieldPeriods, 2), 6) }
  }

  /// Whether pictures with this SPS at this rate can be timed without another look ahead.
  private mutating func covers(_ sps: Codec.SequenceParameterSet, _ rate: Ratio, _ generation: UInt64) -> Bool {
    guard let sequence, sequence.rate == rate, sequence.parameters == sps else { return false }
    self.sequence?.generation = generation
    return true
  }

  /// Begins a sequence after the pictures timed so far.
  private mutating func begin(
    _ sps: Codec.SequenceParameterSet, _ rate: Ratio, _ lookAhead: [TimestampGenerator.Picture],
    _ generation: UInt64
  ) {
    let delayBefore = sequence.map { $0.clock.time($0.generator.presentationDelay) } ?? 0
    let pictures = sps.picturesPerFrame
    let next = Sequence(
      generator: TimestampGenerator(
        lookAhead: lookAhead, reorderDepth: sps.sentReorderFrames.map { $0 * pictures },
        maximumReorderDepth: sps.maximumReorderFrames * pictures, followsDecodingOrder: sps.followsDecodingOrder,
        usualStep: sps.usualOrderStep),
      rate: rate, clock: Clock(rate, pictures: pictures), parameters: sps, generation: generation)
    // The first picture is shown when the last one ends, unless its DTS would be before that one's.
    origin = Self.difference(end, min(delayBefore, next.clock.time(next.generator.presentationDelay)))
    ticks = 0
    sequence = next
  }

  // MARK: Time

  mutating func takeTimes() -> PresentationTimes? {
    guard let picture else { return nil }
    self.picture = nil
    guard let times = sequence?.generator.next(picture), let clock = sequence?.clock else { return nil }
    lastPresentation = times.presentation
    end = max(end, Self.sum(origin, clock.time(times.presentation + times.duration + ticks)))
    return PresentationTimes(
      presentation: Self.sum(origin, clock.time(times.presentation + ticks)),
      decoding: Self.sum(origin, clock.time(times.decoding + ticks)), duration: clock.time(times.duration))
  }

  mutating func move(_ time: UInt64, to other: UInt64) {
    // Counted from the start of the stream, as when it is read from there: rounded times do not add up.
    if let clock = sequence?.clock, Self.sum(origin, clock.time(lastPresentation + ticks)) == time,
      let moved = clock.ticks(at: other)
    {
      (origin, ticks) = (0, moved - lastPresentation)
      end = Self.difference(Self.sum(end, other), time)
      return
    }
    origin = Self.difference(Self.sum(origin, other), time)
    end = Self.difference(Self.sum(end, other), time)
  }

  /// The sum, or the largest time.
  private static func sum(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }

  /// The difference, at least 0.
  private static func difference(_ a: UInt64, _ b: UInt64) -> UInt64 { a > b ? a - b : 0 }
}
