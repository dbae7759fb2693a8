// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Memory that cannot be mapped: the application learns of it from the bus, once.
@Suite(.serialized) struct UnreadableMemoryTests {
  /// An element, what it is given, and what downstream wants.
  enum Subject: CaseIterable {
    case parser, nalParser, repackager, nalRepackager, configuredRepackager, decoder, nalDecoder

    func harness(_ codec: StreamCodec) throws -> Harness {
      let name =
        switch self {
        case .parser, .nalParser: "parse"
        case .repackager, .nalRepackager, .configuredRepackager: "repack"
        case .decoder, .nalDecoder: "dec max-threads=1"
        }
      let output: String? =
        switch self {
        case .nalParser, .nalRepackager: "\(codec.mediaType), stream-format=byte-stream, alignment=nal"
        case .configuredRepackager: "\(codec.mediaType), stream-format=\(codec.outOfBand), alignment=au"
        default: nil
        }
      let harness = try Harness.decoder(
        codec.element + name,
        input: "\(codec.mediaType), stream-format=byte-stream, alignment=\(takesNALUnits ? "nal" : "au")",
        output: output)
      harness.collectMessages()
      return harness
    }

    var takesNALUnits: Bool { self == .nalDecoder }
  }

  /// The NAL units of some access units, the first with so many SEI that a decoder joins them at once.
  private func nalUnits(_ codec: StreamCodec) throws -> [[[UInt8]]] {
    let clip = codec.accessUnits(in: try codec.clip).prefix(3)
    let sei: [UInt8] = (codec == .h264 ? [6] : [78, 1]) + [5, 17] + [UInt8](repeating: 7, count: 17) + [128]
    return clip.enumerated().map { index, accessUnit in
      var nalUnits = Clip.nalUnits(accessUnit)
      if index == 0 { nalUnits.insert(contentsOf: [[UInt8]](repeating: sei, count: 20), at: nalUnits.count - 1) }
      return nalUnits.map { [0, 0, 0, 1] + $0 }
    }
  }

  /// Memory that can be mapped never, once, twice …: elements map their input several times.
  @Test(arguments: StreamCodec.allCases, Subject.allCases)
  func inputIsAnErrorWithAMessage(_ codec: StreamCodec, _ subject: Subject) throws {
    let accessUnits = try nalUnits(codec)
    for maps in 0..<8 {
      let allocator = try RefusingAllocator(maps: maps)
      do {
        let harness = try subject.harness(codec)
        var flow = GST_FLOW_OK.rawValue
        let buffers = subject.takesNALUnits ? accessUnits.flatMap { $0 } : accessUnits.map { Array($0.joined()) }
        for buffer in buffers where flow == GST_FLOW_OK.rawValue {
          flow = harness.push(try allocator.buffer(of: buffer))
        }
        let errors = harness.takeMessages().filter { $0.hasPrefix("error: ") }
        let expected = flow == GST_FLOW_ERROR.rawValue ? 1 : 0
        #expect(errors.count == expected, "\(maps) maps: flow \(flow), \(errors)")
        // A repackager that passes through looks at nothing.
        #expect(maps > 0 || flow == GST_FLOW_ERROR.rawValue || subject == .repackager)
      }
      #expect(allocator.balance == 0, "\(maps) maps")
    }
  }

  /// Downstream's memory cannot be allocated or mapped, where pictures are copied and where they are converted.
  @Test(arguments: StreamCodec.allCases, ["I420", "NV12", "BGRx"])
  func outputIsAnErrorWithAMessage(_ codec: StreamCodec, _ format: String) throws {
    let accessUnits = codec.accessUnits(in: try codec.clip).prefix(12)
    for maps in -1..<3 {
      for rendersDirectly in [false, true] {
        let allocator = try RefusingAllocator(maps: maps)
        do {
          let harness = try Harness.decoder(
            "\(codec.element)dec max-threads=1 direct-rendering=\(rendersDirectly)",
            input: "\(codec.mediaType), stream-format=byte-stream, alignment=au",
            output: "video/x-raw, format=\(format)", takesVideoMeta: rendersDirectly)
          harness.collectMessages()
          allocator.propose(to: harness)
          var flow = GST_FLOW_OK.rawValue
          for accessUnit in accessUnits where flow == GST_FLOW_OK.rawValue { flow = harness.push(accessUnit) }
          let errors = harness.takeMessages().filter { $0.hasPrefix("error: ") }
          let expected = flow == GST_FLOW_ERROR.rawValue ? 1 : 0
          #expect(errors.count == expected, "\(maps) maps, direct \(rendersDirectly): flow \(flow), \(errors)")
          if !rendersDirectly, maps == 0 { #expect(flow == GST_FLOW_ERROR.rawValue) }
        }
        #expect(allocator.balance == 0, "\(maps) maps, direct \(rendersDirectly)")
      }
    }
  }
}

extension StreamCodec {
  /// A clip as a byte stream.
  fileprivate var clip: [UInt8] { get throws { try Clip.read(self == .h264 ? "clip.h264" : "clip.h265") } }
}
