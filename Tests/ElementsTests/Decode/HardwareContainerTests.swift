// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import H26x
import HardwareSupport
import HarnessSupport
import TestSupport
import Testing
import VideoDecoding

/// The vectors in containers on a device, or, with the reason in `Records/hardware-containers.tsv`, in software.
/// `HARDWARE_VECTORS=all` decodes the long ones, too. The byte streams are in `HardwareVectorTests` of
/// `VideoDecodingTests`.
@Suite(.enabled(if: VADriver.folder != nil), .serialized) struct HardwareContainerTests {
  /// Vectors that are decoded within a second.
  static let short = [
    "h264/androidx_sample-with-key-frame-index.flv", "h264/androidx_sample_h264_no_access_unit_delimiters.ts",
    "h264/androidx_iibbibb_editlist_videoonly.mp4", "h265/androidx_fragmented_captions_h265.mp4",
    "h265/torchcodec_h265_10bits.mp4",
  ]

  /// Not androidx_sample_partially_fragmented.mp4, which has no keyframe for its parameter sets to precede.
  static let long = [
    "h264/androidx_sample_with_invalid_nalu.mp4", "h264/androidx_bbb_800x640_768kbps_30fps_avc_pyramid_3b.mp4",
    "h264/androidx_sample_2_byte_NAL_length.mp4",
    "h264/vali_test_rot_90_deg.mp4", "h264/haishinkit_change_video_resolution.ts", "h264/vali_test_multires.mkv",
    "h264/androidx_sample_h264.ts", "h265/membrane_h265_ref_video_variable_parameters.mp4",
    "h265/androidx_dolbyVision-hdr.MOV", "h265/androidx_water_180_mvhevc_5frames.mov",
    "h265/androidx_sample_h265_rps_pred.ts", "h265/vali_test_hevc10.mkv",
  ]

  private static let vectors: [String] = {
    let isWhole = ProcessInfo.processInfo.environment["HARDWARE_VECTORS"] == "all"
    return (isWhole ? short + long : short).filter { path($0) != nil }
  }()

  private static func path(_ vector: String) -> String? {
    let parts = vector.split(separator: "/")
    return Clip.vector(String(parts[1]), of: parts[0] == "h264" ? .h264 : .h265)
  }

  /// The access units in a container, as a byte stream.
  private func byteStream(_ vector: String, _ codec: StreamCodec) throws -> [UInt8] {
    let path = try #require(Self.path(vector))
    let demultiplexer =
      switch path.split(separator: ".").last?.lowercased() {
      case "ts": "tsdemux"
      case "mkv": "matroskademux"
      case "flv": "flvdemux"
      default: "qtdemux"
      }
    let file = NSTemporaryDirectory() + "h26x-container-\(getpid())"
    defer { unsafe unlink(file) }
    let pipeline = try PlayedPipeline(
      "filesrc location=\(path) ! \(demultiplexer) ! \(codec.element)parse config-interval=-1 "
        + "! \(codec.mediaType), stream-format=byte-stream, alignment=au ! filesink name=sink location=\(file)")
    #expect(pipeline.go(to: GST_STATE_PLAYING))
    #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    #expect(pipeline.go(to: GST_STATE_NULL))
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
  }

  private func run(
    _ session: DecompressionSession, _ units: [[UInt8]]
  ) throws -> (pictures: [String], corrupt: [UInt64]) {
    var pictures: [String] = []
    var corrupt: [UInt64] = []
    func take() {
      while let result = session.nextResult() {
        guard case .frame(let picture) = result else { continue }
        var hasher = Hasher()
        for index in 0..<picture.planeCount {
          let plane = picture.plane(index)
          for row in 0..<plane.rowCount { unsafe plane.row(row).withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }
        }
        pictures.append("\(picture.tag) \(hasher.finalize())")
        if picture.isCorrupt { corrupt.append(picture.tag) }
      }
    }
    for (tag, unit) in units.enumerated() {
      try session.decode(unit.span, tag: UInt64(tag))
      take()
    }
    session.drain()
    take()
    return (pictures, corrupt)
  }

  @Test(arguments: vectors)
  func decodesAsSoftwareDoes(_ vector: String) throws {
    let codec: StreamCodec = vector.hasPrefix("h264") ? .h264 : .h265
    let units = codec.accessUnits(in: try byteStream(vector, codec))
    let format = try ElementDriver.format(of: units, codec)
    var table = PictureTable()
    try table.add(units, format)
    let driver = try VADriver(table)
    var configuration = SessionConfiguration()
    configuration.threadCount = 1
    let expected = try run(DecompressionSession(format: format, configuration: configuration), units)
    configuration.isolation = .process(ProcessLimits(timeout: .seconds(60)))
    configuration.hardware = .preferred
    configuration.hardwareDevice = driver.display
    let session = try DecompressionSession(
      format: format, configuration: configuration, allocator: nil, starter: driver.starter)
    let (pictures, corrupt) = try run(session, units)
    #expect(pictures == expected.pictures)
    var reason: String?
    while let notice = session.nextNotice() {
      if case .softwareFallback(let text) = notice { reason = text.replacing(driver.display, with: "DISPLAY") }
    }
    try RecordFile.hardwareContainers.expect(
      vector,
      [
        "\(pictures.count) pictures", "\(driver.share(of: session)) on the device", reason ?? "-",
        // A device does not report the errors that software finds within slices.
        corrupt == expected.corrupt ? "-" : "\(corrupt) flagged, \(expected.corrupt) by software",
      ])
  }
}
