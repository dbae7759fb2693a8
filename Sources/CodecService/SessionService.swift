// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc
import VideoDecoding

/// Serves a session until its application closes the connection.
func serveSession(_ socket: consuming LinkSocket) -> Never {
  do throws(LinkError) {
    try CodecServer.serve(socket)
  } catch { _exit(error == .closed ? 0 : 1) }
}
