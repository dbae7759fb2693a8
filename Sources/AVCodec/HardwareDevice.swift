// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// An opened device that decodes (`AVHWDeviceContext`), closed with its last reference.
///
/// SAFETY: the reference is immutable, and libavutil counts references to what it stands for from any thread.
@safe package final class HardwareDevice: @unchecked Sendable {
  /// The interface to the device.
  package let method: HardwareMethod
  /// The device's address: a render node, an X display, or a CUDA device number.
  package let place: String
  let raw: UnsafeMutablePointer<AVBufferRef>

  /// Opens a device.
  ///
  /// - Throws: the error that libavutil returns; `AVError.noDevice` if it gives no reason.
  package init(_ method: HardwareMethod, at place: String) throws(AVError) {
    var device: UnsafeMutablePointer<AVBufferRef>?
    var options: OpaquePointer?
    defer { unsafe cav_device_options_free(&options) }
    if method == .vaapi {
      unsafe try AVError.check(cav_device_option(&options, "connection_type", place.hasPrefix("/") ? "drm" : "x11"))
    }
    unsafe try AVError.check(cav_hwdevice_ctx_create(&device, method.type, place, options))
    guard let device = unsafe device else { throw .noDevice }
    // When libavcodec loads them, a sandbox may be up.
    for library in method.decoderLibraries { unsafe cav_keep_loaded(library) }
    unsafe raw = unsafe device
    self.method = method
    self.place = place
  }

  deinit {
    var device: UnsafeMutablePointer<AVBufferRef>? = unsafe raw
    unsafe cav_buffer_unref(&device)
  }

  /// A reference for a decoder.
  func reference() throws(AVError) -> UnsafeMutablePointer<AVBufferRef> {
    guard let reference = unsafe cav_buffer_ref(raw) else { throw .outOfMemory }
    return unsafe reference
  }

  /// The driver's name for the device or itself; nil if it gives no name.
  package var driverName: String? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text -> String? in
      guard let start = text.baseAddress else { return nil }
      let result =
        switch method {
        case .vaapi: unsafe cav_vaapi_driver_name(raw, start, text.count)
        case .cuda: unsafe cav_cuda_device_name(Int32(place) ?? 0, start, text.count)
        }
      return result >= 0 ? unsafe String(cString: start) : nil
    }
  }
}
