// SPDX-License-Identifier: MPL-2.0
package import SystemPackage

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

  deinit { if !Self.inherited.contains(number) { try? descriptor.close() } }

  /// The descriptors below 1024 that were open when the program began, before it opened any itself.
  package static let inherited = Set((0..<1024 as Range<Int32>).filter { FileDescriptor(rawValue: $0).isOpen })
}
