// SPDX-License-Identifier: MPL-2.0

/// The findings about a picture that was marked and stored.
struct EndedPicture: Sendable {
  /// Memory management control operations of H.264 that name a picture that is missing, and the picture.
  var missing: [(operation: UInt32, name: StaticString, number: Int64)] = []
  /// Reference frames after such operations, and the most that the SPS allows; nil without operations.
  var references: (count: Int, limit: Int)?
  /// The error in storing it; nil while pictures before it may be missing.
  var trouble: StorageTrouble?
  /// Pictures that the decoded picture buffer holds.
  var capacity: Int
}

/// The errors in storing a picture.
struct StorageTrouble: Sendable {
  /// A picture was output after one of a higher POC.
  var late: (order: Int32, behind: Int32)?
  /// Every picture of the buffer is a reference.
  var isFull = false
}
