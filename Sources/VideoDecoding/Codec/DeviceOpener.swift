// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink

/// Opens codecs in this process, on a device if one is requested.
final class DeviceOpener {
  private let request: HardwareRequest
  private var device: HardwareDevice?
  /// The reason that no device could be opened the last time.
  private(set) var failure: String?

  init(_ request: HardwareRequest) { self.request = request }

  func open(_ settings: CodecSettings, _ bridge: PictureBridge) throws(AVError) -> any CodecBoundary {
    guard settings.usesHardware else { return RunningCodec(try CodecContext(settings, buffers: bridge)) }
    let device = if let device { device } else { try find() }
    self.device = device
    return RunningCodec(try CodecContext(settings, buffers: bridge, device: device), decoder: device.decoder)
  }

  private func find() throws(AVError) -> HardwareDevice {
    let key = DeviceRequest(place: request.place)
    failure = MissingDevices.shared.reason(for: key)
    guard failure == nil else { throw .hardwareUnavailable }
    do throws(HardwareError) {
      let device = try request.open()
      MissingDevices.shared.remove(key)
      return device
    } catch {
      MissingDevices.shared.insert(key, "\(error)")
      failure = "\(error)"
      throw .hardwareUnavailable
    }
  }
}

extension HardwareDevice {
  /// The decoder, in words.
  var decoder: SessionDecoder { .hardware(method: method.name, name: driverName ?? place) }
}
