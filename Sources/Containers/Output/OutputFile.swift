// SPDX-License-Identifier: MPL-2.0
package import GStreamer
import Glibc
package import SystemPackage

/// The output of a subcommand. A file is written under a temporary name in the same folder and renamed when it is
/// complete, so a failure leaves an existing file as it was. Devices, pipes and open descriptors are written
/// directly.
package struct OutputFile: Sendable {
  /// The name for messages: its path, or `standard output`.
  package let name: String
  private let mayReplace: Bool
  private let place: Place
  /// The folder of its other files, if it has any.
  private(set) var folder: OutputFolder?

  private enum Place {
    /// A descriptor that was open when the program began.
    case descriptor(OpenFile)
    /// A device or a pipe.
    case device(FilePath)
    /// A regular file: `commit` renames the temporary one.
    case file(FilePath, target: FilePath, removal: Ending.Key)
  }

  /// The path to write to: of a regular file, the temporary one; `nil` for a descriptor.
  package var path: FilePath? {
    switch place {
    case .descriptor: nil
    case .device(let path), .file(let path, _, _): path
    }
  }

  /// Whether it is a regular file, in which a muxer can seek.
  package var isSeekable: Bool { if case .file = place { true } else { false } }

  /// Makes the temporary file.
  ///
  /// - Parameters:
  ///   - force: whether an existing file may be replaced.
  ///   - inputs: files that the output must not be.
  ///   - texts: other files that it must not be.
  /// - Throws: a `Failure` when the output exists, is an input, is a terminal or cannot be written.
  package init(_ path: FilePath, force: Bool, inputs: [InputFile] = [], texts: [FilePath] = []) throws(Failure) {
    func check(_ status: Stat) throws(Failure) {
      guard !inputs.contains(where: { $0.isSameFile(as: status) }),
        !texts.contains(where: { (try? Stat($0))?.isSameFile(as: status) ?? false })
      else { throw Failure("\(path): the output is the input itself") }
    }
    name = Self.name(of: path)
    mayReplace = force
    guard !path.isEmpty else { throw Failure("the output has no name", .usage) }
    if let descriptor = Self.descriptor(path) {
      guard OpenFile.inherited.contains(descriptor.rawValue), let status = try? Stat(descriptor) else {
        throw Failure("\(path): not open for writing: \(Errno.badFileDescriptor)")
      }
      guard !descriptor.isTerminal else {
        throw Failure("\(path): a terminal; video goes into a file (-o FILE) or a pipe")
      }
      if status.type == .regular { try check(status) }
      place = .descriptor(OpenFile(descriptor))
      return
    }
    var status: Stat?
    do throws(Errno) { status = try Stat(path) } catch {
      guard error == .noSuchFileOrDirectory else { throw Failure("\(path): cannot be written: \(error)") }
    }
    if let status {
      guard status.type != .directory else { throw Failure("\(path): a folder; expected a file name") }
      guard status.type == .regular else {
        do throws(Errno) { try path.checkWritable() } catch {
          throw Failure("\(path): cannot be written: \(error)")
        }
        place = .device(path)
        return
      }
      try check(status)
      guard force else { throw Failure("\(path): already exists; --force replaces it") }
    }
    let target = Self.followingLinks(path)
    let part: FilePath
    do throws(Errno) {
      let file: FileDescriptor
      (part, file) = try Self.makeFile(beside: target)
      // A file that is replaced keeps its permissions.
      if let status { try? file.setPermissions(status.permissions) }
      try? file.close()
    } catch { throw Failure("\(path): cannot be written: \(error)") }
    place = .file(part, target: target, removal: Ending.add { try? part.remove() })
  }

  /// Makes the temporary file, and a folder for the files that it refers to.
  ///
  /// - Throws: a `Failure` as ``init(_:force:inputs:texts:)`` does, and if the output cannot have a folder.
  package init(playlist path: FilePath, force: Bool, inputs: [InputFile]) throws(Failure) {
    try self.init(path, force: force, inputs: inputs)
    guard case .file(_, let target, _) = place else {
      throw Failure("\(name): a playlist is a file, with a folder of segments beside it")
    }
    do throws(Failure) { folder = try OutputFolder(beside: target, force: force, inputs: inputs) } catch {
      discard()
      throw error
    }
  }

  /// Checks whether a file can be written, before anything is written.
  ///
  /// - Throws: a `Failure` as ``init(_:force:inputs:texts:)`` does.
  package static func check(
    _ path: FilePath, force: Bool, inputs: [InputFile], texts: [FilePath] = []
  ) throws(Failure) {
    try OutputFile(path, force: force, inputs: inputs, texts: texts).discard()
  }

  /// The name of an output with this path, for messages.
  package static func name(of path: FilePath) -> String { path == "-" ? "standard output" : path.string }

  /// Whether an output with this path is a regular file, in which a muxer can seek. Nothing is opened.
  package static func isSeekable(_ path: FilePath) -> Bool {
    descriptor(path) == nil && (try? Stat(path)).map { $0.type == .regular } ?? true
  }

  /// Makes the element that writes the output.
  package func sink() throws(Failure) -> PipelineElement {
    do throws(PipelineError) {
      let path: FilePath
      switch place {
      case .descriptor(let file):
        return try PipelineElement("fdsink", ["fd": .int(file.descriptor.rawValue), "sync": false])
      case .device(let name), .file(let name, _, _): path = name
      }
      if let location = String(validating: path) {
        return try PipelineElement("filesink", ["location": .string(location), "sync": false])
      }
      let file: FileDescriptor
      do { file = try FileDescriptor.open(path, .writeOnly, options: .closeOnExec) } catch {
        throw .notLoaded("\(error)")
      }
      // Open until the program ends: the sink opens it again by this name, when it starts.
      return try PipelineElement("filesink", ["location": .string(file.path), "sync": false])
    } catch { throw Failure(error, about: name) }
  }

  /// Opens the output for writing from its beginning.
  package func open() throws(Failure) -> OpenFile {
    switch place {
    case .descriptor(let file): return file
    case .device(let path): return try OpenFile(path, .writeOnly, name: name)
    case .file(let path, _, _):
      // Truncates only files with contents: ext4 delays the close of a truncated file until all of it is written.
      let file = try OpenFile(path, .writeOnly, name: name)
      do throws(Errno) {
        if try Stat(file.descriptor).size > 0 { try Errno.typed { try file.descriptor.resize(to: 0) } }
      } catch { throw Failure("\(name): cannot be written: \(error)") }
      return file
    }
  }

  /// Writes the file: completes it, or removes it if writing fails.
  package func written<Result>(by body: () async throws(Failure) -> Result) async throws(Failure) -> Result {
    try await Interruption.completing { () async throws(Failure) in
      do throws(Failure) {
        let result = try await body()
        try commit()
        return result
      } catch {
        discard()
        throw error
      }
    }
  }

  /// Renames the complete file to its own name.
  ///
  /// - Throws: a `Failure`, also when the name exists by now and may not be replaced.
  package func commit() throws(Failure) {
    guard case .file(let path, let target, let removal) = place else { return }
    // The file refers to the folder's.
    try folder?.commit()
    do throws(Errno) {
      if mayReplace { try path.rename(to: target) } else { try Self.moveToNewName(path, target) }
    } catch {
      throw Failure("\(name): \(error == .fileExists ? "exists already; --force replaces it" : "\(error)")")
    }
    Ending.forget(removal)
  }

  /// Renames a file with a link, which fails if the new name exists by now. Renaming would replace that file.
  private static func moveToNewName(_ path: FilePath, _ target: FilePath) throws(Errno) {
    do throws(Errno) { try path.link(as: target) } catch {
      // File systems without links report one of these errors: FAT and exFAT the first, network shares and FUSE the
      // others.
      guard [.notPermitted, .notSupportedOnSocket, .noFunction].contains(error), (try? Stat(target)) == nil else {
        throw error
      }
      return try path.rename(to: target)
    }
    try? path.remove()
  }

  /// Removes the temporary file and folder.
  package func discard() {
    if case .file(_, _, let removal) = place { Ending.perform(removal) }
    folder?.discard()
  }

  // MARK: Paths

  /// The open descriptor that a path means: `-`, or a file of /dev or /proc such as `/dev/fd/3`.
  private static func descriptor(_ path: FilePath) -> FileDescriptor? {
    switch path {
    case "-", "/dev/stdout": return .standardOutput
    case "/dev/stderr": return .standardError
    default:
      guard ["/dev/fd", "/proc/self/fd"].contains(path.removingLastComponent()) else { return nil }
      return path.lastComponent.flatMap { Int32($0.string) }.map(FileDescriptor.init)
    }
  }

  /// The path that a chain of symbolic links leads to, whether or not it exists.
  private static func followingLinks(_ path: FilePath) -> FilePath {
    var place = path
    for _ in 0..<40 {
      guard let next = place.linkTarget else { return place }
      place = place.removingLastComponent().pushing(next)
    }
    return place
  }

  /// A path in the folder of another.
  static func temporaryPath(beside target: FilePath) -> FilePath {
    target.removingLastComponent().appending(".h26x-\(getpid())-\(UInt32.random(in: 0 ... .max)).part")
  }

  /// Makes a new empty file with a name of its own in the folder of another.
  private static func makeFile(
    beside target: FilePath
  ) throws(Errno) -> (path: FilePath, descriptor: FileDescriptor) {
    for _ in 0..<100 {
      let path = temporaryPath(beside: target)
      let options: FileDescriptor.OpenOptions = [.create, .exclusiveCreate, .closeOnExec]
      do throws(Errno) {
        let file = try Errno.typed {
          try FileDescriptor.open(path, .writeOnly, options: options, permissions: FilePermissions(rawValue: 0o666))
        }
        return (path, file)
      } catch { if error != .fileExists { throw error } }
    }
    throw .fileExists
  }
}
