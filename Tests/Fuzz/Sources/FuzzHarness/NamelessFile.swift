// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import Glibc

/// A file without a name, which goes when the value goes.
public struct NamelessFile: ~Copyable {
  private let descriptor: Int32

  /// Where elements find it.
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
