// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
package import SystemPackage

// Error values and system calls that swift-system lacks.

extension Errno {
  /// The error of the last call.
  package static var last: Errno { Errno(rawValue: errno) }

  /// Performs calls of swift-system's, which throw errors of this type alone, but are not declared so.
  static func typed<Result>(_ calls: () throws -> Result) throws(Errno) -> Result {
    do { return try calls() } catch { throw error as? Errno ?? .ioError }
  }

  /// Throws the error of a call that returned anything but 0.
  fileprivate static func check(_ result: Int32) throws(Errno) { if result != 0 { throw last } }
}

extension Stat {
  func isSameFile(as other: Stat) -> Bool { deviceID == other.deviceID && inode == other.inode }
}

extension FilePath {
  package var isReadable: Bool { unsafe withPlatformString { unsafe access($0, R_OK) } == 0 }

  func checkWritable() throws(Errno) { try unsafe call { unsafe access($0, W_OK) } }

  package func remove() throws(Errno) { try unsafe call { unsafe unlink($0) } }

  func rename(to other: FilePath) throws(Errno) {
    try unsafe call { old in unsafe other.withPlatformString { unsafe Glibc.rename(old, $0) } }
  }

  /// Exchanges two files or folders in one step.
  func exchange(with other: FilePath) throws(Errno) {
    try unsafe call { path in unsafe other.withPlatformString { unsafe clinux_exchange(path, $0) } }
  }

  func makeFolder() throws(Errno) { try unsafe call { unsafe mkdir($0, 0o777) } }

  /// Removes an empty folder.
  func removeFolder() throws(Errno) { try unsafe call { unsafe rmdir($0) } }

  /// The names in a folder.
  func names() throws(Errno) -> [Component] {
    guard let folder = unsafe withPlatformString({ unsafe opendir($0) }) else { throw .last }
    defer { unsafe closedir(folder) }
    var names: [Component] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe Component(platformString: $0) }
      }
      if let name, name.kind == .regular { names.append(name) }
    }
    return names
  }

  /// Gives the file a second name, which must not exist.
  package func link(as other: FilePath) throws(Errno) {
    try unsafe call { old in unsafe other.withPlatformString { unsafe Glibc.link(old, $0) } }
  }

  private func call(_ call: (UnsafePointer<CChar>) -> Int32) throws(Errno) {
    try unsafe Errno.check(withPlatformString { unsafe call($0) })
  }

  /// The target of a symbolic link; `nil` for anything else.
  package var linkTarget: FilePath? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { target in
      let length = unsafe withPlatformString { unsafe readlink($0, target.baseAddress!, target.count) }
      guard length > 0, length < target.count else { return nil }
      return unsafe FilePath(platformString: target[..<length] + [0])
    }
  }

  /// The path with its last component changed, as bytes, which need not be UTF-8.
  package func renamed(_ change: (inout [UInt8]) -> Void) -> FilePath {
    var name = lastComponentBytes
    change(&name)
    let bytes = name.map { CChar(bitPattern: $0) } + [0]
    return Component(platformString: bytes).map { removingLastComponent().appending($0) } ?? self
  }

  /// The bytes of the last component, which need not be UTF-8.
  package var lastComponentBytes: [UInt8] {
    unsafe lastComponent?.withPlatformString { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
      .map { UInt8(bitPattern: $0) } ?? []
  }
}

extension FileDescriptor {
  package var isOpen: Bool { fcntl(rawValue, F_GETFD) >= 0 }
  package var isTerminal: Bool { isatty(rawValue) != 0 }
  /// A name by which the same file can be opened again.
  package var path: String { "/proc/self/fd/\(rawValue)" }

  func setPermissions(_ permissions: FilePermissions) throws(Errno) {
    try Errno.check(fchmod(rawValue, permissions.rawValue))
  }

  /// Reads up to `count` bytes, as soon as some are there; none at the end, and after an error.
  package func readAvailable(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = (try? whenReady(for: POLLIN) { try unsafe read(into: UnsafeMutableRawBufferPointer(buffer)) }) ?? 0
    }
  }

  /// Writes all bytes.
  package func writeFully(_ bytes: Span<UInt8>) throws(Errno) {
    var written = 0
    while written < bytes.count {
      written += try unsafe bytes.extracting(written...).withUnsafeBytes { rest throws(Errno) in
        try whenReady(for: POLLOUT) { try unsafe write(rest) }
      }
    }
  }

  /// Performs a call, again and again while the descriptor is not ready: others may have made it nonblocking, such as a
  /// pipe that is shared with a shell.
  private func whenReady(for event: Int32, _ call: () throws -> Int) throws(Errno) -> Int {
    while true {
      do throws(Errno) { return try Errno.typed(call) } catch {
        var wait = pollfd(fd: rawValue, events: Int16(event), revents: 0)
        guard error == .resourceTemporarilyUnavailable, unsafe poll(&wait, 1, -1) > 0 || errno == EINTR else {
          throw error
        }
      }
    }
  }
}

/// An open file. It is closed with its last owner, unless it was open when the program began.
package final class OpenFile: Sendable {
  private let number: Int32
  package var descriptor: FileDescriptor { FileDescriptor(rawValue: number) }

  package init(_ descriptor: FileDescriptor) { number = descriptor.rawValue }

  /// Opens a file.
  ///
  /// - Parameter name: the file's name in the error message, if it is not the path.
  package convenience init(
    _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions = [],
    name: String? = nil
  ) throws(Failure) {
    do { try self.init(.open(path, mode, options: options.union(.closeOnExec))) } catch {
      throw Failure("\(name ?? path.string): cannot be \(mode == .readOnly ? "read" : "written"): \(error)")
    }
  }

  /// Reads a whole text file.
  ///
  /// - Parameter limit: the largest size, in bytes.
  package static func contents(of path: FilePath, limit: Int) throws(Failure) -> [UInt8] {
    let file = try OpenFile(path, .readOnly)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count: Int
      do { count = try unsafe chunk.withUnsafeMutableBytes { try unsafe file.descriptor.read(into: $0) } } catch {
        throw Failure("\(path): cannot be read: \(error)")
      }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
    throw Failure("\(path): more than \(limit) bytes")
  }

  deinit { if !Self.inherited.contains(number) { try? descriptor.close() } }

  /// The descriptors below 1024 that were open when the program began, before it opened any itself.
  package static let inherited = Set((0..<1024 as Range<Int32>).filter { FileDescriptor(rawValue: $0).isOpen })
}
