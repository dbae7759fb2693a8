// SPDX-License-Identifier: MPL-2.0
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
