// swift-tools-version:6.3
import PackageDescription

// Warnings are errors here, but not for a package that depends on this one: another compiler may warn of more.
let isRoot = Context.environment["PWD"] == Context.packageDirectory

// Tests/run.sh builds tests for release, so that the libraries are compiled once and run fast, with the assertions and
// test hooks of a debug build.
let isTestedRelease = Context.environment["TESTED_RELEASE"] != nil

let settings: [SwiftSetting] =
  [
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
  ] + (isRoot ? [.treatAllWarnings(as: .error)] : [])
  + (isTestedRelease ? [.unsafeFlags(["-enable-testing", "-assert-config", "Debug", "-DDEBUG"])] : [])

// The program does little work itself, and a test runs once: optimizing them for the tests costs more than they gain.
// Without the optimizer, the compiler would read each module twice, once to write its interface for others.
let unoptimizedSettings =
  settings + (isTestedRelease ? [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])] : [])

// plugin/build.sh sets SHIPPED to select targets. `plugin` selects the plugin and its codec service, which need no network
// and no package. `tool` adds the program. Element classes that only other packages derive from are left out.
let shipped = Context.environment["SHIPPED"]
let onlyInPackages = ["Aggregator", "VideoEncoder", "VideoFilter"]
let shippedTargets: Set = [
  "H26x", "Slices", "CGStreamer", "GStreamer", "CAVCodec", "AVCodec", "CLinux", "CodecLink", "VideoDecoding",
  "CodecService", "CodecServiceProgram", "Elements", "Plugin",
]
let toolOnly: Set = ["CAVFormat", "AVFormat", "StreamReport", "Containers", "Tool"]

// The program h26x. It never links Elements: it loads the plugin, whose types would clash with them.
let toolTargets: [Target] = [
  // Containers, for the program alone. Loaded at run time, as libavcodec is.
  .systemLibrary(name: "CAVFormat", providers: [.apt(["libavformat-dev"])]),
  .target(name: "AVFormat", dependencies: ["CAVFormat", "AVCodec"], swiftSettings: settings),
  .target(
    name: "Containers",
    dependencies: [
      "AVCodec", "AVFormat", "CLinux", "GStreamer", "H26x", "StreamReport", "VideoDecoding",
      .product(name: "SystemPackage", package: "swift-system", condition: .when(traits: ["Program"])),
    ],
    swiftSettings: unoptimizedSettings),
  .executableTarget(
    name: "Tool",
    dependencies: [
      "AVCodec", "AVFormat", "CLinux", "Containers", "CodecLink", "GStreamer", "H26x", "Slices", "StreamReport",
      "VideoDecoding",
      .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Program"])),
      .product(name: "SystemPackage", package: "swift-system", condition: .when(traits: ["Program"])),
    ],
    resources: ["page.html", "page.css", "model.js", "charts.js", "draw.js", "list.js", "syntax.js", "page.js"].map {
      .embedInCode("Page/\($0)")
    },
    swiftSettings: unoptimizedSettings),
  .testTarget(
    name: "AVFormatTests", dependencies: ["AVFormat", "AVCodec", "StreamReport", "TestSupport"],
    swiftSettings: unoptimizedSettings),
  .testTarget(
    name: "ToolTests", dependencies: ["Containers", "Tool", "GStreamer", "H26x", "StreamReport", "TestSupport"],
    swiftSettings: unoptimizedSettings
  ),
]

// What a package that depends on this one takes of it. H26x, StreamReport, VideoDecoding and VideoFiles need no trait:
// with `traits: []` nothing is fetched, and no C library is looked for when the package is loaded.
let traits: Set<Trait> = [
  .default(enabledTraits: ["GStreamer", "Program"]),
  .trait(name: "GStreamer", description: "The libraries GStreamer and HarnessSupport, and the elements."),
  .trait(name: "Program", description: "The program h26x.", enabledTraits: ["GStreamer"]),
]
let cGStreamer = Target.Dependency.target(name: "CGStreamer", condition: .when(traits: ["GStreamer"]))
let cGStreamerAudio = Target.Dependency.target(name: "CGStreamerAudio", condition: .when(traits: ["GStreamer"]))
let cGStreamerDiscovery = Target.Dependency.target(
  name: "CGStreamerDiscovery", condition: .when(traits: ["GStreamer"]))
let cGStreamerCheck = Target.Dependency.target(name: "CGStreamerCheck", condition: .when(traits: ["GStreamer"]))

let package = Package(
  name: "gst-swift-h26x",
  products: [
    .library(name: "H26x", targets: ["H26x"]),
    .library(name: "VideoDecoding", targets: ["VideoDecoding"]),
    .library(name: "GStreamer", targets: ["GStreamer"]),
    .library(name: "GStreamerAudio", targets: ["GStreamerAudio"]),
    .library(name: "GStreamerDiscovery", targets: ["GStreamerDiscovery"]),
    .library(name: "VideoFiles", targets: ["VideoFiles"]),
    .library(name: "gstswifth26x", type: .dynamic, targets: ["Plugin"]),
    // For Tests/Fuzz, a separate package that links the element classes statically.
    .library(name: "Elements", targets: ["Elements"]),
    .library(name: "HarnessSupport", targets: ["HarnessSupport"]),
    .library(name: "Slices", targets: ["Slices"]),
    .library(name: "StreamReport", targets: ["StreamReport"]),
    .library(name: "TestSupport", targets: ["TestSupport"]),
    .library(name: "CodecPeers", targets: ["CodecPeers"]),
    .executable(name: "h26x-codec", targets: ["CodecServiceProgram"]),
    .executable(name: "h26x", targets: ["Tool"]),
  ],
  traits: traits,
  dependencies: shipped == "plugin"
    ? []
    : [
      .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
      .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
  targets: [
    .target(name: "H26x", swiftSettings: settings),
    // Reads slice data. Like H26x, it imports no C library.
    .target(name: "Slices", dependencies: ["H26x"], swiftSettings: settings),
    // Like H26x, it imports no C library.
    .target(name: "StreamReport", dependencies: ["H26x", "Slices"], swiftSettings: settings),
    .systemLibrary(
      name: "CGStreamer", pkgConfig: "gstreamer-video-1.0 gstreamer-allocators-1.0 gstreamer-base-1.0",
      providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]),
    .target(
      name: "GStreamer", dependencies: [cGStreamer],
      exclude: shipped != nil ? onlyInPackages.map { "Elements/\($0).swift" } : [],
      swiftSettings: settings),
    // Apart from GStreamer, so that only who uses them loads libgstaudio and libgstpbutils.
    .systemLibrary(
      name: "CGStreamerAudio", pkgConfig: "gstreamer-audio-1.0", providers: [.apt(["libgstreamer-plugins-base1.0-dev"])]
    ),
    .target(name: "GStreamerAudio", dependencies: ["GStreamer", cGStreamer, cGStreamerAudio], swiftSettings: settings),
    .systemLibrary(
      name: "CGStreamerDiscovery", pkgConfig: "gstreamer-pbutils-1.0",
      providers: [.apt(["libgstreamer-plugins-base1.0-dev"])]),
    .target(
      name: "GStreamerDiscovery", dependencies: ["GStreamer", cGStreamer, cGStreamerDiscovery], swiftSettings: settings),
    // No pkgConfig, whose -lavcodec would load the library with the plugin; the shim loads it with the first decoder.
    // Where the headers are not on the default path, add -Xcc "$(pkg-config --cflags libavcodec)".
    .systemLibrary(name: "CAVCodec", providers: [.apt(["libavcodec-dev"])]),
    .target(name: "AVCodec", dependencies: ["CAVCodec"], swiftSettings: settings),
    // Calls of Linux that the C library hides or lacks.
    .systemLibrary(name: "CLinux"),
    // What application and codec service exchange, and how.
    .target(name: "CodecLink", dependencies: ["CLinux"], swiftSettings: settings),
    .target(
      name: "VideoDecoding", dependencies: ["AVCodec", "CLinux", "CodecLink", "H26x", "Slices"],
      swiftSettings: settings),
    // Video files as access units for VideoDecoding.
    .target(name: "VideoFiles", dependencies: ["H26x", "StreamReport", "VideoDecoding"], swiftSettings: settings),
    // Decodes for an application behind a wall: libavcodec runs there.
    .target(
      name: "CodecService", dependencies: ["AVCodec", "CLinux", "CodecLink", "H26x", "VideoDecoding"],
      swiftSettings: settings),
    .executableTarget(
      name: "CodecServiceProgram", dependencies: ["CLinux", "CodecService", "H26x", "VideoDecoding"],
      swiftSettings: settings),
    .target(name: "Elements", dependencies: ["GStreamer", "VideoDecoding", "H26x"], swiftSettings: settings),
    .target(
      name: "Plugin", dependencies: ["Elements", "GStreamer", cGStreamer, "H26x"], path: "plugin",
      exclude: [
        "build.sh", "deb.sh", "demo.sh", "dependencies.sh", "docs.sh", "exports.map", "install.sh", "man.sh",
        "sbom.sh",
        "new",
        "template",
      ],
      sources: ["Plugin.swift"],
      swiftSettings: settings),
    .systemLibrary(name: "CGStreamerCheck", path: "Tests/CGStreamerCheck", pkgConfig: "gstreamer-check-1.0"),
    .target(
      name: "HarnessSupport", dependencies: ["GStreamer", cGStreamer, cGStreamerCheck],
      path: "Tests/HarnessSupport", swiftSettings: unoptimizedSettings),
    // Empty unless tests are built with the thread sanitizer.
    .target(name: "ThreadSanitizerLocks", path: "Tests/ThreadSanitizer", publicHeadersPath: "."),
    .executableTarget(
      name: "bench-packaging", dependencies: ["H26x"], path: "Tests/Bench/Packaging", swiftSettings: settings),
    .executableTarget(
      name: "bench-async", dependencies: ["VideoDecoding", "H26x"], path: "Tests/Bench/Async", swiftSettings: settings),
    // The program of docs/embedding.md, run by DocumentationExampleTests.
    .executableTarget(
      name: "decode-to-nv12", dependencies: ["VideoDecoding", "VideoFiles"], path: "Tests/Examples/DecodeToNV12"),
    // An application that decodes in other processes, for tests that end it or change its signals.
    .executableTarget(
      name: "codec-host", dependencies: ["CLinux", "CodecLink", "H26x", "TestSupport", "VideoDecoding"],
      path: "Tests/CodecHost", swiftSettings: unoptimizedSettings),
    // A codec service whose processes try to escape, or have no filter of system calls.
    .executableTarget(
      name: "codec-trial", dependencies: ["CLinux", "CodecLink", "CodecPeers", "CodecService"],
      path: "Tests/CodecTrial", swiftSettings: unoptimizedSettings),
    // Streams and generators that more than one test target needs.
    .target(
      name: "TestSupport", dependencies: ["H26x", "StreamReport"], path: "Tests/TestSupport",
      swiftSettings: unoptimizedSettings),
    // What codec processes and applications send that break the protocol.
    .target(
      name: "CodecPeers", dependencies: ["AVCodec", "CodecLink", "CodecService", "VideoDecoding", "TestSupport"],
      path: "Tests/CodecPeers", swiftSettings: unoptimizedSettings),
    // A VA-API driver that looks pictures up, and the pictures (Tests/VADriver).
    .target(
      name: "HardwareSupport", dependencies: ["H26x", "VideoDecoding"], path: "Tests/HardwareSupport",
      swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "H26xTests", dependencies: ["H26x", "TestSupport"], exclude: ["Records"], swiftSettings: unoptimizedSettings
    ),
    .testTarget(
      name: "SlicesTests", dependencies: ["Slices", "H26x", "TestSupport"], swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "GStreamerTests",
      dependencies: [
        "GStreamer", "GStreamerAudio", "GStreamerDiscovery", cGStreamer, "HarnessSupport", "ThreadSanitizerLocks",
      ],
      swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "VideoDecodingTests",
      dependencies: [
        "VideoDecoding", "AVCodec", "CAVCodec", "CodecLink", "CodecPeers", "CodecService", "CodecServiceProgram",
        "H26x",
        "HardwareSupport", "TestSupport", "ThreadSanitizerLocks",
      ],
      exclude: ["Hardware/Records", "Reading/Records"], swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "ElementsTests",
      dependencies: [
        "Elements", "GStreamer", "VideoDecoding", "AVCodec", cGStreamer, "HardwareSupport", "HarnessSupport",
        "H26x", "TestSupport", "ThreadSanitizerLocks",
      ],
      exclude: ["Records"], swiftSettings: unoptimizedSettings),
    .testTarget(name: "CodecLinkTests", dependencies: ["CodecLink"], swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "CodecServiceTests",
      dependencies: [
        "CLinux", "CodecLink", "CodecPeers", "CodecService", "CodecServiceProgram", "VideoDecoding",
        "TestSupport", "ThreadSanitizerLocks", "codec-host", "codec-trial",
      ],
      swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "StreamReportTests", dependencies: ["StreamReport", "H26x", "Slices", "TestSupport"],
      swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "DocumentationTests", dependencies: ["GStreamer", "H26x", "StreamReport", "VideoDecoding", "VideoFiles"],
      swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "VideoFilesTests", dependencies: ["VideoFiles", "VideoDecoding", "StreamReport", "H26x", "TestSupport"],
      swiftSettings: unoptimizedSettings),
    .testTarget(
      name: "PipelineTests", dependencies: ["CodecLink", "H26x", "TestSupport", "codec-host"],
      swiftSettings: unoptimizedSettings),
  ] + toolTargets,
  swiftLanguageModes: [.v6]
)

if let shipped {
  package.targets.removeAll {
    !shippedTargets.contains($0.name) && (shipped == "plugin" || !toolOnly.contains($0.name))
  }
  let names = Set(package.targets.map(\.name))
  package.products.removeAll { product in
    !["gstswifth26x", "h26x-codec", "h26x"].contains(product.name)
      || (product as? Product.Executable).map { !names.isSuperset(of: $0.targets) } ?? false
  }
  // The plugin and the service export nothing but the plugin's entry points. With a static runtime the compiler exports
  // everything, so that nothing could be dropped.
  for target in package.targets where ["Plugin", "CodecServiceProgram"].contains(target.name) {
    target.linkerSettings = [
      .unsafeFlags([
        "-Xlinker", "--version-script=\(Context.packageDirectory)/plugin/exports.map", "-Xlinker",
        "--undefined-version",
      ])
    ]
  }
}
