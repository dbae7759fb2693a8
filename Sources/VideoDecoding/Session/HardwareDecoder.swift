// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
public import H26x

/// A device of this machine that decodes, as its driver describes it.
///
/// The counterpart of VideoToolbox's `VTIsHardwareDecodeSupported`, for each device and profile.
public struct HardwareDecoder: Sendable, Hashable {
  /// The interface to the device: `CUDA` or `VA-API`.
  public let method: String
  /// The device: a render node, an X display or a CUDA device number, for ``SessionConfiguration/hardwareDevice``.
  public let device: String
  /// The driver's name for the device.
  public let name: String
  /// The profiles that it decodes in a session.
  public let profiles: [Profile]

  /// A profile that a device decodes.
  public struct Profile: Sendable, Hashable {
    /// The codec whose profile it is.
    public let codec: FormatDescription.Codec
    /// Its name (Annex A of H.264 and H.265).
    public let name: String
    /// The least width in luma samples; `nil` if the driver does not report it.
    public let minimumWidth: Int?
    /// The least height in luma samples; `nil` if the driver does not report it.
    public let minimumHeight: Int?
    /// The greatest width in luma samples; `nil` if the driver does not report it.
    public let maximumWidth: Int?
    /// The greatest height in luma samples; `nil` if the driver does not report it.
    public let maximumHeight: Int?
  }

  /// Whether another place leads to the same decoder: an X display has the device of one of the machine's render nodes,
  /// behind the same driver.
  package func isDuplicate(of other: HardwareDecoder) -> Bool {
    !device.hasPrefix("/") && other.device.hasPrefix("/") && method == other.method && name == other.name
      && profiles == other.profiles
  }

  /// The places in which a device may be, the best first: CUDA devices, render nodes, the X display of the environment.
  ///
  /// None is opened: ``init(at:limits:)`` shows whether one can be.
  ///
  /// - Throws: `DecodeError` with `hardwareUnavailable` if there is none. Its ``DecodeError/detail`` lists the places
  ///   searched and the remedy.
  public static func devices() throws(DecodeError) -> [String] {
    do throws(HardwareError) {
      return try HardwareRequest().candidates().map(\.place)
    } catch { throw DecodeError(.hardwareUnavailable, detail: "\(error)") }
  }

  /// Opens a device, in a process of its own, and queries its driver for the profiles that it decodes.
  ///
  /// - Parameters:
  ///   - device: a render node (`/dev/dri/renderD128`), an X display (`:0`) or a CUDA device number (`0`).
  ///   - limits: the process's limits; ``ProcessLimits/memory`` is ignored.
  /// - Throws: `DecodeError`: `hardwareUnavailable` if the device cannot be opened, `processUnavailable` if no
  ///   process can be started.
  public init(at device: String, limits: ProcessLimits = ProcessLimits()) throws(DecodeError) {
    try self.init(at: device, limits: limits, starter: .shared)
  }

  /// Describes a device.
  init(method: String, device: String, name: String, profiles: [Profile]) {
    self.method = method
    self.device = device
    self.name = name
    self.profiles = profiles
  }

  init(at device: String, limits: ProcessLimits, starter: CodecStarter) throws(DecodeError) {
    do throws(HardwareError) {
      _ = try HardwareRequest(place: device).candidates()
    } catch { throw DecodeError(.hardwareUnavailable, detail: "\(error)") }
    var request = limits.request
    request.device = DeviceRequest(place: device, listsProfiles: true)
    let report: DeviceReport
    do throws(ServiceError) {
      report = try (starter.hardware ?? starter).begin(request).device
    } catch .noDevice(let reason) {
      throw DecodeError(.hardwareUnavailable, detail: reason)
    } catch { throw DecodeError(.processUnavailable, detail: "\(error)") }
    guard case .opened(let method, let name, let profiles) = report else { throw DecodeError(.hardwareUnavailable) }
    self.init(
      method: String(decoding: method, as: UTF8.self), device: device, name: String(decoding: name, as: UTF8.self),
      profiles: profiles.compactMap(Profile.init))
  }
}

extension HardwareDecoder.Profile {
  /// Translates a codec process's report; nil for an unknown profile.
  init?(_ profile: DeviceProfile) {
    guard let known = HardwareProfile(rawValue: profile.number) else { return nil }
    codec = known.codec == .h264 ? .h264 : .h265
    name = known.name
    minimumWidth = Self.known(profile.minimumWidth)
    minimumHeight = Self.known(profile.minimumHeight)
    maximumWidth = Self.known(profile.maximumWidth)
    maximumHeight = Self.known(profile.maximumHeight)
  }
  private static func known(_ sampleCount: UInt32) -> Int? { sampleCount > 0 ? Int(sampleCount) : nil }
}

extension SessionConfiguration {
  /// Whether a session that is created now is likely to decode on a device, found without opening one.
  package var expectsDevice: Bool {
    let missing =
      switch isolation {
      case .none: MissingDevices.shared
      case .process: CodecStarter.shared.missingDevices
      }
    return hardware != .off && missing.mayBeThere(at: hardwareDevice)
  }
}
