// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink

/// Opens codecs in processes of their own.
final class ServiceOpener {
  private let limits: ProcessLimits
  private let device: HardwareRequest
  private let options: RemoteCodec.Options
  private let starter: CodecStarter
  /// The reason that the last attempt found no device, or could start no process.
  private(set) var failure: String?

  init(
    _ limits: ProcessLimits, _ device: HardwareRequest, cancellation: Cancellation?, starter: CodecStarter = .shared
  ) {
    self.limits = limits
    self.device = device
    self.starter = starter
    options = RemoteCodec.Options(timeout: limits.timeout, cancellation: cancellation)
  }

  func open(_ settings: CodecSettings, _ bridge: PictureBridge) throws(AVError) -> any CodecBoundary {
    if settings.usesHardware { try findDevice() }
    let service: ServiceProcess
    do throws(ServiceError) {
      var request = limits.request
      var starter = starter
      if settings.usesHardware, let hardware = starter.hardware {
        request.device = DeviceRequest(place: device.place)
        starter = hardware
      }
      service = try starter.begin(request, unless: options.cancellation?.event)
    } catch .noDevice(let reason) {
      failure = reason
      throw .hardwareUnavailable
    } catch .cancelled {
      throw .cancelled
    } catch {
      failure = "\(error)"
      throw .serviceUnavailable
    }
    return try RemoteCodec(service, settings, bridge, options)
  }

  /// Looks for devices, without opening any, so that no process is started if there is none.
  private func findDevice() throws(AVError) {
    do throws(HardwareError) {
      _ = try device.candidates()
    } catch {
      failure = "\(error)"
      throw .hardwareUnavailable
    }
  }
}
