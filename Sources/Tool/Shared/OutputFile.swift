// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc

/// The output of a subcommand. A file is written under a temporary name in the same folder and renamed when it is
/// complete, so that a failure leaves an existing file as it was; devices, pipes and open descriptors are written
/// directly.
struct OutputFile: Sendable {
  /// The name on the command line, or `standard output`.
  let name: String
  /// The path to write to: of a regular file, the temporary one; `nil` for a descriptor.
  let path: String?
  private let descriptor: Int32?
  /// The path that `commit` renames to; `nil` for what is written directly.
  private let target: String?
  private let mayReplace: Bool

  /// Removes the temporary file; `nil` for what is written directly.
  private let removal: Ending.Key?

  /// Whether it is a regular file, in which a muxer can seek.
  let isSeekable: Bool

  /// Makes the temporary file.
  ///
  /// - Parameters:
  ///   - force: whether an existing file may be replaced.
  ///   - inputs: files that the output must not be.
  /// - Throws: a `Failure` when the output exists, is an input, is a terminal or cannot be written.
  init(_ name: String, force: Bool, inputs: [InputFile] = []) throws(Failure) {
    self.name = name == "-" ? "standard output" : name
    mayReplace = force
    guard !name.isEmpty else { throw Failure("the output has no name", .usage) }
    if let descriptor = Self.descriptor(name) {
      guard Descriptor.inherited.contains(descriptor), let status = FileStatus(descriptor: descriptor) else {
        errno = EBADF
        throw Failure("\(name): not open for writing: \(systemError())")
      }
      guard isatty(descriptor) == 0 else {
        throw Failure("\(name): a terminal; video goes into a file (-o FILE) or a pipe")
      }
      for input in inputs where status.isRegular && input.isSameFile(as: status) {
        throw Failure("\(name): the input itself")
      }
      (self.descriptor, path, target, isSeekable, removal) = (descriptor, nil, nil, false, nil)
      return
    }
    descriptor = nil
    let status = FileStatus(path: name)
    if let status {
      guard !status.isFolder else { throw Failure("\(name): a folder; expected a file's name") }
      guard status.isRegular else {
        guard unsafe access(FileName.path(name), W_OK) == 0 else {
          throw Failure("\(name): cannot be written: \(systemError())")
        }
        (path, target, isSeekable, removal) = (name, nil, false, nil)
        return
      }
      for input in inputs where input.isSameFile(as: status) { throw Failure("\(name): the input itself") }
      guard force else { throw Failure("\(name): exists already; --force replaces it") }
    } else if errno != ENOENT {
      throw Failure("\(name): cannot be written: \(systemError())")
    }
    let target = Self.followingLinks(name)
    guard let (path, file) = Self.makeFile(in: FileName.folder(of: target)) else {
      throw Failure("\(name): cannot be written: \(systemError())")
    }
    // A file that is replaced keeps its permissions.
    if let status { fchmod(file, status.permissions) }
    close(file)
    removal = Ending.add { unsafe unlink(FileName.path(path)) }
    (self.path, self.target, isSeekable) = (path, target, true)
  }

  /// Makes the element that writes the output.
  func sink() throws(Failure) -> PipelineElement {
    do throws(PipelineError) {
      guard let path else { return try PipelineElement("fdsink", ["fd": .int(descriptor ?? 1), "sync": false]) }
      guard !FileName.isText(path) else {
        return try PipelineElement("filesink", ["location": .string(path), "sync": false])
      }
      let file = unsafe open(FileName.path(path), O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { throw .notLoaded(systemError()) }
      // Open until the program ends: the sink opens it again by this name, when it starts.
      return try PipelineElement("filesink", ["location": .string("/proc/self/fd/\(file)"), "sync": false])
    } catch { throw Failure(error, about: name) }
  }

  /// A descriptor to write to, and whether the caller must close it.
  func openForWriting() throws(Failure) -> (descriptor: Int32, isOwned: Bool) {
    guard let path else { return (descriptor ?? STDOUT_FILENO, false) }
    let file = unsafe open(FileName.path(path), O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw Failure("\(name): cannot be written: \(systemError())") }
    return (file, true)
  }

  /// Renames the complete file to its own name.
  ///
  /// - Throws: a `Failure`, also when the name exists by now and may not be replaced.
  func commit() throws(Failure) {
    guard let path = path.map(FileName.path), let name = target, let removal else { return }
    let target = FileName.path(name)
    // Without --force, a link: it fails where rename would replace a file that was made meanwhile. File systems without
    // links report one of these errors: FAT and exFAT EPERM, network shares and FUSE the others.
    var failed = true
    if !mayReplace { failed = unsafe link(path, target) != 0 }
    if !failed {
      unsafe unlink(path)
    } else if mayReplace || ([EPERM, EOPNOTSUPP, ENOSYS].contains(errno) && FileStatus(path: name) == nil) {
      failed = unsafe rename(path, target) != 0
    }
    if failed {
      let reason = errno == EEXIST ? "exists already; --force replaces it" : systemError()
      throw Failure("\(self.name): \(reason)")
    }
    Ending.forget(removal)
  }

  /// Removes the temporary file.
  func discard() { if let removal { Ending.perform(removal) } }

  // MARK: Paths

  /// The open descriptor that a name means: `-`, or a file of /dev or /proc such as `/dev/fd/3`.
  private static func descriptor(_ name: String) -> Int32? {
    switch name {
    case "-", "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default:
      for folder in ["/dev/fd/", "/proc/self/fd/"] where name.hasPrefix(folder) {
        return Int32(name.dropFirst(folder.count))
      }
      return nil
    }
  }

  /// The path that a chain of symbolic links leads to, whether or not it exists.
  private static func followingLinks(_ name: String) -> String {
    var place = name
    for _ in 0..<40 {
      let next = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
        let length = unsafe readlink(FileName.path(place), buffer.baseAddress!, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return unsafe FileName.string(buffer[..<length].map { UInt8(bitPattern: $0) })
      }
      guard let next else { return place }
      place = next.unicodeScalars.first == "/" ? next : FileName.folder(of: place) + next
    }
    return place
  }

  /// Makes a new empty file with a name of its own; `nil`, with `errno` set, where that fails.
  private static func makeFile(in folder: String) -> (path: String, descriptor: Int32)? {
    for _ in 0..<100 {
      let path = "\(folder).h26x-\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
      let descriptor = unsafe open(FileName.path(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
      if descriptor >= 0 { return (path, descriptor) }
      guard errno == EEXIST else { return nil }
    }
    return nil
  }
}
