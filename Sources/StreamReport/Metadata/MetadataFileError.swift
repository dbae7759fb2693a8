// SPDX-License-Identifier: MPL-2.0

/// Why a file with metadata of pictures cannot be read.
package struct MetadataFileError: Error, Sendable {
  /// A place in a file.
  package enum Place: Sendable, Equatable {
    /// A line of text, from 1.
    case line(Int)
    /// A byte, from 0.
    case offset(UInt64)
  }

  package let place: Place
  /// The picture that the place belongs to, from 0; nil for none.
  package let picture: Int?
  /// The contents of the place.
  package let found: ReportText
  /// The contents that it must have.
  package let expected: ReportText

  init(_ place: Place, picture: Int? = nil, _ found: ReportText, expected: ReportText) {
    (self.place, self.picture, self.found, self.expected) = (place, picture, found, expected)
  }

  /// "line 7: picture 2: 2 numbers in MaxScl; expected 3".
  package var text: ReportText {
    let place: ReportText =
      switch self.place {
      case .line(let number): "line \(number)"
      case .offset(let offset): "offset \(offset)"
      }
    let subject: ReportText = if let picture { "\(place): picture \(picture)" } else { place }
    return "\(subject): \(found); expected \(expected)"
  }
}
