// SPDX-License-Identifier: MPL-2.0
import TestSupport

extension RecordFile {
  /// What comes out of parsers and repackagers: by `RecordedRun`.
  static let elements = RecordFile("elements.tsv")
  /// What comes out of decoders: by `RecordedRun`.
  static let decoders = RecordFile("decoders.tsv")
  /// What comes of files that a parser reads itself.
  static let files = RecordFile("files.tsv")
}
