// SPDX-License-Identifier: MPL-2.0

/// `payloadType` of an SEI message. These numbers mean the same in H.264 and H.265.
public struct SEIPayloadType: RawRepresentable, Sendable, Hashable {
  /// The number of Annex D.
  public let rawValue: UInt32

  /// Creates a type from any number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// `buffering_period()`.
  public static let bufferingPeriod = SEIPayloadType(rawValue: 0)
  /// `pic_timing()`.
  public static let pictureTiming = SEIPayloadType(rawValue: 1)
  /// `user_data_registered_itu_t_t35()`: captions, active format, bar data, HDR10+.
  public static let userDataRegistered = SEIPayloadType(rawValue: 4)
  /// `user_data_unregistered()`.
  public static let userDataUnregistered = SEIPayloadType(rawValue: 5)
  /// `recovery_point()`.
  public static let recoveryPoint = SEIPayloadType(rawValue: 6)
  /// `stereo_video_info()`.
  public static let stereoVideoInformation = SEIPayloadType(rawValue: 21)
  /// `frame_packing_arrangement()`.
  public static let framePackingArrangement = SEIPayloadType(rawValue: 45)
  /// `display_orientation()`.
  public static let displayOrientation = SEIPayloadType(rawValue: 47)
  /// `active_parameter_sets` of H.265.
  public static let activeParameterSets = SEIPayloadType(rawValue: 129)
  /// `decoding_unit_info()` of H.265.
  static var decodingUnitInformation: Self { Self(rawValue: 130) }
  /// `decoded_picture_hash` of H.265.
  public static let decodedPictureHash = SEIPayloadType(rawValue: 132)
  /// `scalable_nesting()` of H.265.
  static var scalableNesting: Self { Self(rawValue: 133) }
  /// `time_code` of H.265.
  public static let timeCode = SEIPayloadType(rawValue: 136)
  /// `mastering_display_colour_volume()`.
  public static let masteringDisplayColourVolume = SEIPayloadType(rawValue: 137)
  /// `content_light_level_info()`.
  public static let contentLightLevel = SEIPayloadType(rawValue: 144)
  /// `alternative_transfer_characteristics()`.
  public static let alternativeTransferCharacteristics = SEIPayloadType(rawValue: 147)
}
