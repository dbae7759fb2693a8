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
  ///   - limit: the longest NAL unit that the output's length prefixes allow.
  init(into pieces: [RepackPiece<Codec>], limit: Int) throws(FlowError) {
    let captions = pieces.captions()
    guard !captions.isEmpty else { return }
    var prefixes: [(piece: Int, index: Int)] = []
    var header: [UInt8] = []
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
          default:
            if Codec.isPrefix(nalUnit) { prefixes.append((number, index)) } else { prefixes = [] }
          }
        }
        return false
      }
      guard !hasCaptions else { return }
    }
    guard place != nil else { return }
    write(captions, header, limit)
  }

  private static func holdsCaptions(_ nalUnit: Span<UInt8>, _ replacement: [[UInt8]]?) -> Bool {
    guard let replacement else { return SEIMessages.holdCaptions(nalUnit, headerLength: Codec.nalUnitHeaderLength) }
    return replacement.contains {
      SEIMessages.holdCaptions($0.span, headerLength: Codec.nalUnitHeaderLength)
    }
  }

  /// Writes a message for each meta, so that a parser makes the same metas of them.
  private mutating func write(_ captions: [Buffer.ClosedCaptions], _ header: [UInt8], _ limit: Int) {
    var messages: [(type: SEIPayloadType, payload: [UInt8])] = []
    for captions in captions.prefix(SEIContent.limit) {
      guard let triplets = captions.triplets else {
        isIncomplete = true
        continue
      }
      guard !triplets.isEmpty else { continue }
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
