// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// Byte streams in pull mode. The element pushes batches of small access units past the base class. The output must be
/// the same as in push mode, in which the base class pushes each access unit.
@Suite struct H264ParseSendingAheadTests {
  typealias Stream = ParseStream

  /// The first difference of two recordings, without the bytes.
  private static func firstDifference(_ pulled: [FileRecording.Entry], _ pushed: [FileRecording.Entry]) -> String? {
    for index in 0..<max(pulled.count, pushed.count) {
      guard index < pulled.count, index < pushed.count else { return "\(pulled.count) and \(pushed.count)" }
      let (one, other) = (pulled[index], pushed[index])
      if one != other {
        return
          "\(index): \(one.attributes), \(one.content.count) bytes; \(other.attributes), \(other.content.count) bytes"
      }
    }
    return nil
  }

  /// The recordings of a stream in pull mode and in push mode.
  private static func record(
    _ bytes: [UInt8], _ properties: String = ""
  ) throws -> (pulled: [FileRecording.Entry], pushed: [FileRecording.Entry]) {
    let path = FileManager.default.temporaryDirectory.appending(path: "sending-ahead-\(UUID()).h264").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return (
      try FileRecording(of: path, "swifth264parse \(properties)").entries,
      try FileRecording(of: path, "queue ! swifth264parse \(properties)").entries
    )
  }

  init() throws { _ = try Harness.parse() }

  @Test(arguments: ["clip.h264", "interlaced.h264", "intra-refresh.h264", "open-gop.h264", "wide.h264"])
  func pullAndPushModeGiveTheSameOutput(_ clip: String) throws {
    for properties in ["", "config-interval=-1"] {
      let pulled = try FileRecording(of: Clip.path(clip), "swifth264parse \(properties)")
      let pushed = try FileRecording(of: Clip.path(clip), "queue ! swifth264parse \(properties)")
      #expect(pulled.entries.count > 20)
      #expect(Self.firstDifference(pulled.entries, pushed.entries) == nil)
    }
  }

  @Test(arguments: ["clip.h264", "interlaced.h264"]) func bothAlignmentsHaveTheSameNALUnits(_ clip: String) throws {
    let caps = "video/x-h264,stream-format=byte-stream,alignment"
    let accessUnits = try FileRecording(of: Clip.path(clip), "swifth264parse ! \(caps)=au").entries.filter {
      !$0.isCaps
    }
    let nalUnits = try FileRecording(of: Clip.path(clip), "swifth264parse ! \(caps)=nal").entries.filter { !$0.isCaps }
    #expect(nalUnits.count > 2 * accessUnits.count)
    var remaining = nalUnits[...]
    for accessUnit in accessUnits {
      let parts = remaining.prefix { $0.attributes.pts == accessUnit.attributes.pts }
      remaining = remaining.dropFirst(parts.count)
      let isSame = parts.flatMap(\.content) == accessUnit.content
      #expect(isSame && parts.allSatisfy { $0.attributes.dts == accessUnit.attributes.dts })
      #expect(parts.last?.attributes.flags.contains(.marker) == true)
    }
    #expect(remaining.isEmpty)
  }

  /// Caps of another size, and a frame rate of another SPS before a picture that is no random access point.
  @Test func newCapsDoNotOvertakeAccessUnits() throws {
    var bytes: [UInt8] = []
    for sequence in UInt32(0)..<6 {
      bytes += Stream.byteStream(
        Stream.spsToOrder(width: 2 + sequence % 2), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true)
      )
      for index in UInt32(1)..<12 {
        if index == 6 { bytes += Stream.byteStream(Stream.spsToOrder(width: 2 + sequence % 2, rate: 30)) }
        bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index))
      }
    }
    let (pulled, pushed) = try Self.record(bytes)
    #expect(Self.firstDifference(pulled, pushed) == nil)
    #expect(pulled.filter(\.isCaps).count == 12)
  }

  /// A PPS that comes after an IDR picture is not inserted before it.
  @Test func laterParameterSetsAreNotInserted() throws {
    var bytes = Stream.byteStream(Stream.spsToOrder(reorder: 0), Stream.ppsToOrder())
    for sequence in UInt32(0)..<4 {
      bytes += Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true, idrID: sequence))
      for index in UInt32(1)..<10 {
        if index == 1 { bytes += Stream.byteStream(Stream.ppsToOrder(id: sequence + 1)) }
        bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index))
      }
    }
    let (pulled, pushed) = try Self.record(bytes, "config-interval=-1")
    #expect(Self.firstDifference(pulled, pushed) == nil)
    let headers = pulled.filter {
      $0.attributes.flags.contains(.header) && !$0.attributes.flags.contains(.deltaUnit)
    }
    #expect(headers.count == 4)
  }

  /// Slices whose PPS is missing, NAL units that cannot be read, and a parameter set alone.
  @Test func unreadableNALUnitsKeepTheirOrder() throws {
    var bytes = Stream.byteStream(
      Stream.spsToOrder(), Stream.ppsToOrder(), Stream.slice(2, number: 0, order: 0, idr: true))
    for index in UInt32(1)..<40 {
      switch index % 8 {
      case 3: bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index, pps: 7))
      case 5: bytes += Stream.byteStream([0x61], [0x78, 1, 2, 3], [0x0A])
      case 7: bytes += Stream.byteStream(Stream.spsToOrder())
      default: bytes += Stream.byteStream(Stream.slice(0, number: index, order: 2 * index))
      }
    }
    let (pulled, pushed) = try Self.record(bytes)
    #expect(Self.firstDifference(pulled.map(\.withoutFlags), pushed.map(\.withoutFlags)) == nil)
  }
}
