// SPDX-License-Identifier: MPL-2.0
import Glibc

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
