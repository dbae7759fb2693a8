// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc
import Synchronization

/// Where a subcommand writes. A file is written beside its place and put there when it is whole, so that a run that
/// fails leaves what was there; devices, pipes and open descriptors are written into.
struct OutputFile: Sendable {
  /// As the user wrote it; standard output in words.
  let name: String
  /// Where it is written now; `nil` for a descriptor.
  let path: String?
  private let descriptor: Int32?
  /// The file that the finished one becomes; `nil` for what is written into.
  private let target: String?
  private let mayReplace: Bool

  private static let unfinished = Mutex<Set<String>>([])

  /// Whether it can be sought in, as most muxers want.
  let isSeekable: Bool

  /// Looks at the place, and makes an empty file beside it.
  ///
  /// - Parameter inputs: files that it must not be.
  init(_ name: String, force: Bool, inputs: [InputFile] = []) throws(Failure) {
    self.name = name == "-" ? "standard output" : name
    mayReplace = force
    guard !name.isEmpty else { throw Failure("the output has no name", .usage) }
    if let descriptor = Self.descriptor(name) {
      guard let status = FileStatus(descriptor: descriptor) else {
        throw Failure("\(name): not open for writing: \(systemError())")
      }
      guard isatty(descriptor) == 0 else {
        throw Failure("\(name): a terminal; video goes into a file (-o FILE) or a pipe")
      }
      for input in inputs where status.isRegular && input.isSameFile(as: status) {
        throw Failure("\(name): the input itself")
      }
      (self.descriptor, path, target, isSeekable) = (descriptor, nil, nil, false)
      return
    }
    descriptor = nil
    let status = FileStatus(path: name)
    if let status {
      guard !status.isFolder else { throw Failure("\(name): a folder; expected a file's name") }
      guard status.isRegular else {
        guard unsafe access(name, W_OK) == 0 else { throw Failure("\(name): cannot be written: \(systemError())") }
        (path, target, isSeekable) = (name, nil, false)
        return
      }
      for input in inputs where input.isSameFile(as: status) { throw Failure("\(name): the input itself") }
      guard force else { throw Failure("\(name): exists already; --force replaces it") }
    } else if errno != ENOENT {
      throw Failure("\(name): cannot be written: \(systemError())")
    }
    let target = Self.followingLinks(name)
    let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
    guard let (path, file) = Self.makeFile(in: folder) else {
      throw Failure("\(name): cannot be written: \(systemError())")
    }
    // A file that is replaced keeps its permissions.
    if let status { fchmod(file, status.permissions) }
    close(file)
    Self.unfinished.withLock { _ = $0.insert(path) }
    (self.path, self.target, isSeekable) = (path, target, true)
  }

  /// The element that writes there.
  func sink() throws(Failure) -> PipelineElement {
    do throws(PipelineError) {
      guard let path else { return try PipelineElement("fdsink", ["fd": .int(descriptor ?? 1), "sync": false]) }
      return try PipelineElement("filesink", ["location": .string(path), "sync": false])
    } catch { throw Failure(error, about: name) }
  }

  /// A descriptor to write to, and whether it is the caller's to close.
  func openForWriting() throws(Failure) -> (descriptor: Int32, isOwned: Bool) {
    guard let path else { return (descriptor ?? STDOUT_FILENO, false) }
    let file = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw Failure("\(name): cannot be written: \(systemError())") }
    return (file, true)
  }

  /// Puts the finished file into its place.
  func commit() throws(Failure) {
    guard let path, let target else { return }
    // Linked, not renamed, where nothing may be replaced that came in between. Not every file system has links.
    var failed = true
    if !mayReplace { failed = unsafe link(path, target) != 0 }
    if !failed {
      unsafe unlink(path)
    } else if mayReplace || (errno == EPERM && FileStatus(path: target) == nil) {
      failed = unsafe rename(path, target) != 0
    }
    if failed {
      throw Failure(errno == EEXIST ? "\(name): exists already; --force replaces it" : "\(name): \(systemError())")
    }
    Self.unfinished.withLock { _ = $0.remove(path) }
  }

  /// Takes away what was written beside its place.
  func discard() {
    guard let path, target != nil else { return }
    unsafe unlink(path)
    Self.unfinished.withLock { _ = $0.remove(path) }
  }

  /// Takes away all that was not committed.
  static func removeUnfinished() {
    for path in unfinished.withLock({ $0 }) { unsafe unlink(path) }
  }

  // MARK: Paths

  /// The open descriptor that a name stands for: `-`, or what the system calls it.
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

  /// The place that a link names at last, whether or not something is there.
  private static func followingLinks(_ name: String) -> String {
    var place = name
    for _ in 0..<40 {
      let next = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
        let length = unsafe readlink(place, buffer.baseAddress!, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return unsafe String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
      guard let next else { return place }
      let folder = place.lastIndex(of: "/").map { place[...$0] } ?? ""
      place = next.hasPrefix("/") ? next : folder + next
    }
    return place
  }

  /// A new empty file of a name that nobody has.
  private static func makeFile(in folder: String) -> (path: String, descriptor: Int32)? {
    for _ in 0..<100 {
      let path = "\(folder).h26x-\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
      let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
      if descriptor >= 0 { return (path, descriptor) }
      guard errno == EEXIST else { return nil }
    }
    return nil
  }
}
