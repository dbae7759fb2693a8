// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecService
import Glibc
import H26x
import VideoDecoding

/// The program h26x-codec: decodes for an application behind a wall.
@main enum CodecServiceProgram {
  static func main() {
    let arguments = arguments
    if arguments == ["--starter"] { Starter.run(.software) }
    if arguments == ["--hardware-starter"] { Starter.run(.hardware) }
    if arguments == [CodecServiceLocation.trial] { Starter.tryOut() }
    if arguments == ["--version"] {
      print("\(ReleaseVersion.text)")
    } else {
      let text = "h26x-codec: applications start this program to decode in a separate process\n"
      unsafe [UInt8](text.utf8).withUnsafeBytes { _ = unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
      exit(64)  // EX_USAGE
    }
  }

  /// Without the program's name. Swift reads them from /proc, which need not be there.
  private static var arguments: [String] {
    var count = CommandLine.argc
    guard count == 0, let found = unsafe clinux_arguments(&count) else {
      return Array(CommandLine.arguments.dropFirst())
    }
    return (1..<max(1, Int(count))).compactMap { index in
      unsafe found[index].map { unsafe String(cString: $0) }
    }
  }
}
