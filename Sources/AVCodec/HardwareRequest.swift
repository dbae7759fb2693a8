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
    if !found.isEmpty { found += Self.furtherCUDADevices }
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

  /// Whether there is a device to try, found without opening any.
  package var hasCandidates: Bool {
    do throws(HardwareError) { return !(try candidates()).isEmpty } catch { return false }
  }

  private static func candidate(at place: String) throws(HardwareError) -> Candidate {
    if place.hasPrefix("/") { return try renderNode(at: place) }
    if place.contains(":") { return Candidate(method: .vaapi, place: place) }
    guard let number = UInt16(place) else {
      throw HardwareError(
        "'\(place)' names no device",
        remedy: "name a render node (/dev/dri/renderD128), an X display (:0) or a CUDA device number (0)")
    }
    return try cudaDevice(number)
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

// CUDA: NVIDIA's devices by their number.
extension HardwareRequest {
  /// The devices after the first one. None if the user chooses devices in the environment.
  static var furtherCUDADevices: [Candidate] {
    // The driver makes a node for each of its devices, and CUDA numbers those that it may use from 0.
    let deviceCount = (0..<16).count { unsafe access("/dev/nvidia\($0)", F_OK) == 0 }
    guard deviceCount > 1, unsafe getenv("CUDA_VISIBLE_DEVICES") == nil else { return [] }
    return (1..<deviceCount).map { Candidate(method: .cuda, place: "\($0)") }
  }

  /// The device of a number.
  static func cudaDevice(_ number: UInt16) throws(HardwareError) -> Candidate {
    guard unsafe access("/dev/nvidiactl", F_OK) == 0 else {
      throw HardwareError("no NVIDIA driver is loaded", remedy: "install NVIDIA's driver")
    }
    for library in HardwareMethod.cuda.decoderLibraries where unsafe cav_can_load(library) == 0 {
      throw HardwareError("\(library) is missing", remedy: "install it: it comes with NVIDIA's driver")
    }
    return Candidate(method: .cuda, place: "\(number)")
  }
}

// VA-API: render nodes and X displays.
extension HardwareRequest {
  /// Whether libva may find a driver for an X display: if the kernel has a node of a GPU, or the user names a driver.
  /// Connecting to the display and finding none takes longer than decoding the first picture does.
  static var mayHaveDriver: Bool {
    unsafe getenv("LIBVA_DRIVER_NAME") != nil
      || ["/dev/dri", "/dev/nvidiactl", "/dev/dxg"].contains { (path: String) in unsafe access(path, F_OK) == 0 }
  }

  /// The device of a render node.
  static func renderNode(at place: String) throws(HardwareError) -> Candidate {
    guard unsafe access(place, F_OK) == 0 else {
      throw HardwareError("\(place) does not exist", remedy: "ls /dev/dri lists the render nodes")
    }
    guard unsafe access(place, R_OK | W_OK) == 0 else {
      throw HardwareError(
        "no permission for \(place)", remedy: "add the user to the group that owns it (render, video)")
    }
    return Candidate(method: .vaapi, place: place)
  }
}

/// The reason no device can be used.
package struct HardwareError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The attempt and how it failed.
  package let reason: String
  /// A step that would help.
  package let remedy: String

  /// Describes a failure.
  package init(_ reason: String, remedy: String) {
    self.reason = reason
    self.remedy = remedy
  }

  /// One line.
  package var description: String { "\(reason): \(remedy)" }
}
