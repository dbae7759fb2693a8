// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Glibc
import StreamReport

/// The number of threads that read slice data.
struct SliceThreadOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Threads that read slices to their last bit. 0 means one per processor, \(most) at most.", valueName: "n"))
  var threads = 0

  private static let most = 16

  func validate() throws {
    guard 0...Self.most ~= threads else {
      throw ValidationError("--threads needs 0 to \(Self.most), not \(threads)")
    }
  }

  /// The threads; nil if the caller's is enough.
  var sliceThreads: SliceThreads? {
    let count = threads > 0 ? threads : min(Self.most, Int(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    return count > 1 ? SliceThreads(system: count) : nil
  }
}
