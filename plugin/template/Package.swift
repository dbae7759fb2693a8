// swift-tools-version:6.3
import PackageDescription

let package = Package(
  name: "gst-brighten",
  products: [.library(name: "gstbrighten", type: .dynamic, targets: ["BrightenPlugin"])],
  dependencies: [.package(name: "gst-swift-h26x", path: "../..", traits: ["GStreamer"])],
  targets: [
    .target(name: "BrightenElements", dependencies: [.product(name: "GStreamer", package: "gst-swift-h26x")]),
    .target(
      name: "BrightenPlugin",
      dependencies: ["BrightenElements", .product(name: "GStreamer", package: "gst-swift-h26x")]),
    .testTarget(
      name: "BrightenTests",
      dependencies: [
        "BrightenElements", .product(name: "GStreamer", package: "gst-swift-h26x"),
        .product(name: "HarnessSupport", package: "gst-swift-h26x"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
