// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc

/// Serves a session until its application closes the connection.
func serveSession(_ socket: consuming LinkSocket, _ opened: OpenedDevice?) -> Never {
  do throws(LinkError) {
    try CodecServer.serve(socket, device: opened?.device)
  } catch { _exit(error == .closed ? 0 : 1) }
}
