// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

/// The location of the program h26x-codec. Paths are bytes, which need not be UTF-8.
package struct CodecServiceLocation: Sendable {
  /// The name of the program.
  package static let name = "h26x-codec"
  /// The argument with which it tries out whether it can work here, and ends.
  package static let trial = "--trial"
  /// The environment variable that has its path: the only place then. Ignored in programs that run with more rights
  /// than their user has.
  package static let variable = "H26X_CODEC_SERVICE"
  /// The program's folder, below a prefix.
  private static let installed = "/libexec/gst-swift-h26x/"

  /// The path, without the zero behind it.
  let path: [UInt8]

  /// The path as text.
  package var text: String { Self.text(path) }

  private static func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }

  /// Takes a path.
  package init(path: [UInt8]) { self.path = path }

  /// Finds the program: by the environment variable, beside the plugin or the program that contains this code, or in
  /// the prefix where one of them is installed.
  ///
  /// - Throws: `ServiceError.missing`, which lists the places.
  package static func find() throws(ServiceError) -> CodecServiceLocation {
    let places = places
    for place in places where exists(place) { return CodecServiceLocation(path: place) }
    throw .missing(places: places.map(text))
  }

  private static var places: [[UInt8]] {
    if let value = unsafe secure_getenv(variable), unsafe value.pointee != 0 {
      return unsafe [bytes(of: value)]
    }
    var places: [[UInt8]] = []
    func append(_ path: [UInt8]) { if !places.contains(path) { places.append(path) } }
    let folders = [sharedObject, program].compactMap { $0.flatMap(folder) }
    for folder in folders { append(folder + Array("/\(name)".utf8)) }
    for prefix in folders.compactMap(prefix) + ["/usr/local", "/usr"].map({ Array($0.utf8) }) {
      append(prefix + Array("\(installed)\(name)".utf8))
    }
    return places
  }

  /// The plugin's file, if this code is in a plugin. The loader has it under the name that it was loaded by, which is
  /// relative if GST_PLUGIN_PATH is.
  private static var sharedObject: [UInt8]? {
    var object = unsafe clinux_object()
    guard unsafe clinux_dladdr(#dsohandle, &object) != 0, let name = unsafe object.path,
      let path = unsafe realpath(name, nil)
    else { return nil }
    defer { unsafe free(path) }
    let bytes = unsafe bytes(of: path)
    // A program has the name that it was executed by there, which may be another file's in this folder.
    return bytes.suffix(3) == Array(".so".utf8)[...] ? bytes : nil
  }

  private static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: text, count: strlen(text))).map { UInt8(bitPattern: $0) }
  }

  private static var program: [UInt8]? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &target, target.count)
    return count > 0 ? target.prefix(count).map { UInt8(bitPattern: $0) } : nil
  }

  private static func folder(of path: [UInt8]) -> [UInt8]? {
    path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[..<$0]) }
  }

  /// The installation prefix of a folder that is PREFIX/bin, PREFIX/lib/gstreamer-1.0 or
  /// PREFIX/lib/TRIPLET/gstreamer-1.0. No other folder is searched upwards, since others might write files there.
  private static func prefix(of folder: [UInt8]) -> [UInt8]? {
    let parts = folder.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let names = ["bin", "lib", "lib64"].map { Array($0.utf8) }
    guard let index = parts.indices.suffix(3).last(where: { names.contains(Array(parts[$0])) }) else { return nil }
    return Array(parts[..<index].joined(separator: [UInt8(ascii: "/")]))
  }

  private static func exists(_ path: [UInt8]) -> Bool {
    let path = path.map { CChar(bitPattern: $0) } + [0]
    return unsafe access(path, F_OK) == 0
  }
}

/// Settings for applications that cannot be edited.
package enum ApplicationEnvironment {
  /// The value of an environment variable; `nil` if it is not set, and in programs that run with more rights than
  /// their user has.
  package static func value(of variable: String) -> String? {
    guard let value = unsafe secure_getenv(variable) else { return nil }
    return unsafe String(cString: value)
  }
}
