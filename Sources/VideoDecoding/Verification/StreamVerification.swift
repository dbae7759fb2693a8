// SPDX-License-Identifier: MPL-2.0
package import H26x

/// Verifies the slices of a stream on the caller's thread, without a session.
package struct StreamVerification {
  private var follower: any StreamFollower
  private var slices: SliceVerification

  /// - Parameter configuration: the configuration record of the stream; `nil` if access units have start codes.
  package init(_ codec: FormatDescription.Codec, configuration: [UInt8]?) {
    self.init(codec.sessionCodec, configuration)
  }

  private init<Codec: SessionCodec>(_ codec: Codec.Type, _ configuration: [UInt8]?) {
    // Without a record that can be read, no slice can be read, which is no damage.
    let record = configuration.flatMap { try? Codec.ConfigurationRecord($0.span) }
    let lengthSize = record?.nalLengthSize
    follower = codec.makeFollower(lengthSize: lengthSize, verifiesPictureHash: false)
    slices = SliceVerification(NALPackaging(lengthSize: lengthSize))
    follower.insert(parameterSets: record?.nalUnits ?? [])
  }

  /// Whether slices of the next access unit are damaged or missing, as far as libavcodec may not report it. Slices of a
  /// kind that the reader does not support are not damaged.
  package mutating func findsDamage(in accessUnit: Span<UInt8>) -> Bool {
    let description = follower.read(accessUnit)
    return slices.findsDamage(in: accessUnit, description.reading)
  }
}
