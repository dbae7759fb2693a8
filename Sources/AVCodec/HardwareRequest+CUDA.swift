// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc

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
