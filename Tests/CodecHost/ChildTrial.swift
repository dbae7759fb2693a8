// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
import VideoDecoding

/// Looks for remains of ended processes in an application that becomes the parent of orphans: the first process of a
/// container, or a process that requested it.
enum ChildTrial {
  /// Begins processes that cannot begin, and prints how many children there are.
  static func failToBegin() {
    for _ in 0..<5 {
      do throws(ServiceError) { _ = try CodecStarter.begin(limits: ProcessLimits()) } catch { continue }
    }
    show("after failures")
  }

  /// Loses starters, and prints how many of all their children are left.
  static func loseStarters() throws(ServiceError) {
    let becomeParentOfOrphans: Int32 = 36  // PR_SET_CHILD_SUBREAPER
    guard getpid() == 1 || clinux_prctl(becomeParentOfOrphans, 1) == 0 else { return }
    let starter = CodecStarter()
    func begin() throws(ServiceError) -> SessionProcess { try starter.begin(ProcessLimits().request) }

    // Killed while processes decode.
    var processes = [try begin(), try begin()]
    kill(starter.processIdentifier ?? 0, SIGKILL)
    for process in processes { _ = process.ending(within: .seconds(60)) }
    processes = []
    processes.append(try begin())
    show("starter killed")

    // Stopped, so that it does not reap those that end.
    processes.append(try begin())
    kill(starter.processIdentifier ?? 0, SIGSTOP)
    processes = []
    processes.append(try begin())
    show("starter stopped")
  }

  /// The children of this process that run, and those that were not reaped.
  private static func show(_ moment: String) {
    var (running, ended) = (0, 0)
    guard let folder = unsafe opendir("/proc") else { return }
    defer { unsafe closedir(folder) }
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard Int32(name) != nil else { continue }
      // State and parent follow the name, which is in parentheses.
      let fields = CodecHost.contents("/proc/\(name)/stat").split(separator: ")").last?.split(separator: " ") ?? []
      guard fields.count > 1, Int32(fields[1]) == getpid() else { continue }
      if fields[0] == "Z" { ended += 1 } else { running += 1 }
    }
    CodecHost.show("\(moment): \(running) running, \(ended) ended")
  }
}
