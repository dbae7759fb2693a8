// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

/// Reads the format of each access unit before it is decoded, and records whether session and output are ready for it.
struct FormatFollower<Codec: DecoderCodec> {
  private var inspector = Codec.Inspector(nalLengthSize: nil)
  private var packaging = NALPackaging.annexB
  private var displayTracker = DisplayTracker()
  /// The caps lack display metadata that SEI may have.
  private var followsDisplay = false
  /// Parameter sets of `codec_data`, as they came last.
  private var outOfBand: [[UInt8]] = []
  /// New `codec_data` has parameter sets that the session has not got.
  private(set) var hasNewParameterSets = false
  /// The format for which session and output were made ready last.
  private(set) var settledFormat: FormatDescription?
  private var readiness = Readiness.newFormat

  /// Whether session and output are ready for the next access unit.
  private enum Readiness {
    case ready
    /// They must be made ready, for the format that they were ready for last.
    case sameFormat
    /// They must be made ready for another format.
    case newFormat
  }

  /// Takes new sink caps.
  ///
  /// - Parameter isOtherPackaging: NAL units are packed differently, so that nothing known of the stream holds.
  mutating func begin(_ input: CompressedCaps<Codec>, isOtherPackaging: Bool) {
    if isOtherPackaging {
      inspector = Codec.Inspector(nalLengthSize: input.nalLengthSize)
      packaging = input.packaging
      displayTracker = DisplayTracker()
      settledFormat = nil
      readiness = .newFormat
    }
    followsDisplay = !input.fields.isSuperset(of: [.masteringDisplay, .contentLight, .colorimetry])
    inspector.insert(input.parameterSets)
    if input.parameterSets != outOfBand { hasNewParameterSets = true }
    outOfBand = input.parameterSets
    makeReadyAgain()
  }

  /// Takes a parameter set for the next access unit; ignores anything else.
  mutating func insert(_ nalUnit: Span<UInt8>) {
    switch Codec.role(of: nalUnit) {
    case .videoParameterSet, .sequenceParameterSet, .sequenceParameterSetExtension, .pictureParameterSet:
      inspector.insert([nalUnit.copied()])
    default: break
    }
  }

  /// Reads an access unit.
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription {
    let description = Codec.describe(accessUnit, packaging: packaging, with: &inspector, &displayTracker)
    if description.formatChanged { readiness = .newFormat }
    if followsDisplay, description.changesDisplay { makeReadyAgain() }
    return description
  }

  /// A seek: the next access unit does not complete a frame.
  mutating func flush() { inspector.reset() }

  private mutating func makeReadyAgain() { if readiness == .ready { readiness = .sameFormat } }

  /// Session and output are ready.
  mutating func settle() {
    settledFormat = inspector.format
    readiness = .ready
    hasNewParameterSets = false
  }

  /// Session and output are ready for the next access unit.
  var isSettled: Bool { readiness == .ready }
  /// The format has changed since they were ready.
  var isNewFormat: Bool { readiness == .newFormat }
  /// The format of the last access unit; `nil` as long as parameter sets are missing.
  var format: FormatDescription? { inspector.format }
  /// The parameter sets so far.
  var parameterSets: Codec.ParameterSets { inspector.parameterSets }
  /// The active SPS has a VUI, whose absent fields have inferred values (H.264 E.2.1, H.265 E.3.1).
  var hasVUI: Bool { inspector.hasVUI }
  /// Mastering display and content light level by SEI, unless the caps have them.
  var display: DisplayMetadata { followsDisplay ? displayTracker.display : DisplayMetadata() }
}
