// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecodeError {
  /// The failure of an access unit that libavcodec decoded with error `code`.
  init(decoding record: LedgerEntry, code: AVError) {
    let reason: Reason =
      switch code {
      case .unsupportedFeature, .notImplemented: .unsupportedFeature
      case .outOfMemory: .allocationFailed
      case .serviceUnavailable, .fileSizeLimit, .descriptorLimit: .processUnavailable
      case .hardwareRefused, .hardwareBusy, .hardwareUnavailable: .hardwareUnavailable
      case let code where code.meansLostSession: .malfunction
      default: .badData
      }
    self.init(
      reason, code: code, tag: record.request.tag, accessUnitNumber: record.index,
      nalUnitType: record.summary.nalUnitType)
  }
}
