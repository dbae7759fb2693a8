// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc

/// A request for a device.
package struct HardwareRequest: Hashable, Sendable {
  /// A render node (`/dev/dri/renderD128`), an X display (`:0`) or a CUDA device number (`0`); nil for any device.
  package var place: String?

  /// Requests a device.
  package init(place: String? = nil) { self.place = place }

  /// A place that may have a device.
  package struct Candidate: Hashable, Sendable {
    /// The interface to the device.
    package let method: HardwareMethod
    /// The address to open.
    package let place: String
  }

  /// The devices to try, the best first, found without opening any.
  ///
  /// - Throws: `HardwareError` if there is none.
  package func candidates() throws(HardwareError) -> [Candidate] {
    if let place { return [try Self.candidate(at: place)] }
    var found: [Candidate] = []
    var tried: [String] = []
    do throws(HardwareError) { found.append(try Self.candidate(at: "0")) } catch { tried.append(error.reason) }
    // The driver makes a node for each of its devices, and CUDA numbers those that it may use from 0.
    let deviceCount = (0..<16).count { unsafe access("/dev/nvidia\($0)", F_OK) == 0 }
    if !found.isEmpty, deviceCount > 1, unsafe getenv("CUDA_VISIBLE_DEVICES") == nil {
      found += (1..<deviceCount).map { Candidate(method: .cuda, place: "\($0)") }
    }
    var nodeCount = 0
    for number in 128..<160 {
      let node = "/dev/dri/renderD\(number)"
      guard unsafe access(node, F_OK) == 0 else { continue }
      nodeCount += 1
      do throws(HardwareError) { found.append(try Self.candidate(at: node)) } catch { tried.append(error.reason) }
    }
    if nodeCount == 0 { tried.append("/dev/dri has no render node") }
    if let display = unsafe getenv("DISPLAY").map({ unsafe String(cString: $0) }), !display.isEmpty {
      if Self.mayHaveDriver {
        found.append(Candidate(method: .vaapi, place: display))
      } else {
        tried.append("display \(display) has no GPU of this machine")
      }
    } else {
      tried.append("DISPLAY is not set")
    }
    guard !found.isEmpty else {
      throw HardwareError("\(tried.joined(separator: ", "))", remedy: "install the driver of a GPU")
    }
    return found
  }

  /// Whether libva may find a driver for an X display: if the kernel has a node of a GPU, or the user names a driver.
  /// Connecting to the display and finding none takes longer than decoding the first picture does.
  private static var mayHaveDriver: Bool {
    unsafe getenv("LIBVA_DRIVER_NAME") != nil
      || ["/dev/dri", "/dev/nvidiactl", "/dev/dxg"].contains { (path: String) in unsafe access(path, F_OK) == 0 }
  }

  /// Whether there is a device to try, found without opening any.
  package var hasCandidates: Bool {
    do throws(HardwareError) { return !(try candidates()).isEmpty } catch { return false }
  }

  private static func candidate(at place: String) throws(HardwareError) -> Candidate {
    if place.hasPrefix("/") {
      guard unsafe access(place, F_OK) == 0 else {
        throw HardwareError("\(place) does not exist", remedy: "ls /dev/dri lists the render nodes")
      }
      guard unsafe access(place, R_OK | W_OK) == 0 else {
        throw HardwareError(
          "no permission for \(place)", remedy: "add the user to the group that owns it (render, video)")
      }
      return Candidate(method: .vaapi, place: place)
    }
    if place.contains(":") { return Candidate(method: .vaapi, place: place) }
    guard let number = UInt16(place) else {
      throw HardwareError(
        "'\(place)' names no device",
        remedy: "name a render node (/dev/dri/renderD128), an X display (:0) or a CUDA device number (0)")
    }
    guard unsafe access("/dev/nvidiactl", F_OK) == 0 else {
      throw HardwareError("no NVIDIA driver is loaded", remedy: "install NVIDIA's driver")
    }
    for library in ["libcuda.so.1", "libnvcuvid.so.1"] where unsafe cav_can_load(library) == 0 {
      throw HardwareError("\(library) is missing", remedy: "install it: it comes with NVIDIA's driver")
    }
    return Candidate(method: .cuda, place: "\(number)")
  }

  /// Opens the first device that can be opened.
  ///
  /// - Throws: `HardwareError`, with the attempts.
  package func open() throws(HardwareError) -> HardwareDevice {
    var tried: [String] = []
    for candidate in try candidates() {
      do throws(AVError) {
        return try HardwareDevice(candidate.method, at: candidate.place)
      } catch {
        tried.append("\(candidate.method.name) on \(candidate.place): \(error)")
      }
    }
    throw HardwareError(tried.joined(separator: "; "), remedy: "check it with 'vainfo' or 'nvidia-smi'")
  }
}
