// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport
import VideoDecoding

/// The decoders of this machine: software, and the devices that exist.
struct DecoderList {
  private let devices: [HardwareDecoder]
  /// Why the others cannot be used.
  let failures: [String]

  /// Queries every device, one after the other, each in a process of its own.
  ///
  /// - Parameter device: the only one to query; nil for all.
  init(device: String?) {
    var devices: [HardwareDecoder] = []
    var failures: [String] = []
    do throws(DecodeError) {
      let places = if let device { [device] } else { try HardwareDecoder.devices() }
      for place in places {
        do throws(DecodeError) {
          let decoder = try HardwareDecoder(at: place)
          if !devices.contains(where: decoder.isDuplicate) { devices.append(decoder) }
        } catch {
          failures.append(error.detail ?? "\(place): \(error.message)")
        }
      }
    } catch { failures.append(error.detail ?? "\(error.message)") }
    self.devices = devices
    self.failures = failures
  }

  /// The tables that `h26x info --decoders` prints.
  var tables: String {
    let software = [("Decoder", "software, libavcodec"), ("Codecs", "H.264, H.265")]
    let tables =
      [software]
      + devices.map { device in
        [("Decoder", "\(device.method), \(device.name)"), ("Device", device.device)]
          + [FormatDescription.Codec.h264, .h265].map { codec in
            (codec.name, Self.profiles(device.profiles.filter { $0.codec == codec }))
          }
      }
    return tables.map { rows in
      rows.map { Terminal.printable(Text.padded($0, 20) + $1) }.joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  /// `Main, Main 10: 16x16 to 8192x8192`.
  private static func profiles(_ profiles: [HardwareDecoder.Profile]) -> String {
    guard !profiles.isEmpty else { return "none" }
    var sizes: [String?] = []
    for profile in profiles where !sizes.contains(Self.sizes(profile)) { sizes.append(Self.sizes(profile)) }
    return sizes.map { sizes in
      let names = profiles.filter { Self.sizes($0) == sizes }.map(\.name).joined(separator: ", ")
      return names + (sizes.map { ": \($0)" } ?? "")
    }.joined(separator: "; ")
  }

  /// `16x16 to 8192x8192`, or the part of it that is known.
  private static func sizes(_ profile: HardwareDecoder.Profile) -> String? {
    let smallest = size(profile.minimumWidth, profile.minimumHeight)
    let largest = size(profile.maximumWidth, profile.maximumHeight).map { (smallest == nil ? "up to " : "to ") + $0 }
    let sizes = [largest == nil ? smallest.map { "from \($0)" } : smallest, largest].compactMap { $0 }
    return sizes.isEmpty ? nil : sizes.joined(separator: " ")
  }

  private static func size(_ width: Int?, _ height: Int?) -> String? {
    guard let width, let height else { return nil }
    return "\(width)x\(height)"
  }

  /// The JSON array that `h26x info --decoders --json` prints: an object for each decoder.
  var json: String {
    var json = JSONText(isIndented: true)
    json.open(UInt8(ascii: "["))
    json.open()
    json.member("method", string: "software")
    json.member("device", orNull: nil as String?)
    json.member("name", string: "libavcodec")
    json.close()
    for device in devices {
      json.open()
      json.member("method", string: device.method)
      json.member("device", string: device.device)
      json.member("name", string: device.name)
      json.openArray("profiles")
      for profile in device.profiles {
        json.open()
        json.member("codec", string: profile.codec.name)
        json.member("profile", string: profile.name)
        json.member("minimum-width", orNull: profile.minimumWidth)
        json.member("minimum-height", orNull: profile.minimumHeight)
        json.member("maximum-width", orNull: profile.maximumWidth)
        json.member("maximum-height", orNull: profile.maximumHeight)
        json.close()
      }
      json.closeArray()
      json.close()
    }
    json.close(UInt8(ascii: "]"))
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
