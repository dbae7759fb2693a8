// SPDX-License-Identifier: MPL-2.0

import TestSupport

extension RecordFile {
  /// What is read of whole streams. Their syntax elements are FFmpeg's too (`make test-report` with `ALL_VECTORS=1`).
  static let streams = RecordFile("streams.tsv")
  /// The syntax elements of structures that have everything there is.
  static let structures = RecordFile("structures.tsv")
  /// What the tables of the Recommendations give, for every value that a stream may send.
  static let tables = RecordFile("tables.tsv")
}
