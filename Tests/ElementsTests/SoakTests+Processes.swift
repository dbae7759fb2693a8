// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import H26x
import HarnessSupport
import TestSupport
import Testing

extension SoakTests {
  /// Each twentieth access unit takes the codec's process along, and each hundredth begins another session.
  @Test(arguments: StreamCodec.allCases)
  func lostProcessesDoNotGrowMemory(codec: StreamCodec) throws {
    let units =
      codec == .h264 ? try Clip.accessUnits("clip.h264") : try Clip.accessUnits("clip.h265", of: H265.self)
    let wanted = Self.accessUnits / 4
    var (processes, settled, sent, pictures) = (Set<pid_t>(), Usage?.none, 0, 0)
    do {
      let harness = try Harness.decoder(
        codec.chain("swifth264dec isolation=process max-threads=1"),
        input: "\(codec.mediaType), stream-format=byte-stream, alignment=au")
      while sent < wanted {
        if sent % 20 == 10, let process = harness.statistic("codec-process") {
          processes.insert(pid_t(process))
          kill(pid_t(process), sent % 40 == 10 ? SIGKILL : SIGSEGV)
        }
        if sent % 100 == 0 { harness.flush() }
        try #require(harness.push(units[sent % units.count]) == 0)
        while harness.tryPull() != nil { pictures += 1 }
        while harness.tryPullEvent() != nil {}
        sent += 1
        // As far from a flush and from a lost process as at the end.
        if settled == nil, sent > wanted / 4, (wanted - sent) % 100 == 0 { settled = try Usage() }
      }
      let (end, before) = (try Usage(), try #require(settled))
      #expect(pictures > sent / 2)
      #expect(processes.count > sent / 50)
      if Self.isAlone {
        // One memory more or less is in use, as the process happens to ask for it. One that each session left would be
        // three quarters of `sent / 100`.
        #expect(end.descriptors < before.descriptors + sent / 200)
        #expect(
          Double(end.residentKiB) <= Double(before.residentKiB) * 1.05,
          "\(before.residentKiB) KiB after warm-up, \(end.residentKiB) KiB after \(processes.count) processes")
        print("soak: \(codec), \(processes.count) processes, \(before.residentKiB) → \(end.residentKiB) KiB")
      }
    }
    for process in processes {
      // The last one ends while this looks.
      #expect(comesTrue { !Self.isChild(process) }, "process \(process) is left")
    }
  }

  /// Whether a process is one that this process has begun. Numbers of ended processes are given to others after a while.
  private static func isChild(_ process: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    return status?.contains("\nPPid:\t\(getpid())\n") == true
  }
}
