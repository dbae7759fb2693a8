// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import Glibc

/// A temporary file without a name, which is removed with the value.
public struct NamelessFile: ~Copyable {
  private let descriptor: Int32

  /// The path for elements.
  public var path: String { "/proc/self/fd/\(descriptor)" }

  /// Creates a file of these bytes, and registers the elements that may read it.
  public init(_ bytes: Span<UInt8>) {
    ElementSubject.registerElements()
    var name = Array("/tmp/fuzz-XXXXXX".utf8CString)
    descriptor = unsafe mkstemp(&name)
    require(descriptor >= 0, "no temporary file")
    unsafe unlink(name)
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    require(written == bytes.count, "the temporary file is short")
  }

  deinit { close(descriptor) }
}
