// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Writes the closed captions on an access unit's buffers into the access unit, as SEI messages of ATSC A/53.
struct CaptionInsertion<Codec: RepackCodec> {
  /// The SEI NAL unit; nil if there is nothing to write.
  private var nalUnit: [UInt8]?
  /// The piece and the NAL unit that it goes in front of; nil without a picture.
  private var place: (piece: Int, index: Int)?
  /// Whether captions could not be written.
  private(set) var isIncomplete = false

  /// Finds what to write, and the place.
  ///
  /// - Parameters:
  ///   - pieces: the access unit, edited.
  ///   - sets: the parameter sets of its slices.
  ///   - output: the output's format, with its frame rate.
  init(
    into pieces: [RepackPiece<Codec>], _ sets: Codec.ParameterSets, as output: RepackFormat<Codec>
  ) throws(FlowError) {
    let captions = pieces.captions()
    guard !captions.isEmpty else { return }
    var prefixes: [(piece: Int, index: Int)] = []
    var header: [UInt8] = []
    var isField = false
    for (number, piece) in pieces.enumerated() {
      let hasCaptions = try piece.withBytes { bytes -> Bool in
        for (index, entry) in piece.nalUnits.enumerated() {
          let nalUnit = bytes.extracting(entry.range)
          if Codec.NALUnitType(rawValue: entry.type).isSEI {
            guard !Self.holdsCaptions(nalUnit, piece.found.repackager.replacement(at: index)) else { return true }
          }
          guard place == nil else { continue }
          switch Codec.role(of: nalUnit) {
          case .slice, .slicePart, .layerSlice:
            place = prefixes.first ?? (number, index)
            header = Codec.seiHeader(forPictureOf: nalUnit)
            isField = Self.isField(nalUnit, sets)
          default:
            if Codec.isPrefix(nalUnit) { prefixes.append((number, index)) } else { prefixes = [] }
          }
        }
        return false
      }
      guard !hasCaptions else { return }
    }
    guard place != nil else { return }
    write(captions, header, isField ? nil : output.captionRate, limit: output.longestNALUnit)
  }

  /// Whether a slice is of a field, which shares the captions of its frame with another access unit.
  private static func isField(_ slice: Span<UInt8>, _ sets: Codec.ParameterSets) -> Bool {
    do throws(BitstreamError) {
      return try Codec.SliceHeader(nalUnit: slice, parameterSets: sets, depth: .pictureIdentity).isField
    } catch {
      return false
    }
  }

  private static func holdsCaptions(_ nalUnit: Span<UInt8>, _ replacement: [[UInt8]]?) -> Bool {
    guard let replacement else { return SEIMessages.holdCaptions(nalUnit, headerLength: Codec.nalUnitHeaderLength) }
    return replacement.contains {
      SEIMessages.holdCaptions($0.span, headerLength: Codec.nalUnitHeaderLength)
    }
  }

  /// Writes a padded message if the rate is known. Otherwise writes one for each meta, so that a parser makes the same
  /// metas of them.
  private mutating func write(
    _ captions: [Buffer.ClosedCaptions], _ header: [UInt8], _ rate: CaptionRate?, limit: Int
  ) {
    var lists: [[CaptionTriplet]] = []
    for captions in captions.prefix(SEIContent.limit) {
      if let triplets = captions.triplets { lists.append(triplets) } else { isIncomplete = true }
    }
    lists.removeAll(where: \.isEmpty)
    if let rate, let first = lists.first {
      let filled = rate.filled(lists.count == 1 ? first : CaptionTriplet.joined(lists))
      if filled.count <= CaptionTriplet.limit { lists = [filled] }
    }
    var messages: [(type: SEIPayloadType, payload: [UInt8])] = []
    for triplets in lists {
      do throws(BitstreamError) {
        messages.append((.userDataRegistered, try CaptionMessage(CaptionData(triplets)).userData().payload))
      } catch {
        isIncomplete = true
      }
    }
    guard !messages.isEmpty else { return }
    let written = seiNALUnit(messages, header: header)
    if written.count <= limit { nalUnit = written } else { isIncomplete = true }
  }

  /// Inserts the NAL unit. Returns how many were inserted.
  func apply(to pieces: inout [RepackPiece<Codec>]) -> Int {
    guard let nalUnit, let place else { return 0 }
    pieces[place.piece].insert(nalUnit, directlyBefore: place.index)
    return 1
  }
}

extension RepackFormat {
  /// The rate whose number of triplets each picture has; nil if the frame rate may vary, or is another one.
  fileprivate var captionRate: CaptionRate? {
    guard let frameRate else { return nil }
    return Ratio(UInt32(clamping: frameRate.numerator), UInt32(clamping: frameRate.denominator)).flatMap {
      CaptionRate($0)
    }
  }
}

extension Buffer.ClosedCaptions {
  /// The triplets for SEI messages; nil if the bytes cannot be read, or their layout is unknown.
  fileprivate var triplets: [CaptionTriplet]? {
    switch format {
    case .cea608Raw: CaptionTriplet.list(pairs: bytes)
    case .cea608S334: CaptionTriplet.list(lines: bytes)
    case .cea708Raw: CaptionTriplet.list(data: bytes)
    case .cea708Packet: CaptionTriplet.list(packet: bytes)
    case nil: nil
    }
  }
}
