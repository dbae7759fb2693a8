// SPDX-License-Identifier: MPL-2.0
import Glibc

/// The system's message for an `errno` value.
func systemError(_ code: Int32 = errno) -> String {
  unsafe strerror(code).map { unsafe String(cString: $0) } ?? "\(code)"
}

/// The status of a file (stat(2)); symbolic links are followed.
struct FileStatus {
  private let raw: stat

  /// `nil`, with `errno` set, when the file does not exist or its folder may not be searched.
  init?(path: String) {
    var raw = stat()
    guard unsafe stat(FileName.path(path), &raw) == 0 else { return nil }
    self.raw = raw
  }

  init?(descriptor: Int32) {
    var raw = stat()
    guard unsafe fstat(descriptor, &raw) == 0 else { return nil }
    self.raw = raw
  }

  var isRegular: Bool { raw.st_mode & S_IFMT == S_IFREG }
  var isFolder: Bool { raw.st_mode & S_IFMT == S_IFDIR }
  var size: Int { raw.st_size }
  var permissions: mode_t { raw.st_mode & 0o7777 }
  func isSameFile(as other: FileStatus) -> Bool { raw.st_dev == other.raw.st_dev && raw.st_ino == other.raw.st_ino }
}
