// SPDX-License-Identifier: MPL-2.0

/// The kind and id of a parameter set, by which other structures refer to it.
package struct ParameterSetName: Sendable, Hashable {
  /// The kinds, each with ids of its own. A set refers to kinds in front of its own.
  package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// VPS.
    case video
    /// SPS, and in H.264 the subset SPS and the SPS extension with its id.
    case sequence
    /// PPS.
    case picture
  }

  /// The kind.
  package var kind: Kind
  /// The id.
  package var id: UInt8

  /// Creates a name.
  package init(_ kind: Kind, _ id: UInt8) { (self.kind, self.id) = (kind, id) }
}

extension ParameterSetIdentifiers {
  /// The new id of a set.
  package subscript(name: ParameterSetName) -> UInt8 {
    get {
      switch name.kind {
      case .video: self[VideoParameterSetID(name.id)].rawValue
      case .sequence: self[SequenceParameterSetID(name.id)].rawValue
      case .picture: self[PictureParameterSetID(name.id)].rawValue
      }
    }
    set {
      switch name.kind {
      case .video: self[VideoParameterSetID(name.id)] = .init(newValue)
      case .sequence: self[SequenceParameterSetID(name.id)] = .init(newValue)
      case .picture: self[PictureParameterSetID(name.id)] = .init(newValue)
      }
    }
  }
}
