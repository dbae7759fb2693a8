// SPDX-License-Identifier: MPL-2.0

/// An element's description in `gst-inspect-1.0`.
public struct ElementMetadata: Sendable {
  /// The long name.
  public var name: String
  /// The klass string, such as `Codec/Decoder/Video`.
  public var classification: String
  /// One sentence.
  public var description: String
  /// Name and address.
  public var author: String

  /// An element's description in `gst-inspect-1.0`.
  public init(name: String, classification: String, description: String, author: String) {
    self.name = name
    self.classification = classification
    self.description = description
    self.author = author
  }
}
