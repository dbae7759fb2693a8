// SPDX-License-Identifier: MPL-2.0

import TestSupport

extension RecordFile {
  /// Results for whole streams. Their syntax elements are compared with FFmpeg's (`make test-report` with
  /// `ALL_VECTORS=1`).
  static let streams = RecordFile("streams.tsv")
  /// The syntax elements of structures with every optional part.
  static let structures = RecordFile("structures.tsv")
  /// The values that each syntax element may have, and what becomes of structures with an inverted bit.
  static let legalValues = RecordFile("legal-values.tsv")
  /// The tables of the Recommendations, for every value that a stream may send.
  static let tables = RecordFile("tables.tsv")
}
