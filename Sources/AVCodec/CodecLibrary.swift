// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Synchronization

/// libavcodec as a whole.
package enum CodecLibrary {
  /// The reason the library cannot be loaded: it is missing, or there is no memory. Nil if it can be loaded.
  package static var loadFailure: String? { unsafe cavcodec_load_failure().map { unsafe String(cString: $0) } }

  /// Whether ``preload()`` could not load it. It is not tried again: behind a sandbox that would end the process.
  static var isMissing: Bool { preloadHasFailed.load(ordering: .relaxed) }
  private static let preloadHasFailed = Atomic(false)

  /// Keeps what the decoders log without their codec context from standard error. A callback that the application has
  /// set stays, and so does the log's level; for other messages, libavutil's own callback prints as before.
  static func filterLog() { cav_filter_log() }

  /// Has nothing logged, in a process that only decodes: libavutil's own callback calls what a sandbox forbids.
  package static func silenceLog() { cav_silence_log() }

  /// Loads the library, and has it compute the tables that its decoders share: a process that is forked afterwards
  /// needs no file, and does neither again. If the library is missing, opening a decoder fails as usual.
  package static func preload() {
    guard loadFailure == nil else { return preloadHasFailed.store(true, ordering: .relaxed) }
    for codec in [CodecSettings.Codec.h264, .h265] {
      guard let decoder = unsafe cavcodec_find_decoder(codec.id) else { continue }
      var context = unsafe cavcodec_alloc_context3(decoder)
      if let context = unsafe context {
        unsafe context.pointee.thread_count = 1
        unsafe cavcodec_open2(context, decoder, nil)
      }
      unsafe cavcodec_free_context(&context)
    }
    // libavutil's, which libavcodec brings along.
    var (frame, packet) = unsafe (cav_frame_alloc(), cav_packet_alloc())
    unsafe cav_frame_free(&frame)
    unsafe cav_packet_free(&packet)
  }
}
