// SPDX-License-Identifier: MPL-2.0
import Containers
import SystemPackage

/// Writes to a file, a pipe or a device, without a copy.
struct ByteWriter {
  private let name: String
  private let file: OpenFile

  init(_ output: OutputFile) throws(Failure) { (name, file) = (output.name, try output.open()) }

  func write(_ bytes: Span<UInt8>) throws(Failure) {
    do throws(Errno) { try file.descriptor.writeFully(bytes) } catch {
      throw Failure("\(name): cannot be written: \(error)")
    }
  }

  func write(_ text: String) throws(Failure) { try write(text.utf8.span) }
}
