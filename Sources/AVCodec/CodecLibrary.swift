// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// libavcodec as a whole.
package enum CodecLibrary {
  /// Loads the library, and has it compute the tables that its decoders share: a process that is forked afterwards needs
  /// no file, and does neither again. Where the library is missing, opening a decoder fails as ever.
  package static func preload() {
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
