// SPDX-License-Identifier: MPL-2.0

extension NetworkSource {
  /// The URLs that `rtspsrc` takes.
  static let rtspSchemes = ["rtsp://", "rtsps://", "rtspt://", "rtspu://"]

  /// How packets come from an RTSP server.
  enum Transport: String, CaseIterable {
    case auto, udp, tcp

    /// The value for `protocols` of `rtspsrc`; `nil` for its default order: UDP, multicast, TCP.
    var protocols: String? {
      switch self {
      case .auto: nil
      case .udp: "udp+udp-mcast"
      case .tcp: "tcp"
      }
    }
  }
}
