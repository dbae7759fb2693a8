// SPDX-License-Identifier: MPL-2.0
import TestSupport

extension RecordFile {
  /// The output of parsers and repackagers, made by `RecordedRun`.
  static let elements = RecordFile("elements.tsv")
  /// The output of decoders, made by `RecordedRun`.
  static let decoders = RecordFile("decoders.tsv")
  /// The output of parsers in pull mode.
  static let files = RecordFile("files.tsv")
  /// Vectors in containers, on a device.
  static let hardwareContainers = RecordFile("hardware-containers.tsv")
}
