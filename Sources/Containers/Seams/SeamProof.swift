// SPDX-License-Identifier: MPL-2.0

/// The number of copied access units that must be verified behind an entry that promises nothing: until no earlier
/// picture is a reference any more.
struct SeamProof<Codec: SeamSyntax> {
  private var reader: OpenSeam<Codec>
  private var count = 0
  /// The number of access units that prove the entry; `nil` if there are more than came up to now.
  private(set) var neededCount: Int?

  /// - Parameter reader: has read the source up to the entry.
  init(behind reader: OpenSeam<Codec>) {
    self.reader = reader
    _ = self.reader.takeWaiting()
    self.reader.references?.begin()
  }

  /// Takes the next copied access unit.
  mutating func take(_ accessUnit: MediaOutput.AccessUnit) {
    reader.read(accessUnit)
    reader.follow(accessUnit)
    count += 1
    if neededCount == nil, reader.references?.hasEarlier == false { neededCount = count }
  }
}
