// SPDX-License-Identifier: MPL-2.0
import Glibc
import SystemPackage

/// The files of a playlist: a folder beside it, which has its name without the suffix. It is filled under a temporary
/// name and renamed when it is complete.
final class OutputFolder: Sendable {
  /// Its name, a reference for the playlist that needs no escapes: players disagree on them for local files.
  let reference: String
  /// Its path for messages.
  private let name: String
  private let part: FilePath
  private let target: FilePath
  private let mayReplace: Bool
  private let inputs: [InputFile]
  private let removal: Ending.Key

  /// Makes the temporary folder.
  ///
  /// - Parameters:
  ///   - playlist: the playlist's path.
  ///   - force: whether an existing folder may be replaced.
  ///   - inputs: files that must not be in it.
  /// - Throws: a `Failure` if the folder exists, has other files than those of a playlist, or cannot be written.
  init(beside playlist: FilePath, force: Bool, inputs: [InputFile]) throws(Failure) {
    let name = playlist.lastComponentBytes
    let stem = name.prefix(upTo: name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)
    reference = Self.reference(stem)
    target = playlist.removingLastComponent().appending(reference)
    (self.name, mayReplace, self.inputs) = (target.string, force, inputs)
    guard !stem.isEmpty, stem.count < name.count else {
      throw Failure("\(playlist): a playlist needs a name and a suffix")
    }
    let part = OutputFile.temporaryPath(beside: target)
    do throws(Errno) { try part.makeFolder() } catch { throw Failure("\(target): cannot be written: \(error)") }
    self.part = part
    removal = Ending.add {
      Self.empty(part)
      try? part.removeFolder()
    }
    do throws(Failure) { _ = try isThere() } catch {
      discard()
      throw error
    }
  }

  /// A name with characters that a path of a reference may have (RFC 3986, 3.3). Other bytes, and a dot in front, become
  /// `_` and two digits.
  private static func reference(_ name: ArraySlice<UInt8>) -> String {
    name.reduce(into: "") { reference, byte in
      switch byte {
      case UInt8(ascii: ".") where reference.isEmpty: reference += "_2E"
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"):
        reference.unicodeScalars.append(Unicode.Scalar(byte))
      default: reference += "_\(Text.hexadecimal([byte]).uppercased())"
      }
    }
  }

  /// Whether a folder is there that is to be replaced.
  ///
  /// - Throws: a `Failure` if something is there that may not be replaced.
  private func isThere() throws(Failure) -> Bool {
    guard let status = try? Stat(target) else { return false }
    guard mayReplace else { throw Failure("\(name): already exists; --force replaces it") }
    guard status.type == .directory, target.linkTarget == nil else {
      throw Failure("\(name): in the place of the folder for segments")
    }
    let files: [FilePath.Component]
    do throws(Errno) { files = try target.names() } catch { throw Failure("\(name): cannot be read: \(error)") }
    for file in files {
      guard Self.isPart(file.string) else {
        throw Failure("\(name): not replaced, because it has other files than those of a playlist, such as \(file)")
      }
      if let status = try? Stat(target.appending(file)), inputs.contains(where: { $0.isSameFile(as: status) }) {
        throw Failure("\(name): has the input itself")
      }
    }
    return true
  }

  /// Whether a file's name is one of a playlist or of its segments.
  private static func isPart(_ name: String) -> Bool {
    guard name.hasPrefix("video") || name.hasPrefix("audio-") else { return false }
    return [".m3u8", "-init.mp4", ".m4s"].contains { name.hasSuffix($0) }
  }

  private static func empty(_ folder: FilePath) {
    for name in (try? folder.names()) ?? [] { try? folder.appending(name).remove() }
  }

  /// Removes the files that are in it.
  func empty() { Self.empty(part) }

  /// Makes a file.
  func makeFile(_ name: String) throws(Errno) -> OpenFile {
    try Errno.typed {
      OpenFile(
        try FileDescriptor.open(
          part.appending(name), .writeOnly, options: [.create, .truncate, .closeOnExec],
          permissions: FilePermissions(rawValue: 0o666)))
    }
  }

  /// Writes a whole file.
  func write(_ bytes: [UInt8], to name: String) throws(Failure) {
    do throws(Errno) {
      let file = try makeFile(name)
      try file.descriptor.writeFully(bytes.span)
    } catch { throw Failure("\(self.name)/\(name): \(error)") }
  }

  /// Renames the complete folder to its own name.
  ///
  /// - Throws: a `Failure`, also when the name exists by now and may not be replaced.
  func commit() throws(Failure) {
    let replaces = try isThere()
    do throws(Errno) {
      if replaces {
        try replace()
      } else {
        try part.rename(to: target)
      }
    } catch { throw Failure("\(name): \(error)") }
    // The folder that was replaced has the temporary name now.
    if replaces { Ending.perform(removal) } else { Ending.forget(removal) }
  }

  private func replace() throws(Errno) {
    do throws(Errno) { try part.exchange(with: target) } catch {
      // The file system or the kernel cannot exchange.
      guard [.invalidArgument, .noFunction].contains(error) else { throw error }
      Self.empty(target)
      try target.removeFolder()
      try part.rename(to: target)
    }
  }

  /// Removes the temporary folder.
  func discard() { Ending.perform(removal) }
}
