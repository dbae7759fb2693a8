// SPDX-License-Identifier: MPL-2.0
import CAVFormat

/// Further data of a packet or of a whole stream, of a type that libavcodec defines (`AVPacketSideData`).
package struct SideData: Sendable, Hashable {
  /// The type, by libavcodec's number (`AVPacketSideDataType`).
  package struct Kind: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ type: AVPacketSideDataType) { rawValue = UInt32(type.rawValue) }
    var type: AVPacketSideDataType { AVPacketSideDataType(rawValue) }

    /// New parameter sets for the following packets.
    package static let newExtradata = Kind(AV_PKT_DATA_NEW_EXTRADATA)
    /// The transformation matrix of a track.
    package static let displayMatrix = Kind(AV_PKT_DATA_DISPLAYMATRIX)
    /// Stereoscopic arrangement.
    package static let stereo3D = Kind(AV_PKT_DATA_STEREO3D)
    /// SMPTE ST 2086.
    package static let masteringDisplay = Kind(AV_PKT_DATA_MASTERING_DISPLAY_METADATA)
    /// CTA-861.3.
    package static let contentLight = Kind(AV_PKT_DATA_CONTENT_LIGHT_LEVEL)
    /// The projection of spherical video.
    package static let spherical = Kind(AV_PKT_DATA_SPHERICAL)
    /// The container's cropping; no stream has it before libavformat 61.7.
    package static let frameCropping = Kind(rawValue: cav_frame_cropping())
    /// The container's ambient viewing environment (`amve`); no stream has it before libavformat 61.7.
    package static let ambientViewing = Kind(rawValue: cav_ambient_viewing_environment())
    /// `dvcC`, `dvvC`.
    package static let dolbyVision = Kind(AV_PKT_DATA_DOVI_CONF)
  }

  package let kind: Kind
  package let bytes: [UInt8]

  package init(_ kind: Kind, _ bytes: [UInt8]) { (self.kind, self.bytes) = (kind, bytes) }

  init(copying data: AVPacketSideData) {
    kind = unsafe Kind(data.type)
    bytes = unsafe [UInt8](UnsafeBufferPointer(start: data.data, count: Int(data.size)))
  }
}

/// HDR10's metadata, from the stream.
extension SideData {
  /// A chromaticity, in steps of 0.00002.
  package typealias Chromaticity = (x: UInt16, y: UInt16)

  /// The display that a video was mastered on (`AVMasteringDisplayMetadata`).
  ///
  /// - Parameter luminance: the smallest and the largest, in 0.0001 cd/m².
  package static func masteringDisplay(
    red: Chromaticity, green: Chromaticity, blue: Chromaticity, white: Chromaticity,
    luminance: (minimum: UInt32, maximum: UInt32)
  ) -> SideData {
    func ratio(_ value: UInt32, _ denominator: Int32) -> AVRational {
      AVRational(num: Int32(clamping: value), den: denominator)
    }
    func point(_ chromaticity: Chromaticity) -> (AVRational, AVRational) {
      (ratio(UInt32(chromaticity.x), 50_000), ratio(UInt32(chromaticity.y), 50_000))
    }
    var metadata = AVMasteringDisplayMetadata()
    metadata.display_primaries = (point(red), point(green), point(blue))
    metadata.white_point = point(white)
    metadata.min_luminance = ratio(luminance.minimum, 10_000)
    metadata.max_luminance = ratio(luminance.maximum, 10_000)
    (metadata.has_primaries, metadata.has_luminance) = (1, 1)
    return unsafe SideData(.masteringDisplay, withUnsafeBytes(of: metadata) { unsafe [UInt8]($0) })
  }

  /// The light levels of a video (`AVContentLightMetadata`), in cd/m².
  package static func contentLight(maximum: UInt16, maximumPictureAverage: UInt16) -> SideData {
    let levels = AVContentLightMetadata(MaxCLL: UInt32(maximum), MaxFALL: UInt32(maximumPictureAverage))
    return unsafe SideData(.contentLight, withUnsafeBytes(of: levels) { unsafe [UInt8]($0) })
  }
}
