// SPDX-License-Identifier: MPL-2.0
import Glibc

/// A file, or a folder with its contents, that a GPU's driver needs.
struct DriverFiles {
  let path: String
  /// Landlock's rights for it (linux/landlock.h).
  let rights: UInt64

  private static let readFile: UInt64 = 1 << 2
  private static let readFolder: UInt64 = 1 << 3
  private static let writeFile: UInt64 = 1 << 1
  private static let truncateFile: UInt64 = 1 << 14
  private static let controlDevice: UInt64 = 1 << 15

  private static func read(_ path: String) -> DriverFiles { DriverFiles(path: path, rights: readFile | readFolder) }
  private static func readFile(_ path: String) -> DriverFiles { DriverFiles(path: path, rights: readFile) }
  private static func device(_ path: String) -> DriverFiles {
    DriverFiles(path: path, rights: readFile | writeFile | controlDevice)
  }
  private static func devices(_ folder: String) -> DriverFiles {
    DriverFiles(path: folder, rights: readFile | readFolder | writeFile | controlDevice)
  }

  /// All of them: libraries, configuration and what the kernel reports of devices, to read; the devices' nodes.
  static var all: [DriverFiles] {
    var files = ["/usr", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/sys", "/proc"].map(read)
    for variable in ["LD_LIBRARY_PATH", "LIBVA_DRIVERS_PATH"] {
      files += folders(in: variable).map(read)
    }
    if let authority = value(of: "XAUTHORITY") { files.append(readFile(authority)) }
    // NVIDIA's driver names its threads there.
    files.append(DriverFiles(path: "/proc/self/task", rights: readFile | readFolder | writeFile | truncateFile))
    files += ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/kfd"].map(device)
    files += ["/dev/dri", "/dev/nvidia-caps"].map(devices)
    files += nodes(beginningWith: "nvidia").map(device)
    #if DEBUG
      for variable in ["LIBVA_TEST_TABLE", "LIBVA_TEST_STATE"] {
        files += value(of: variable).map { [device($0)] } ?? []
      }
    #endif
    return files
  }

  private static func value(of variable: String) -> String? {
    guard let value = unsafe getenv(variable) else { return nil }
    return unsafe String(cString: value)
  }

  private static func folders(in variable: String) -> [String] {
    value(of: variable)?.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") && $0 != "/" } ?? []
  }

  /// Nodes in /dev whose names begin so.
  private static func nodes(beginningWith prefix: String) -> [String] {
    guard let folder = unsafe opendir("/dev") else { return [] }
    defer { unsafe closedir(folder) }
    var paths: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasPrefix(prefix) { paths.append("/dev/\(name)") }
    }
    return paths
  }
}
