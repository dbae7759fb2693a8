// SPDX-License-Identifier: MPL-2.0

/// The reason that there are no more pictures.
public enum DecodingFailure<SourceFailure: Error>: Error {
  /// The source of access units failed.
  case source(SourceFailure)
  /// A session could not be opened, or refused an access unit.
  case decoding(DecodeError)
}

extension DecodingFailure: CustomStringConvertible {
  /// The error that the source or the session has thrown.
  public var description: String {
    switch self {
    case .source(let error): "\(error)"
    case .decoding(let error): "\(error)"
    }
  }
}
