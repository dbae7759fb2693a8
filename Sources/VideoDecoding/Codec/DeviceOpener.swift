// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import Synchronization

/// Opens codecs in this process, on a device if one is requested.
final class DeviceOpener {
  private let request: HardwareRequest
  private var device: HardwareDevice?
  /// The reason that no device could be opened the last time.
  private(set) var failure: String?

  /// Devices that this process could not open.
  private static let missing = Mutex(MissingDevices<HardwareRequest, HardwareError>())

  init(_ request: HardwareRequest) { self.request = request }

  func open(_ settings: CodecSettings, _ bridge: PictureBridge) throws(AVError) -> any CodecBoundary {
    guard settings.usesHardware else { return RunningCodec(try CodecContext(settings, buffers: bridge)) }
    let device: HardwareDevice
    do throws(HardwareError) {
      if let opened = self.device { device = opened } else { device = try Self.find(request) }
    } catch {
      failure = "\(error)"
      throw .hardwareUnavailable
    }
    self.device = device
    return RunningCodec(try CodecContext(settings, buffers: bridge, device: device), decoder: device.decoder)
  }

  private static func find(_ request: HardwareRequest) throws(HardwareError) -> HardwareDevice {
    if let known = missing.withLock({ $0.reason(for: request) }) { throw known }
    do throws(HardwareError) {
      let device = try request.open()
      missing.withLock { $0.remove(request) }
      return device
    } catch {
      missing.withLock { $0.insert(request, error) }
      throw error
    }
  }
}

extension DeviceOpener {
  /// Whether the device could not be opened a short while ago.
  static func isMissing(_ request: HardwareRequest) -> Bool { missing.withLock { $0.reason(for: request) != nil } }
}

extension SessionConfiguration {
  /// Whether a session that is created now is likely to decode on a device, found without opening one.
  package var expectsDevice: Bool {
    guard hardware != .off else { return false }
    let request = HardwareRequest(place: hardwareDevice)
    let isMissing =
      switch isolation {
      case .none: DeviceOpener.isMissing(request)
      case .process: CodecStarter.shared.hardware?.isMissing(DeviceRequest(place: hardwareDevice)) ?? true
      }
    return !isMissing && request.hasCandidates
  }
}

extension HardwareDevice {
  /// The decoder, in words.
  var decoder: SessionDecoder { .hardware(method: method.name, name: driverName ?? place) }
}
