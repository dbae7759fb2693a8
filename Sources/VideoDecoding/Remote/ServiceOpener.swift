// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink

/// Opens codecs in processes of their own.
final class ServiceOpener {
  private let limits: ProcessLimits
  private let device: HardwareRequest
  private let options: RemoteCodec.Options
  private let starter: CodecStarter

  init(
    _ limits: ProcessLimits, _ device: HardwareRequest, cancellation: Cancellation?, starter: CodecStarter = .shared
  ) {
    self.limits = limits
    self.device = device
    self.starter = starter
    options = RemoteCodec.Options(timeout: limits.timeout, cancellation: cancellation)
  }

  func open(_ settings: CodecSettings, _ bridge: PictureBridge) throws(CodecFailure) -> any CodecBoundary {
    if settings.usesHardware { try findDevice() }
    let service: SessionProcess
    do throws(ServiceError) {
      var request = limits.request
      var starter = starter
      if settings.usesHardware, let hardware = starter.hardware {
        request.device = DeviceRequest(place: device.place)
        starter = hardware
      }
      service = try starter.begin(request, unless: options.cancellation?.event)
    } catch .noDevice(let reason) {
      throw CodecFailure(.hardwareUnavailable, reason: reason)
    } catch .cancelled {
      throw CodecFailure(.cancelled)
    } catch {
      throw CodecFailure(.serviceUnavailable, reason: "\(error)")
    }
    do throws(AVError) {
      return try RemoteCodec(service, settings, bridge, options)
    } catch {
      throw CodecFailure(error)
    }
  }

  /// Looks for devices, without opening any, so that no process is started if there is none.
  private func findDevice() throws(CodecFailure) {
    do throws(HardwareError) {
      _ = try device.candidates()
    } catch {
      throw CodecFailure(.hardwareUnavailable, reason: "\(error)")
    }
  }
}
