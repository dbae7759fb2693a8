// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

private enum Speed: Int32, PropertyEnumeration {
  case slow = 1
  case fast = 7
  static let typeName: StaticString = "GstTestSpeed"
  var nick: PropertyNick {
    switch self {
    case .slow: PropertyNick("slow", "Takes its time")
    case .fast: PropertyNick("fast", "Hurries")
    }
  }
}

private struct Extras: PropertyFlags {
  let rawValue: UInt32
  static let salt = Self(rawValue: 1)
  static let pepper = Self(rawValue: 4)
  static let typeName: StaticString = "GstTestExtras"
  static var nicks: [(Self, PropertyNick)] {
    [(.salt, PropertyNick("salt", "Salt")), (.pepper, PropertyNick("pepper", "Pepper"))]
  }
}

/// Splits input into frames whose first byte is their length; 0 is garbage, 255 is an error. After 254, it claims a frame
/// of the length in the next byte, whatever has come.
private final class LengthParse: BaseParse {
  struct Settings: Sendable {
    var number: Int32 = 3
    var long: UInt64 = 5
    var yes = true
    var rate = Fraction(25, 1)
    var speed = Speed.slow
    var extras: Extras = .salt
  }
  let settings = Locked(Settings())
  private var frames: UInt64 = 0

  override class var padTemplates: [PadTemplate] { [.sink("application/x-test"), .source("application/x-test")] }
  override class var properties: [Property] {
    Property.settings(
      { (element: LengthParse) in element.settings }, defaults: Settings(),
      [
        .int("number", \.number, in: 0...10, "A number"),
        .uint64("long", \.long, in: 0...UInt64.max, "A long number"),
        .boolean("yes", \.yes, "Yes or no"),
        .fraction("rate", \.rate, "A ratio"),
        .enumeration("speed", \.speed, "A choice"),
        .flags("extras", \.extras, "Several choices"),
      ]) + [
        .structure("stats", "Statistics") { (element: LengthParse) in
          var structure = Structure("test-stats")
          structure.set("frames", .uint64(element.frames))
          return structure
        }
      ]
  }

  override func setSinkCaps(_ caps: borrowing Caps) -> Bool { sourcePad.setCaps(caps) }

  override func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    let map = try frame.map()
    let length = Int(map.bytes[0])
    if length == 0 { return .skip(1) }
    if length == 255 {
      post(ElementError(.stream(.format), "Not for me.", debug: "length 255"))
      throw .error
    }
    if length == 254, map.bytes.count > 1 { return .frame(size: Int(Int8(bitPattern: map.bytes[1]))) }
    if map.bytes.count < length { return .needsMoreData }
    frames += 1
    return .frame(size: length)
  }

  override func prePushFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) {
    if frame.size == 1 { throw .dropped }
    frame.modifyOutput { $0.flags.insert(.marker) }
  }
}

@Suite(.serialized) struct BaseParseTests {
  init() throws {
    Harness.initialise()
    try LengthParse.register(as: "testlengthparse", typeName: "GstTestLengthParse")
  }

  @Test func cutsFramesFromPiecesOfAnySize() throws {
    let harness = try Harness("testlengthparse")
    harness.setInputCaps("application/x-test")
    for byte: UInt8 in [3, 7, 8, 0, 0, 2, 9, 1, 4, 1, 1, 1] { #expect(harness.push([byte]) == 0) }
    harness.endOfStream()
    #expect(try harness.pullBytes() == [3, 7, 8])
    #expect(try harness.pullBytes() == [2, 9])
    let last = try harness.pull()
    #expect(try last.copiedBytes() == [4, 1, 1, 1])
    #expect(last.flags.contains(.marker))
    #expect(harness.waiting == 0)
  }

  @Test func anErrorReachesTheBus() throws {
    let harness = try Harness("testlengthparse")
    harness.collectMessages()
    harness.setInputCaps("application/x-test")
    #expect(harness.push([255, 1]) == FlowError.error.rawValue)
    #expect(harness.takeMessages() == ["error: Not for me."])
  }

  /// GStreamer has only a critical warning about a frame that cannot be there. The warning is fatal here.
  @Test(arguments: [0, 4, 255]) func aFrameOfAnImpossibleSizeIsAnError(size: UInt8) throws {
    let harness = try Harness("testlengthparse")
    harness.collectMessages()
    harness.setInputCaps("application/x-test")
    #expect(harness.push([254, size, 1]) == FlowError.error.rawValue)
    #expect(
      harness.takeMessages() == ["error: The parser found a frame of \(Int8(bitPattern: size)) bytes in 3."])
  }

  @Test func setsAndReadsProperties() throws {
    let harness = try Harness("testlengthparse")
    #expect(harness.text("number") == "3" && harness.text("long") == "5" && harness.text("yes") == "true")
    #expect(harness.text("rate") == "25/1" && harness.text("speed") == "slow" && harness.text("extras") == "Salt")
    harness.set("number", "10")
    harness.set("long", "18446744073709551615")
    harness.set("yes", "false")
    harness.set("rate", "30000/1001")
    harness.set("speed", "fast")
    harness.set("extras", "salt+pepper")
    #expect(harness.text("number") == "10" && harness.text("long") == "18446744073709551615")
    #expect(harness.text("yes") == "false" && harness.text("rate") == "30000/1001")
    #expect(harness.text("speed") == "fast" && harness.text("extras") == "Salt+Pepper")
    #expect(harness.text("stats").contains("test-stats"))
  }

  @Test func applicationsMayDeriveFromAnElement() throws {
    let name = "GstTestDerivedLengthParse"
    var type = unsafe g_type_from_name(name)
    if type == 0 {
      let parent = unsafe g_type_from_name("GstTestLengthParse")
      var query = unsafe GTypeQuery()
      unsafe g_type_query(parent, &query)
      type = unsafe g_type_register_static_simple(
        parent, name, query.class_size, nil, query.instance_size + 64, nil, GTypeFlags(rawValue: 0))
    }
    #expect(unsafe gst_element_register(nil, "testderivedlengthparse", 0, type) != 0)
    let harness = try Harness("testderivedlengthparse")
    harness.set("number", "10")
    #expect(harness.text("number") == "10" && harness.text("speed") == "slow")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([3, 7, 8]) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == [3, 7, 8])
  }
}

/// "Decodes" 16 bytes into a GRAY8 picture of 4×4, holding one picture back.
private final class GrayDecoder: VideoDecoder {
  private var held: VideoCodecFrame?

  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-test"), .source("video/x-raw, format=GRAY8")]
  }

  override func start() throws(ElementError) { setPacketized(true) }

  override func setFormat(_ state: borrowing VideoCodecState) -> Bool {
    let output = setOutputState(format: .gray8, width: 4, height: 4, reference: state)
    return output != nil
  }

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try putOut()
    held = consume frame
  }

  override func finish() throws(FlowError) { try putOut() }
  override func drain() throws(FlowError) { try putOut() }
  override func flush() -> Bool {
    if let frame = held.take() { release(frame) }
    return true
  }

  private func putOut() throws(FlowError) {
    guard let frame = held.take() else { return }
    guard let bytes = frame.withInput({ $0.share() }) else { return try drop(frame) }
    frame.setOutput(bytes)
    try finish(frame)
  }
}

@Suite(.serialized) struct VideoDecoderTests {
  init() throws {
    Harness.initialise()
    try GrayDecoder.register(as: "testgraydecoder", typeName: "GstTestGrayDecoder")
  }

  @Test func picturesKeepTheirTimestamps() throws {
    let harness = try Harness("testgraydecoder")
    harness.setInputCaps("video/x-test, framerate=25/1")
    for index in UInt64(0)..<3 {
      #expect(harness.push([UInt8](repeating: UInt8(index), count: 16), pts: .seconds(index)) == 0)
    }
    #expect(harness.received == 2)
    harness.endOfStream()
    for index in UInt64(0)..<3 {
      let picture = try harness.pull()
      #expect(picture.pts == .seconds(index))
      #expect(try picture.copiedBytes() == [UInt8](repeating: UInt8(index), count: 16))
    }
    let caps = try harness.outputCaps()
    #expect(caps.first.string("format") == "GRAY8")
    #expect(caps.first.fraction("framerate") == Fraction(25, 1))
  }

  @Test func aFlushLeavesNothingBehind() throws {
    let harness = try Harness("testgraydecoder")
    harness.setInputCaps("video/x-test, framerate=25/1")
    #expect(harness.push([UInt8](repeating: 1, count: 16), pts: .zero) == 0)
    harness.flush()
    #expect(harness.push([UInt8](repeating: 2, count: 16), pts: .second) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == [UInt8](repeating: 2, count: 16))
    #expect(harness.waiting == 0)
  }
}
