// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc
import H26x

/// The program h26x-codec: decodes for an application behind a wall.
@main enum CodecServiceProgram {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments == ["--starter"] { Starter.run(.software) }
    if arguments == ["--hardware-starter"] { Starter.run(.hardware) }
    if arguments == ["--version"] {
      print("\(ReleaseVersion.text)")
    } else {
      let text = "h26x-codec: applications start this program when they decode in a process of its own\n"
      unsafe [UInt8](text.utf8).withUnsafeBytes { _ = unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
      exit(64)  // EX_USAGE
    }
  }
}
