// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// Packet counts of an RTP stream, from rtpjitterbuffer's statistics.
struct Losses {
  private var packets = 0
  private var lost = 0
  private var late = 0
  private var duplicates = 0

  init(_ statistics: Fields?) {
    guard let statistics else { return }
    packets = statistics["num-pushed"]?.integer ?? 0
    lost = statistics["num-lost"]?.integer ?? 0
    late = statistics["num-late"]?.integer ?? 0
    duplicates = statistics["num-duplicates"]?.integer ?? 0
  }

  /// Continues a sentence: ` in 100 packets, 2 lost`; empty if no packet was counted.
  var remark: String {
    guard packets > 0 else { return "" }
    let parts = [(lost, "lost"), (late, "too late"), (duplicates, "twice")].filter { $0.0 > 0 }
    return " in \(Text.count(packets, "packet"))" + parts.map { ", \($0.0) \($0.1)" }.joined()
  }
}
