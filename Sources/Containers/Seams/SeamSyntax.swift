// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// What a codec adds to its syntax for seams: the parameter sets of encoded pictures, and how copied pictures follow.
protocol SeamSyntax: AccompanyingSyntax {
  /// The parameter sets of encoded pictures.
  associatedtype SeamSets: SeamParameterSets where SeamSets.Codec == Self

  /// Follows pictures behind a seam in front of a recovery point; `nil` if encoded pictures cannot be there.
  static var continuation: (any SeamContinuing<Self>)? { get }
  /// Follows the reference pictures of the source; `nil` if only pictures that promise it are entries.
  static var sourceReferences: (any SourceReferencing<Self>)? { get }
  /// Adds parameter sets to a description of the video.
  static func add(_ nalUnits: [[UInt8]], to record: inout ConfigurationRecord)
  /// Returns an IRAP or IDR access unit as the beginning of a coded video sequence.
  ///
  /// - Parameters:
  ///   - accessUnit: its NAL units. Leading pictures that need earlier ones do not follow.
  ///   - sets: its parameter sets.
  static func beginningSequence(
    _ accessUnit: [[UInt8]], _ sets: ParameterSets
  ) throws(BitstreamError) -> [[UInt8]]
}

extension SeamSyntax {
  /// The SPS of a stream, by id.
  static func sequenceParameterSets(of sets: ParameterSets) -> [[UInt8]] {
    sets.nalUnits.filter { nalUnit in
      !nalUnit.isEmpty && NALUnitType(headerByte: nalUnit[0]) == .sequenceParameterSet
        && ParameterSets.sequenceParameterSetID(of: nalUnit.span) != nil
    }
  }
}

/// Follows the pictures of a seam in front of a recovery point, and copied pictures up to the next IDR picture.
protocol SeamContinuing<Codec> {
  associatedtype Codec: SeamSyntax

  /// Takes the next access unit.
  ///
  /// - Parameter sets: its parameter sets.
  /// - Returns: the access unit without marking operations that name pictures which are gone, and their count; `nil` if
  ///   it stays as it is.
  mutating func next(
    _ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: Codec.ParameterSets
  ) throws(SeamObstacle) -> (bytes: [UInt8], removedCount: Int)?
  /// Takes a recovery point, the first access unit of all, and makes it an IDR picture. Later ones get other numbers.
  ///
  /// - Parameter number: of the IDR pictures that are made so.
  /// - Returns: the access unit; `nil` if it cannot be one.
  mutating func begin(
    _ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: Codec.ParameterSets, number: Int
  ) -> [UInt8]?
}

/// Follows the reference pictures of the source around an entry that promises nothing. Pictures behind the entry may
/// refer to pictures in front of it that are still references.
protocol SourceReferencing<Codec> {
  associatedtype Codec: SeamSyntax

  /// Takes the next access unit.
  ///
  /// - Parameter sets: its parameter sets.
  mutating func next(_ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: Codec.ParameterSets)
  /// Begins with the entry.
  mutating func begin()
  /// Whether a picture in front of the entry is still marked as a reference, or may be.
  var hasEarlier: Bool { get }
}

/// The parameter sets of pictures that are encoded under an SPS of the source.
protocol SeamParameterSets {
  associatedtype Codec: VideoCodecSyntax

  /// - Parameters:
  ///   - spsNALUnit: the SPS of the source.
  ///   - sets: the source's, whose ids are taken.
  ///   - quality: see `EncoderSettings.quality`.
  /// - Throws: the reason for which pictures cannot be encoded under the SPS.
  init(_ spsNALUnit: [UInt8], in sets: Codec.ParameterSets, quality: Double) throws(SeamObstacle)

  /// The encoder's, for such pictures.
  var settings: EncoderSettings { get }
  /// The SPS of the source.
  var spsNALUnit: [UInt8] { get }
  /// The parameter sets that the source does not have, in sending order.
  var nalUnits: [[UInt8]] { get }
  /// The SPS by which messages of encoded pictures are written: the source's, or the SPS that stands in for it.
  var sps: Codec.SequenceParameterSet { get }
  /// Whether only an IDR picture can follow encoded pictures, because their SPS is not the source's.
  var needsIDRBehind: Bool { get }

  /// Whether the numbers of encoded pictures can lead up to those of the recovery point behind them.
  func leads(to recoveryPoint: Codec.SliceHeader, _ place: SeamPlace<Codec>) -> Bool

  /// Returns the slices of an encoded picture, under these parameter sets.
  ///
  /// - Parameters:
  ///   - packet: from the encoder.
  ///   - sets: the encoder's. Gets those of the packet.
  ///   - place: of the picture.
  func slices(
    of packet: Packet, _ sets: inout Codec.ParameterSets, _ place: SeamPlace<Codec>
  ) throws(SeamObstacle) -> [[UInt8]]
}

/// The place of an encoded picture.
struct SeamPlace<Codec: VideoCodecSyntax> {
  /// The number of the picture in its seam, from 0.
  var picture = 0
  /// The number of pictures of the seam.
  var count: Int
  /// The number of the seam, from 0.
  var seam: Int
  /// The slices of copied entries on both sides of the seam.
  var neighbors: [Codec.SliceHeader]
  /// The first slice of the recovery point behind the seam; `nil` if others follow.
  var recoveryPoint: Codec.SliceHeader?
  /// The order of fields; `nil` if the picture is not interlaced.
  var isTopFieldFirst: Bool?
}

extension EncoderSettings {
  /// Settings for pictures of a stream.
  ///
  /// - Parameters:
  ///   - codec: of the stream.
  ///   - size: the coded size.
  ///   - depths: bits of a luma sample, and of a chroma sample.
  ///   - quality: see ``quality``.
  /// - Throws: `.noEncoder` if no encoder takes the format, `.unsupported` for two depths.
  init(
    seamOf codec: CodecSettings.Codec, _ size: VideoSize, _ chroma: ChromaFormat, depths: (luma: UInt8, chroma: UInt8),
    quality: Double
  ) throws(SeamObstacle) {
    guard chroma == .monochrome || depths.chroma == depths.luma else {
      throw .unsupported("luma and chroma have different bit depths")
    }
    let name =
      switch chroma {
      case .monochrome: "gray"
      case .yuv420: "yuv420p"
      case .yuv422: "yuv422p"
      case .yuv444: "yuv444p"
      }
    guard let format = FrameFormat(name: depths.luma == 8 ? name : "\(name)\(depths.luma)le"),
      !CodecLibrary.encoderNames(for: codec, format: format).isEmpty
    else { throw .noEncoder }
    self.init(codec: codec, width: size.width, height: size.height, format: format)
    self.quality = quality
    // Each further one would cost an encoder the memory of four pictures in HD, and save 1 % of the bits.
    referenceCount = 1
    threadCount = Int(clamping: min(CodecSettings(codec: codec).effectiveThreadCount, 4))
  }

  /// The parameter sets that the encoder writes.
  func parameterSets<Codec: VideoCodecSyntax>(of codec: Codec.Type) throws(SeamObstacle) -> Codec.ParameterSets {
    let bytes: [UInt8]
    do throws(AVError) { bytes = try EncoderContext.parameterSets(self) } catch { throw .noEncoder }
    var sets = Codec.ParameterSets()
    do throws(BitstreamError) { _ = try sets.insert(from: bytes.span, of: codec) } catch { throw .encoder }
    return sets
  }
}

extension ParameterSetStore {
  /// Inserts the parameter sets of an encoder's packet.
  ///
  /// - Returns: the places of its slices.
  mutating func insert<Codec: VideoCodecSyntax>(
    from packet: Span<UInt8>, of codec: Codec.Type
  ) throws(BitstreamError) -> [Range<Int>] {
    var slices: [Range<Int>] = []
    for range in NALPackaging.annexB.nalUnits(of: packet) where !range.isEmpty {
      let type = Codec.NALUnitType(headerByte: packet[range.lowerBound])
      if type.isParameterSet { try insert(packet.extracting(range)) }
      if type.isVCL { slices.append(range) }
    }
    return slices
  }
}
