// SPDX-License-Identifier: MPL-2.0

/// The outcome of opening a process's device.
package enum DeviceReport: Hashable, Sendable {
  /// None was requested.
  case none
  /// It is open, and was seen to decode. Method and name are UTF-8; profiles are listed on request.
  case opened(method: [UInt8], name: [UInt8], profiles: [DeviceProfile] = [])
  /// The reason no device is open, as UTF-8. The process ends.
  case failed([UInt8])

  /// The longest text that is read.
  private static let limit = 2048

  /// Reads one.
  @_lifetime(reader: copy reader)
  init(reading reader: inout MessageReader) throws(LinkError) {
    switch try reader.read(UInt8.self) {
    case 0: self = .none
    case 1:
      self = .opened(
        method: try reader.readBytes(limit: Self.limit), name: try reader.readBytes(limit: Self.limit),
        profiles: try DeviceProfile.list(reading: &reader))
    case 2: self = .failed(try reader.readBytes(limit: Self.limit))
    default: throw .invalid
    }
  }

  /// Appends one.
  func write(to writer: inout MessageWriter) {
    switch self {
    case .none: writer.append(UInt8(0))
    case .opened(let method, let name, let profiles):
      writer.append(UInt8(1))
      writer.append(Array(method.prefix(Self.limit)))
      writer.append(Array(name.prefix(Self.limit)))
      DeviceProfile.write(profiles, to: &writer)
    case .failed(let reason):
      writer.append(UInt8(2))
      writer.append(Array(reason.prefix(Self.limit)))
    }
  }
}
