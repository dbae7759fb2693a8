// SPDX-License-Identifier: MPL-2.0

/// Reads when the pictures of a stream are shown, relative to each other.
package struct PresentationReader<Codec: ElementCodecSyntax>: Sendable {
  private var inspector = Codec.Inspector(parameterSets: Codec.ParameterSets())
  private var reader = Codec.PictureReader()
  private var sequence: UInt64 = 0
  private var order: Int32 = 0
  /// A second field has reset POC: the next frame begins a sequence.
  private var hasReset = false

  /// Creates a reader for the start of a stream.
  package init() {}

  /// Takes the parameter sets of a configuration record.
  package mutating func insert(_ nalUnits: [[UInt8]]) { inspector.insert(nalUnits) }

  /// Reads the next access unit in decoding order. If both fields of a frame are in it, it has the place of the first. A
  /// picture that cannot be read has the place of the picture before.
  ///
  /// - Returns: nil without a picture.
  package mutating func read(_ accessUnit: Span<UInt8>, _ packaging: NALPackaging) -> PresentationPlace? {
    let contents = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    if contents.endsSequenceBeforePicture { reader.endSequence() }
    defer { if contents.endsSequenceBehindPicture { reader.endSequence() } }
    guard contents.hasPicture else { return nil }
    var place = PresentationPlace(sequence: sequence, order: order)
    if let slice = contents.slice, let sps = inspector.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
    {
      let picture = reader.picture(slice, sps)
      place.isField = slice.isField
      place.isSecondField = contents.isSecondField
      if slice.isField { place.field = Codec.presentedField(accessUnit, contents.seiRanges, sps) }
      if picture.resetsPOC, picture.isSecondField {
        // Its count is 0, but it is shown behind its first field.
        (order, hasReset) = (order &+ 1, true)
      } else {
        if picture.resetsPOC || hasReset { sequence += 1 }
        (order, hasReset) = (picture.order, false)
      }
      (place.sequence, place.order) = (sequence, order)
    }
    return place
  }
}

/// When a picture is shown, relative to others.
package struct PresentationPlace: Sendable, Hashable {
  /// How many times picture order counts were reset, up to the picture.
  package fileprivate(set) var sequence: UInt64
  /// The picture order count. Only counts of the same sequence compare.
  package fileprivate(set) var order: Int32
  /// Whether the picture is a field, or the access unit has two.
  package fileprivate(set) var isField = false
  /// Whether it is the second field of the frame that the access unit before began (H.264 7.4.1.2.4).
  package fileprivate(set) var isSecondField = false
  /// By which fields of H.265 pair in the order of presentation; nil if it is not sent.
  package fileprivate(set) var field: PresentedField?
}
