// SPDX-License-Identifier: MPL-2.0

/// A profile that a device decodes.
package struct DeviceProfile: Hashable, Sendable {
  /// The profile, by a number on which application and process agree.
  package let number: UInt8
  /// The least width in luma samples; 0 if unknown.
  package let minimumWidth: UInt32
  /// The least height in luma samples; 0 if unknown.
  package let minimumHeight: UInt32
  /// The greatest width in luma samples; 0 if unknown.
  package let maximumWidth: UInt32
  /// The greatest height in luma samples; 0 if unknown.
  package let maximumHeight: UInt32

  /// The most profiles that a message lists.
  private static let mostListed = 64

  /// Describes one.
  package init(
    number: UInt8, minimumWidth: UInt32, minimumHeight: UInt32, maximumWidth: UInt32, maximumHeight: UInt32
  ) {
    self.number = number
    self.minimumWidth = minimumWidth
    self.minimumHeight = minimumHeight
    self.maximumWidth = maximumWidth
    self.maximumHeight = maximumHeight
  }

  /// Reads a list.
  @_lifetime(reader: copy reader)
  static func list(reading reader: inout MessageReader) throws(LinkError) -> [DeviceProfile] {
    let count = Int(try reader.read(UInt8.self))
    guard count <= mostListed else { throw .invalid }
    var profiles: [DeviceProfile] = []
    for _ in 0..<count {
      profiles.append(
        DeviceProfile(
          number: try reader.read(), minimumWidth: try reader.read(), minimumHeight: try reader.read(),
          maximumWidth: try reader.read(), maximumHeight: try reader.read()))
    }
    return profiles
  }

  /// Appends a list.
  static func write(_ profiles: [DeviceProfile], to writer: inout MessageWriter) {
    let profiles = profiles.prefix(mostListed)
    writer.append(UInt8(profiles.count))
    for profile in profiles {
      writer.append(profile.number)
      writer.append(profile.minimumWidth)
      writer.append(profile.minimumHeight)
      writer.append(profile.maximumWidth)
      writer.append(profile.maximumHeight)
    }
  }
}
