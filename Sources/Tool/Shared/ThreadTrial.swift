// SPDX-License-Identifier: MPL-2.0
import Containers
import Glibc
import SystemPackage

/// Whether the program may start the threads that it needs. Without them, libdispatch waits for ever, and GLib ends
/// the program. libdispatch looks at its threads in /proc once a second, and ends the program without it.
enum ThreadTrial {
  /// The number of threads for commands that decode nothing.
  private static let count = 8

  /// Starts threads and ends them.
  ///
  /// - Throws: a `Failure` if that is not allowed.
  static func check() throws(Failure) {
    guard unsafe access("/proc/self/task", R_OK) == 0 else {
      throw Failure("the program needs /proc, which is not mounted: mount -t proc proc /proc")
    }
    var gate = unsafe pthread_mutex_t()
    unsafe pthread_mutex_init(&gate, nil)
    unsafe pthread_mutex_lock(&gate)
    var threads: [pthread_t] = []
    var error: Int32 = 0
    unsafe withUnsafeMutablePointer(to: &gate) { gate in
      for _ in 0..<count where error == 0 {
        var thread = pthread_t()
        error = unsafe pthread_create(
          &thread, nil,
          { gate in
            // All run simultaneously.
            let gate = unsafe gate?.assumingMemoryBound(to: pthread_mutex_t.self)
            if let gate = unsafe gate { _ = unsafe (pthread_mutex_lock(gate), pthread_mutex_unlock(gate)) }
            return nil
          }, gate)
        if error == 0 { threads.append(thread) }
      }
      unsafe pthread_mutex_unlock(gate)
      for thread in threads { pthread_join(thread, nil) }
      unsafe pthread_mutex_destroy(gate)
    }
    guard error == 0 else {
      throw Failure("no more threads can be started: \(Errno(rawValue: error)); ulimit -u and containers limit them")
    }
  }
}
