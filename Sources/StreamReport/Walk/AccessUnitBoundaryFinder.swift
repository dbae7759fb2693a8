// SPDX-License-Identifier: MPL-2.0
import H26x

/// Finds where access units begin in a byte stream, and where pictures begin in them and in the samples of a container.
struct AccessUnitBoundaryFinder<Codec: ReportedCodec> {
  private var detector = Codec.AccessUnitDetector()
  /// The offset of the first NAL unit of those that belong to the access unit of the next slice.
  private var waitingOffset: UInt64?
  private var sample = SampleContents()
  /// Whether the last NAL unit, in a sample after a picture, would begin an access unit in a byte stream.
  private var beginsNext = false
  /// Whether the NAL units belong to a sample.
  private(set) var isInSample = false

  /// The place of a NAL unit of a byte stream among access units.
  struct Cut {
    var boundary: AccessUnitBoundary
    /// The offset of the first NAL unit of the access unit, if this one begins it.
    var start: UInt64
    /// Whether it is the first slice of a picture.
    var startsPicture: Bool
  }

  /// Takes a NAL unit of a byte stream.
  ///
  /// - Parameters:
  ///   - slice: its header as read, if it is a slice.
  ///   - offset: of its start code in the file.
  ///   - sets: the parameter sets before it.
  mutating func take(
    _ nalUnit: Span<UInt8>, _ slice: SliceReading<Codec>?, at offset: UInt64, _ sets: borrowing Codec.ParameterSets
  ) -> Cut {
    let hadPicture = detector.hasPrimaryPicture
    let boundary = boundary(at: nalUnit, slice, sets)
    let start = waitingOffset ?? offset
    guard boundary != .followsNext else {
      waitingOffset = start
      return Cut(boundary: boundary, start: start, startsPicture: false)
    }
    waitingOffset = nil
    let startsPicture = (boundary == .begins || !hadPicture) && slice != nil
    return Cut(boundary: boundary, start: start, startsPicture: startsPicture)
  }

  private mutating func boundary(
    at nalUnit: Span<UInt8>, _ slice: SliceReading<Codec>?, _ sets: borrowing Codec.ParameterSets
  ) -> AccessUnitBoundary {
    if let header = slice?.header?.header { return detector.feed(header) }
    // The front of a header that cannot be read may be good.
    return detector.feed(nalUnit, parameterSets: sets).boundary
  }

  mutating func beginSample() { (sample, isInSample) = (SampleContents(), true) }

  /// Takes a NAL unit of the sample. Returns whether it is the first slice of a picture.
  ///
  /// - Parameters:
  ///   - slice: its header as read, if it is a slice.
  ///   - sets: the parameter sets before it.
  mutating func take(
    inSample nalUnit: Span<UInt8>, _ slice: SliceReading<Codec>?, _ sets: borrowing Codec.ParameterSets
  ) -> Bool {
    let hadPicture = detector.hasPrimaryPicture
    let begins = boundary(at: nalUnit, slice, sets) == .begins
    beginsNext = begins && slice == nil && sample.pictures > 0
    guard slice != nil, begins || !hadPicture || sample.pictures == 0 else { return false }
    sample.pictures += 1
    sample.misplaced = nil
    return true
  }

  /// Notes the kind of the NAL unit that was taken.
  mutating func note(inSample nalUnit: NALUnitRecord) {
    // Those between a picture and the next one of the sample, such as a second field, belong to the next.
    guard beginsNext, nalUnit.layerID ?? 0 == 0, sample.misplaced == nil else { return }
    sample.misplaced = (nalUnit.name, nalUnit.offset)
  }

  /// Ends the sample.
  ///
  /// - Parameter failure: the error in its length prefixes; nil if they fill it.
  mutating func endSample(_ failure: BitstreamError?) -> SampleContents {
    // The next sample is another access unit, regardless of its slice headers.
    detector.reset()
    isInSample = false
    sample.failure = failure
    return sample
  }
}

/// The pictures in a sample of a container, and the error in its length prefixes.
struct SampleContents: Sendable {
  /// How many pictures begin in it.
  var pictures = 0
  /// The first NAL unit after its last picture that belongs to the next one, such as the SEI of a second field.
  var misplaced: (name: StaticString, offset: UInt64)?
  /// The error in its length prefixes; nil if they fill it.
  var failure: BitstreamError?
}
