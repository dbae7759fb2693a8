// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink
import VideoDecoding

/// In a codec process: the device that the application requested, opened before the process is protected.
package struct OpenedDevice {
  /// The device; nil if none could be opened.
  package let device: HardwareDevice?
  /// The report to the application.
  package let report: DeviceReport

  /// Opens the device, and has it decode a picture that is never shown, so that the driver loads the parts that it
  /// loads with the first picture.
  package init(_ request: DeviceRequest) {
    do throws(HardwareError) {
      let device = try HardwareRequest(place: request.place.map { String(decoding: $0, as: UTF8.self) }).open()
      Self.decodePicture(device)
      self.device = device
      let name = device.driverName ?? device.place
      report = .opened(
        method: Array(device.method.name.utf8), name: Array(name.utf8),
        profiles: request.listsProfiles ? Self.profiles(of: device) : [])
    } catch {
      device = nil
      report = .failed(Array("\(error)".utf8))
    }
  }

  private static func profiles(of device: HardwareDevice) -> [DeviceProfile] {
    HardwareProfile.allCases.compactMap { profile in
      profile.pictureSizes(on: device).map {
        DeviceProfile(
          number: profile.rawValue, minimumWidth: $0.minimumWidth, minimumHeight: $0.minimumHeight,
          maximumWidth: $0.maximumWidth, maximumHeight: $0.maximumHeight)
      }
    }
  }

  /// A device need not support H.264: its failures show themselves with the stream.
  private static func decodePicture(_ device: HardwareDevice) {
    var settings = CodecSettings(codec: .h264)
    settings.usesHardware = true
    do throws(AVError) {
      let codec = RunningCodec(
        try CodecContext(settings, buffers: PictureBridge(allocator: nil, layout: .semiPlanar), device: device))
      try codec.decode(try PacketPool().packet(copying: picture.span, timestamp: 0), index: 0) { _ in }
      try codec.drain { _ in }
    } catch {}
  }

  /// A grey IDR picture of 128 by 128 luma samples, Main profile, with its parameter sets: an Annex B stream that x264
  /// has made.
  private static let picture: [UInt8] = [
    0x00, 0x00, 0x00, 0x01, 0x67, 0x4D, 0x40, 0x0C, 0xB9, 0x02, 0x21, 0x02, 0x36, 0x02, 0x20, 0x00, 0x00, 0x03, 0x00,
    0x20, 0x00, 0x00, 0x06, 0x41, 0xE2, 0x85, 0x30, 0x8C, 0x00, 0x00, 0x00, 0x01, 0x68, 0xE8, 0x43, 0x8F, 0x2C, 0x80,
    0x00, 0x00, 0x01, 0x65, 0x88, 0x81, 0x00, 0x05, 0x7F, 0xFE, 0xF6, 0x73, 0x7C, 0x25, 0x72, 0x58, 0xE3, 0x79, 0x92,
    0xF7, 0x2C, 0xBF, 0x2E, 0x84, 0xDA, 0x14, 0x5F, 0x0B, 0x70, 0x1E, 0x9F, 0x17, 0x70, 0x28, 0x7C, 0x31, 0x00, 0x00,
    0x07, 0x38, 0x0C, 0x69, 0xC7, 0xC0, 0x39,
  ]
}
