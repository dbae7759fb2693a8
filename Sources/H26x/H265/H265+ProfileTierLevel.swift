// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `profile_tier_level()` (7.3.3): the demands on a decoder for all temporal sub-layers, and for the lower
  /// sub-layers alone.
  public struct ProfileTierLevel: Sendable, Hashable {
    /// The profile of all sub-layers.
    public var profile: Profile
    /// `general_level_idc`: 30 times the level's number.
    public var levelIDC: UInt8
    /// Profiles and levels of the temporal sub-layers below the highest, lowest first: `sps_max_sub_layers_minus1`
    /// entries.
    public var subLayers: [SubLayer] = []

    /// Profile and level of a temporal sub-layer.
    public struct SubLayer: Sendable, Hashable {
      /// `sub_layer_profile_space` and so on; nil if not sent.
      public var profile: Profile?
      /// `sub_layer_level_idc`; nil if not sent.
      public var levelIDC: UInt8?

      /// Creates one.
      public init(profile: Profile? = nil, levelIDC: UInt8? = nil) {
        self.profile = profile
        self.levelIDC = levelIDC
      }
    }

    /// The level of all sub-layers.
    public var level: Level { Level(idc: levelIDC, isHighTier: profile.isHighTier) }

    /// Creates one without sub-layers.
    public init(profile: Profile, levelIDC: UInt8) {
      self.profile = profile
      self.levelIDC = levelIDC
    }

    /// Reads `profile_tier_level( 1, subLayerCount − 1 )`.
    ///
    /// - Parameter subLayerCount: 1 to 8.
    init(_ reader: inout BitReader, subLayerCount: Int) throws(BitstreamError) {
      profile = try Profile(&reader)
      levelIDC = try reader.byte("general_level_idc")
      let lower = max(0, min(subLayerCount, 8) - 1)
      guard lower > 0 else { return }
      var present: [(profile: Bool, level: Bool)] = []
      for _ in 0..<lower {
        let hasProfile = try reader.flag("sub_layer_profile_present_flag")
        present.append((hasProfile, try reader.flag("sub_layer_level_present_flag")))
      }
      for _ in lower..<8 { _ = try reader.u(2, "reserved_zero_2bits") }
      for layer in present {
        subLayers.append(
          SubLayer(
            profile: layer.profile ? try Profile(&reader) : nil,
            levelIDC: layer.level ? try reader.byte("sub_layer_level_idc") : nil))
      }
    }

    func write(to writer: inout BitWriter) {
      profile.write(to: &writer)
      writer.u(8, UInt32(levelIDC))
      guard !subLayers.isEmpty else { return }
      for layer in subLayers.prefix(7) {
        writer.flag(layer.profile != nil)
        writer.flag(layer.levelIDC != nil)
      }
      // reserved_zero_2bits for sub-layers that are not there.
      for _ in min(subLayers.count, 7)..<8 { writer.u(2, 0) }
      for layer in subLayers.prefix(7) {
        layer.profile?.write(to: &writer)
        if let levelIDC = layer.levelIDC { writer.u(8, UInt32(levelIDC)) }
      }
    }
  }
}
