// SPDX-License-Identifier: MPL-2.0
import CAVFormat

/// Ends calls of libavformat that wait (`AVIOInterruptCB`). It must outlive the context.
@safe final class Interruption {
  private let isInterrupted: @Sendable () -> Bool

  init(_ isInterrupted: @escaping @Sendable () -> Bool) { self.isInterrupted = isInterrupted }

  func install(in context: UnsafeMutablePointer<AVFormatContext>) {
    unsafe context.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(self).toOpaque()
    unsafe context.pointee.interrupt_callback.callback = { opaque in
      guard let opaque = unsafe opaque else { return 0 }
      return unsafe Unmanaged<Interruption>.fromOpaque(opaque).takeUnretainedValue().isInterrupted() ? 1 : 0
    }
  }
}
