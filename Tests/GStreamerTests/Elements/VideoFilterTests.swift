// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Blackens pictures, unless it lets them pass.
private final class Blackener: VideoFilter {
  struct Settings: Sendable { var passes = false }
  let settings = Locked(Settings())

  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-raw, format=GRAY8")]
  }
  override class var properties: [Property] {
    Property.settings(
      { (element: Blackener) in element.settings }, defaults: Settings(),
      [.boolean("passes", \.passes, "Whether pictures pass")])
  }

  override func setFormat(input: VideoInfo, output: VideoInfo) -> Bool {
    setPassthrough(settings.snapshot.passes)
    return true
  }

  override func changePicture(_ picture: inout VideoFrameMap) throws(FlowError) {
    for row in 0..<picture.rowCount(ofPlane: 0) {
      var samples = picture.mutableRow(row, ofPlane: 0)
      for column in samples.indices { samples[column] = 0 }
    }
  }
}

/// Fills a picture with the second that it is shown at, keyframes or not.
private final class SecondsFilter: VideoFilter {
  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-raw, format=GRAY8")]
  }

  override func changePicture(_ picture: inout VideoFrameMap) throws(FlowError) {
    let attributes = picture.attributes
    let second = (attributes.pts?.nanoseconds ?? 0) / ClockTime.second.nanoseconds
    let value = UInt8(truncatingIfNeeded: second) | (attributes.flags.contains(.discontinuity) ? 0x80 : 0)
    for row in 0..<picture.rowCount(ofPlane: 0) {
      var samples = picture.mutableRow(row, ofPlane: 0)
      for column in samples.indices { samples[column] = value }
    }
  }
}

@Suite(.serialized) struct VideoFilterTests {
  init() throws {
    Harness.initialise()
    try SecondsFilter.register(as: "testsecondsfilter", typeName: "GstTestSecondsFilter")
    try Blackener.register(as: "testblackener", typeName: "GstTestBlackener")
  }

  /// The memory is the other branch's too.
  @Test func passthroughChangesNoPicture() async throws {
    let white = "videotestsrc num-buffers=3 pattern=white ! video/x-raw,format=GRAY8,width=4,height=2"
    let pictures = try await samples(
      of: "\(white) ! tee name=t  t. ! queue ! testblackener passes=true ! fakesink async=0  t. ! queue")
    #expect(try pictures.map { try $0.copiedBytes() } == Array(repeating: [UInt8](repeating: 235, count: 8), count: 3))
    let black = try await samples(of: "\(white) ! testblackener")
    #expect(try black.map { try $0.copiedBytes() } == Array(repeating: [UInt8](repeating: 0, count: 8), count: 3))
  }

  @Test func filterSeesTimesAndFlags() async throws {
    let pictures = try await samples(
      of:
        "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=4,height=1,framerate=1/1 ! testsecondsfilter"
    )
    #expect(try pictures.map { try $0.copiedBytes() } == [0x80, 1, 2].map { [UInt8](repeating: $0, count: 4) })
  }

  /// What a map for an access lets through: the size of a row, and the bytes after four were written to the second.
  private func write(_ bytes: [UInt8], _ info: VideoInfo, _ access: VideoFrameMap.Access) throws -> (Int, [UInt8]) {
    guard let buffer = Buffer(copying: bytes.span) else { return (0, []) }
    let count = try change(buffer, info, access)
    return (count, try buffer.copiedBytes())
  }

  private func change(_ buffer: borrowing Buffer, _ info: VideoInfo, _ access: VideoFrameMap.Access) throws -> Int {
    var map = try VideoFrameMap(buffer, info: info, for: access)
    let isWritten = map.write([1, 2, 3, 4].span, toRow: 1, ofPlane: 0)
    let isWritable = map.isWritable
    #expect(isWritten == isWritable)
    return map.mutableRow(0, ofPlane: 0).count
  }

  @Test func aReadOnlyMapIsNotWritten() async throws {
    let source = "videotestsrc num-buffers=1 pattern=white ! video/x-raw,format=GRAY8,width=4,height=2"
    let picture = try #require(try await samples(of: source).first)
    let info = try picture.mapVideo().info
    let white = [UInt8](repeating: 235, count: 8)
    #expect(try write(white, info, .reading) == (0, white))
    #expect(try write(white, info, .readingAndWriting) == (4, [235, 235, 235, 235, 1, 2, 3, 4]))
  }
}
