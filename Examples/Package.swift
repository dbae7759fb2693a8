// swift-tools-version:6.3
import PackageDescription

let gst = "gst-swift-h26x"

let package = Package(
  name: "Examples",
  // A package outside this repository names its address or its folder here.
  dependencies: [.package(name: gst, path: "..", traits: ["GStreamer"])],
  targets: [
    .executableTarget(
      name: "frames-to-png",
      dependencies: [
        .product(name: "H26x", package: gst), .product(name: "VideoDecoding", package: gst),
        .product(name: "VideoFiles", package: gst),
      ], path: "FramesToPNG"),
    .executableTarget(name: "edit-stream", dependencies: [.product(name: "H26x", package: gst)], path: "EditStream"),
    .executableTarget(name: "player", dependencies: [.product(name: "GStreamer", package: gst)], path: "Player"),
    .executableTarget(name: "lines", dependencies: [.product(name: "GStreamer", package: gst)], path: "Lines"),
    .executableTarget(name: "runs", dependencies: [.product(name: "GStreamer", package: gst)], path: "Runs"),
    .executableTarget(name: "pictures", dependencies: [.product(name: "GStreamer", package: gst)], path: "Pictures"),
    .executableTarget(
      name: "sounds",
      dependencies: [.product(name: "GStreamer", package: gst), .product(name: "GStreamerAudio", package: gst)],
      path: "Sounds"),
    .executableTarget(
      name: "media",
      dependencies: [.product(name: "GStreamer", package: gst), .product(name: "GStreamerDiscovery", package: gst)],
      path: "Media"),
  ],
  swiftLanguageModes: [.v6]
)
