// SPDX-License-Identifier: MPL-2.0

extension SessionConfiguration {
  /// Whether a session that is created now is likely to decode on a device, found without opening one.
  package var expectsDevice: Bool {
    let missing =
      switch isolation {
      case .none: MissingDevices.shared
      case .process: CodecStarter.shared.missingDevices
      }
    return hardware != .off && missing.mayBeThere(at: hardwareDevice)
  }
}
