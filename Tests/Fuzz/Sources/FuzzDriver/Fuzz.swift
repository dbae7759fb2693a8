// SPDX-License-Identifier: MPL-2.0
private import Glibc

/// libFuzzer's entry point. SwiftPM renames an executable's `main`, so that libFuzzer's own `main` cannot be used: a
/// subject's main program calls this function.
@_extern(c, "LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The function under test, global because a C function pointer cannot capture it. Set once, before the run.
nonisolated(unsafe) private var subject: (Span<UInt8>) -> Void = { _ in }

/// Runs libFuzzer with the process's arguments over `body`, and ends the process.
///
/// - Parameter body: called with each input. A finding is a
///   trap, a sanitizer's report, or ``require(_:_:)``.
public func fuzz(_ body: @escaping (Span<UInt8>) -> Void) -> Never {
  unsafe subject = body
  var count = CommandLine.argc
  var arguments = unsafe CommandLine.unsafeArgv
  let status = unsafe runDriver(&count, &arguments) { bytes, count in
    // The buffer is libFuzzer's, of exactly this size and alive during the call.
    unsafe subject(Span(_unsafeElements: UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  }
  exit(status)
}

/// Ends the process with a finding when `condition` does not hold.
@inline(__always)
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}
