// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc

/// Serves a session until its application closes the connection.
func serveSession(_ socket: consuming LinkSocket) -> Never {
  var message = LinkMessage()
  do throws(LinkError) {
    while true {
      try socket.receive(into: &message)
      try socket.send(message.bytes)
    }
  } catch { _exit(error == .closed ? 0 : 1) }
}
