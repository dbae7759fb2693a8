// SPDX-License-Identifier: MPL-2.0

/// Reads the first pictures of a sequence before the first of them is output, to find the steps of POC. Works on
/// copies, and changes nothing in the timing itself.
struct PictureLookAhead<Codec: ElementCodecSyntax>: Sendable {
  private(set) var pictures: [TimestampGenerator.Picture]
  private var reader: Codec.PictureReader
  private var parameterSets: Codec.ParameterSets
  private var detector: Codec.AccessUnitDetector
  private var scanner: AnnexB.Scanner
  private var limit: Int
  private let sequence: Codec.SequenceParameterSet
  /// How often the POCs had no gap when a later picture came.
  private var wholeGroups = 0
  /// The start of the pictures since the last one that resets POC.
  private var sequenceStart = 0
  /// Whether the stream sends its reorder depth, and the depth is trusted. Otherwise the first groups do not end the look
  /// ahead: encoders reorder deeper when it pays, often after a few pictures.
  private let isDepthKnown: Bool
  private var isDone: Bool
  /// Whether only the first picture's leading pictures are needed.
  private var endsWithLeadingPictures = false
  /// The reorder depth that is looked for if the stream sends 0: more than encoders use by default.
  private static var verifiedDepth: Int { 4 }

  /// - Parameters:
  ///   - first: the current picture.
  ///   - offset: the start of the next access unit.
  ///   - mayWait: whether a sent reorder depth of 0 is verified, which takes later pictures.
  init(
    _ first: TimestampGenerator.Picture, of sequence: Codec.SequenceParameterSet,
    reader: Codec.PictureReader, parameterSets: Codec.ParameterSets, from offset: Int, mayWait: Bool = false
  ) {
    pictures = [first]
    self.reader = reader
    self.parameterSets = parameterSets
    self.sequence = sequence
    detector = Codec.AccessUnitDetector()
    scanner = AnnexB.Scanner(from: offset)
    let isVerified = mayWait && sequence.sentReorderFrames == 0 && !sequence.forbidsBFrames
    let depth = isVerified ? Self.verifiedDepth : sequence.maximumReorderFrames
    limit = (2 * depth + 2) * (sequence.isFrameOnly ? 1 : 2)
    isDepthKnown = sequence.sentReorderFrames != nil && !isVerified
    // Without reordering there is nothing to find: each picture is shown after the picture before.
    isDone = sequence.followsDecodingOrder && !isVerified
  }

  /// Reads no further than to the first picture that is shown after the first one.
  mutating func endWithLeadingPictures() {
    endsWithLeadingPictures = true
    // The reorder depth does not bound how many there are.
    limit = max(limit, 64)
  }

  /// Reads more pictures. Returns whether they are enough.
  mutating func advance(_ bytes: Span<UInt8>, isComplete: Bool) -> Bool {
    while !isDone, let place = scanner.next(in: bytes, isComplete: isComplete) { look(bytes.extracting(place.range)) }
    return isDone || isComplete
  }

  private mutating func look(_ nalUnit: Span<UInt8>) {
    do throws(BitstreamError) {
      if Codec.NALUnitType(headerByte: nalUnit[0]).isParameterSet { try parameterSets.insert(nalUnit) }
      let hadPicture = detector.hasPrimaryPicture
      let (boundary, _) = detector.feed(nalUnit, parameterSets: parameterSets)
      let role = Codec.role(of: nalUnit)
      if role == .end { reader.endSequence() }
      guard role == .slice, boundary == .begins || !hadPicture else { return }
      take(try Codec.SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets, depth: .referenceMarking))
    } catch {}  // The stream's parser will report it.
  }

  private mutating func take(_ slice: Codec.SliceHeader) {
    guard let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID), sps == sequence else {
      isDone = true
      return
    }
    let picture = reader.picture(slice, sps)
    if endsWithLeadingPictures, picture.resetsPOC || !picture.isSecondField && picture.order > pictures[0].order {
      isDone = true
      return
    }
    if picture.resetsPOC || isBeyondWholeGroup(picture) { wholeGroups += 1 }
    if picture.resetsPOC { sequenceStart = pictures.count }
    pictures.append(picture)
    isDone = pictures.count >= limit || isDepthKnown && (wholeGroups >= 2 || picture.resetsPOC)
  }

  /// Whether the POCs so far have no gap and this one is larger: none between them is still to come.
  private func isBeyondWholeGroup(_ picture: TimestampGenerator.Picture) -> Bool {
    var (least, greatest, count, step) = (Int64.max, Int64.min, Int64(0), Int64(0))
    for earlier in pictures[sequenceStart...] where !earlier.isSecondField {
      least = min(least, Int64(earlier.order))
      greatest = max(greatest, Int64(earlier.order))
      count += 1
    }
    guard count > 0, !picture.isSecondField, Int64(picture.order) > greatest else { return false }
    for earlier in pictures[sequenceStart...] where !earlier.isSecondField {
      step = greatestCommonDivisor(step, Int64(earlier.order) - least)
    }
    return step == 0 || (greatest - least) / step + 1 == count
  }
}
