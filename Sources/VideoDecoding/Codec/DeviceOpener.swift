// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink

/// Opens codecs in this process, on a device if one is requested.
final class DeviceOpener {
  private let request: HardwareRequest
  private var device: HardwareDevice?

  init(_ request: HardwareRequest) { self.request = request }

  func open(_ settings: CodecSettings, _ bridge: PictureBridge) throws(CodecFailure) -> any CodecBoundary {
    if settings.usesHardware, device == nil { device = try find() }
    let device = settings.usesHardware ? self.device : nil
    do throws(AVError) {
      let context = try CodecContext(settings, buffers: bridge, device: device)
      return RunningCodec(context, decoder: device?.decoder ?? .software)
    } catch {
      throw CodecFailure(error)
    }
  }

  private func find() throws(CodecFailure) -> HardwareDevice {
    let key = DeviceRequest(place: request.place)
    if let reason = MissingDevices.shared.reason(for: key) { throw CodecFailure(.hardwareUnavailable, reason: reason) }
    do throws(HardwareError) {
      let device = try request.open()
      MissingDevices.shared.remove(key)
      return device
    } catch {
      MissingDevices.shared.insert(key, "\(error)")
      throw CodecFailure(.hardwareUnavailable, reason: "\(error)")
    }
  }
}

extension HardwareDevice {
  /// The decoder, in words.
  var decoder: SessionDecoder { .hardware(method: method.name, name: driverName ?? place) }
}
