// SPDX-License-Identifier: MPL-2.0
import Glibc
public import H26x
public import StreamReport

/// The reason that a video file cannot be read, or not to its end.
public enum VideoFileError: Error, Sendable {
  /// The file cannot be opened; `code` is an `errno`.
  case cannotOpen(path: String, code: Int32)
  /// The container is damaged, or has no H.264 or H.265 track (``/StreamReport/MP4/ReadError/Reason/missing``).
  case container(MP4.ReadError)
  /// The parameter sets of a sample description, or of the samples that should have them, cannot be used.
  case format(BitstreamError)
  /// A byte stream is neither H.264 nor H.265, as far as its beginning shows.
  case unknownCodec
}

extension VideoFileError: CustomStringConvertible {
  /// The problem, with the file or box that has it.
  public var description: String {
    switch self {
    case .cannotOpen(let path, let code):
      code == EINVAL
        ? "\(path): not a regular file"
        : "\(path): \(unsafe strerror(code).map { unsafe String(cString: $0) } ?? "\(code)")"
    case .container(let error):
      switch (error.reason, error.box) {
      case (.missing, FourCharacterCode("moov")): "neither MP4 nor MOV: there is no moov box"
      case (.missing, FourCharacterCode("trak")): "no track of H.264 or H.265"
      // The first bytes of the file are no box.
      case (.badSize, _) where error.offset == 0: "neither MP4 nor MOV"
      default: "the container cannot be read: \(error.reason) in \(error.box) at byte \(error.offset)"
      }
    case .format(let error): "the parameter sets cannot be used: \(error)"
    case .unknownCodec: "neither H.264 nor H.265"
    }
  }
}
