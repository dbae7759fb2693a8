// SPDX-License-Identifier: MPL-2.0

/// The device that a process opens.
package struct DeviceRequest: Hashable, Sendable {
  /// Its name, as bytes of UTF-8; `nil` for the first that can be opened.
  package let place: [UInt8]?
  /// Whether the process reports which profiles the device decodes.
  package let listsProfiles: Bool

  /// The longest name that is read: a path's limit.
  private static let limit = 4096

  /// Requests a device.
  package init(place: String?, listsProfiles: Bool = false) {
    self.place = place.map { Array($0.utf8.prefix(Self.limit)) }
    self.listsProfiles = listsProfiles
  }

  private enum Kind: UInt8 {
    case none
    case any
    case named
  }

  /// Reads one; `nil` if none is requested.
  @_lifetime(reader: copy reader)
  init?(reading reader: inout MessageReader) throws(LinkError) {
    switch Kind(rawValue: try reader.read()) {
    case .some(.none): return nil
    case .any: place = nil
    case .named: place = try reader.readBytes(limit: Self.limit)
    case nil: throw .invalid
    }
    listsProfiles = try reader.read(UInt8.self) != 0
  }

  /// Appends one, or that none is requested.
  static func write(_ request: DeviceRequest?, to writer: inout MessageWriter) {
    let kind: Kind = request == nil ? .none : request?.place == nil ? .any : .named
    writer.append(kind.rawValue)
    guard let request else { return }
    if let place = request.place { writer.append(place) }
    writer.append(UInt8(request.listsProfiles ? 1 : 0))
  }
}
