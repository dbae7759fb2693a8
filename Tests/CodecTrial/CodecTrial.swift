// SPDX-License-Identifier: MPL-2.0
import CodecService
import Glibc

/// A codec service for tests. Its environment chooses how its processes differ from those of h26x-codec.
@main enum CodecTrial {
  static func main() {
    var process = SessionProcess()
    if unsafe getenv("CODEC_TRIAL_ESCAPES") != nil { process.serve = { socket, _ in EscapeTrial.run(socket) } }
    if unsafe getenv("CODEC_TRIAL_LACKS_FILTER") != nil { process.installsFilter = false }
    Starter.run(.software, process)
  }
}
