// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink
import Glibc
package import VideoDecoding

/// The other end of a codec, played in this process: its answers are sent before they are waited for.
package final class LyingProcess {
  private let socket: LinkSocket
  private let service: SessionProcess
  /// The place where slots are granted, once the codec has been opened.
  private var grants: LinkSocket?

  /// Connects a process that has answered nothing yet.
  package init() throws(LinkError) {
    let sockets = try DescriptorPair.sockets()
    let reports = try DescriptorPair.sockets()
    socket = LinkSocket(owning: sockets.second)
    // No process: signals to it reach nobody.
    let nobody = try LinkError.check(unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC))
    service = SessionProcess(
      socket: LinkSocket(owning: sockets.first), processIdentifier: 0, process: OwnedDescriptor(owning: nobody),
      report: LinkSocket(owning: reports.first), protection: [], missingProtection: [])
  }

  /// Opens a codec that waits up to `timeout` for each answer. All answers were sent before.
  package func open(
    _ settings: CodecSettings, _ bridge: PictureBridge, timeout: Duration
  ) throws(AVError) -> RemoteCodec {
    let codec = try RemoteCodec(
      service, settings, bridge, RemoteCodec.Options(timeout: timeout, cancellation: nil))
    var message = LinkMessage(descriptorCount: 2)
    if (try? socket.receive(into: &message)) != nil, let descriptor = message.takeDescriptor() {
      grants = LinkSocket(owning: descriptor)
    }
    return codec
  }

  /// Sends these records in one message.
  package func answer(_ replies: [CodecReply]) throws(LinkError) {
    var writer = MessageWriter()
    for reply in replies { reply.write(to: &writer) }
    try send(writer.bytes)
  }

  /// Sends a message of any bytes, with descriptors.
  package func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws(LinkError) {
    try socket.send(bytes.span, descriptors: descriptors, until: Deadline(after: .milliseconds(100)))
  }

  /// Reads and discards the commands and grants that have arrived.
  package func discardCommands() {
    var message = LinkMessage(descriptorCount: LinkSocket.descriptorLimit)
    while (try? socket.receive(into: &message, until: Deadline(after: .zero))) != nil {}
    guard grants != nil else { return }
    while (try? grants?.receive(into: &message, until: Deadline(after: .zero))) != nil {}
  }
}
