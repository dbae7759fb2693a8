// swift-tools-version:6.3
import PackageDescription

// A separate package, because all of it is built with sanitizers.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableExperimentalFeature("Lifetimes"),
  .enableExperimentalFeature("Extern"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// Subjects of `H26x`.
let bitstreamSubjects = [
  "nal-units", "sps", "pps", "slice-header", "avcc", "access-units", "access-unit-info", "access-unit-scanner",
  "repack",
  "format-description", "sei", "timestamps", "h265-vps", "h265-sps", "h265-pps", "h265-slice-header", "hvcc",
  "h265-sei", "h265-access-units", "edit", "h265-edit", "metadata",
]

/// Subjects of what only the package's own modules see of `H26x` and `StreamReport`.
let rewritingSubjects = ["rewriting", "h265-rewriting", "program-map", "caption-files", "metadata-files"]

/// Subjects of `Slices`.
let sliceSubjects = ["cavlc-slices", "cabac-slices", "h265-slices"]

/// Subjects of `StreamReport`.
let reportSubjects = ["report"]

/// Subjects of decompression sessions.
let sessionSubjects = ["session", "h265-session"]

/// Subjects of the connection between an application and a codec's process.
let connectionSubjects = ["codec-process", "codec-application"]

/// Subjects of elements, in a harness or a pipeline.
let elementSubjects = [
  "parse-element", "parse-file", "repack-element", "decode-element", "h265-parse-element", "h265-parse-file",
  "h265-repack-element", "h265-decode-element", "decode-stream", "h265-decode-stream",
]

let h26x = Target.Dependency.product(name: "H26x", package: "gst-swift-h26x")
let testSupport = Target.Dependency.product(name: "TestSupport", package: "gst-swift-h26x")

let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "gst-swift-h26x", path: "../..")],
  targets: [
    .target(name: "FuzzDriver", dependencies: [h26x], swiftSettings: settings),
    .target(
      name: "FuzzSlices",
      dependencies: [h26x, "FuzzDriver", .product(name: "Slices", package: "gst-swift-h26x")],
      swiftSettings: settings),
    .target(
      name: "FuzzSession",
      dependencies: [h26x, testSupport, "FuzzDriver", .product(name: "VideoDecoding", package: "gst-swift-h26x")],
      swiftSettings: settings),
    .target(
      name: "FuzzHarness",
      dependencies: [
        h26x, testSupport, "FuzzDriver", .product(name: "Elements", package: "gst-swift-h26x"),
        .product(name: "GStreamer", package: "gst-swift-h26x"),
        .product(name: "HarnessSupport", package: "gst-swift-h26x"),
      ], swiftSettings: settings),
    .executableTarget(
      name: "make-seeds", dependencies: [h26x, "FuzzDriver"], path: "Sources/make-seeds", swiftSettings: settings),
  ]
    + bitstreamSubjects.map {
      .executableTarget(
        name: $0, dependencies: [h26x, "FuzzDriver"], path: "Subjects/\($0)", swiftSettings: settings)
    }
    + rewritingSubjects.map {
      .executableTarget(
        name: $0, dependencies: ["FuzzDriver", testSupport], path: "Subjects/\($0)", swiftSettings: settings)
    }
    + sliceSubjects.map {
      .executableTarget(
        name: $0, dependencies: ["FuzzDriver", "FuzzSlices"], path: "Subjects/\($0)", swiftSettings: settings)
    }
    + reportSubjects.map {
      .executableTarget(
        name: $0, dependencies: ["FuzzDriver", .product(name: "StreamReport", package: "gst-swift-h26x")],
        path: "Subjects/\($0)", swiftSettings: settings)
    }
    + sessionSubjects.map {
      .executableTarget(
        name: $0, dependencies: ["FuzzDriver", "FuzzSession", testSupport], path: "Subjects/\($0)",
        swiftSettings: settings)
    }
    + connectionSubjects.map {
      .executableTarget(
        name: $0, dependencies: ["FuzzDriver", .product(name: "CodecPeers", package: "gst-swift-h26x")],
        path: "Subjects/\($0)", swiftSettings: settings)
    }
    + elementSubjects.map {
      .executableTarget(
        name: $0, dependencies: ["FuzzDriver", "FuzzHarness", testSupport], path: "Subjects/\($0)",
        swiftSettings: settings)
    },
  swiftLanguageModes: [.v6]
)
