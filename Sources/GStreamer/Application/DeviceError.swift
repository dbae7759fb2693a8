// SPDX-License-Identifier: MPL-2.0

/// The reason devices cannot be found or used.
public enum DeviceError: Error, Hashable, Sendable {
  /// The caps that devices are to support are not valid.
  case invalidCaps(String)
  /// No plugin is installed that finds devices of these classes.
  case noProvider(classes: String)
  /// The devices cannot be watched: a provider refuses, for instance because its daemon does not run.
  case notStarted(classes: String)
  /// There is no element for the device.
  case noElement(device: String)
}

extension DeviceError: CustomStringConvertible {
  /// One sentence for users.
  public var description: String {
    switch self {
    case .invalidCaps(let text): "“\(text)” is not valid caps"
    case .noProvider(let classes): "no plugin finds devices\(Self.of(classes))"
    case .notStarted(let classes): "devices\(Self.of(classes)) cannot be watched"
    case .noElement(let device): "there is no element for the device “\(device)”"
    }
  }

  private static func of(_ classes: String) -> String { classes.isEmpty ? "" : " of the classes \(classes)" }
}
