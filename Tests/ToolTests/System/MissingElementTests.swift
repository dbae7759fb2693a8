// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import Testing

@testable import Containers

/// An element that is not installed is named with its package.
@Suite struct MissingElementTests {
  @Test(arguments: [
    ("videoflip", "clip.mp4: GStreamer has no element videoflip; install the package gstreamer1.0-plugins-good"),
    ("swifth265dec", "clip.mp4: GStreamer has no element swifth265dec; install the package gstreamer1.0-swifth26x"),
    ("unheard", "clip.mp4: GStreamer has no element unheard"),
  ])
  func namesThePackageOfAMissingElement(element: String, expected: String) {
    #expect(Failure(.noSuchElement(element), about: "clip.mp4").message == expected)
  }

  @Test func namesThePackageOfAMissingDemultiplexer() {
    #expect(
      ElementPackage.remedy(forMediaTypes: ["audio/mpeg", "video/quicktime"])
        == "; install the package gstreamer1.0-plugins-good")
    #expect(ElementPackage.remedy(forMediaTypes: ["video/x-vp9"]).isEmpty)
  }

  /// By the package manager, where it has the packages.
  @Test(arguments: ["appsink", "videoconvert", "jpegenc", "videoflip", "matroskamux", "sdpdemux", "mpegtsmux"])
  func namesThePackageThatHasTheElement(element: String) async throws {
    let folder = URL.temporaryDirectory.appending(path: "h26x-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let inspected = try await Program.run([element], in: folder, executable: URL(filePath: "/usr/bin/gst-inspect-1.0"))
    guard let file = inspected.text.firstMatch(of: /Filename +(\S+)/)?.1 else { return }
    let owner = try await Program.run(["-S", "\(file)"], in: folder, executable: URL(filePath: "/usr/bin/dpkg"))
    guard owner.status == 0 else { return }
    #expect(owner.text.hasPrefix(ElementPackage.containing(element) ?? "none"), "\(owner.text)")
  }
}
