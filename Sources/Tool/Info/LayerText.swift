// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// Text for the user about the layers above the base layer of H.265, such as the second view of MV-HEVC or alpha. It
/// includes their boxes in the sample entry of MP4.
enum LayerText {
  /// - Parameter identifiers: values of `nuh_layer_id` above 0.
  /// - Returns: `nil` if there are none.
  static func text(_ identifiers: Set<UInt8>) -> String? {
    identifiers.isEmpty ? nil : names(identifiers).joined(separator: ", ")
  }

  /// - Parameter accessUnit: the first one.
  /// - Returns: `nil` if there are none.
  static func text(_ description: MP4.VisualSampleDescription, _ accessUnit: [UInt8]) -> String? {
    var parts = names(identifiers(description, accessUnit))
    for box in description.otherBoxes {
      switch box.type.name {
      case "lhvC": parts.append("layered configuration (lhvC)")
      case "vexu": parts.append(views(box.bytes))
      case "hfov": parts.append("field of view (hfov)")
      default: break
      }
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func names(_ identifiers: Set<UInt8>) -> [String] { identifiers.sorted().map { "layer \($0)" } }

  private static func identifiers(_ description: MP4.VisualSampleDescription, _ accessUnit: [UInt8]) -> Set<UInt8> {
    let lengthSize: NALLengthSize
    do throws(BitstreamError) {
      lengthSize = try H265.DecoderConfigurationRecord(description.configuration.span).nalLengthSize
    } catch { return [] }
    var found: Set<UInt8> = []
    for range in NALPackaging.lengthPrefixed(lengthSize).nalUnits(of: accessUnit.span) {
      guard let header = try? H265.NALUnitHeader(accessUnit.span.extracting(range)) else { continue }
      if header.layerID > 0 { found.insert(header.layerID) }
    }
    return found
  }

  /// Apple's description of spatial video: the eyes in the stream, and the eye that is shown if only one can be.
  private static func views(_ box: [UInt8]) -> String {
    let name = "spatial video (vexu)"
    var boxes = MP4.Boxes(box.span, in: 8..<max(8, box.count))
    guard let eyes = boxes.firstIntact(FourCharacterCode("eyes")) else { return name }
    var inner = MP4.Boxes(box.span, in: eyes.content)
    // A full box of one byte.
    guard let hero = inner.firstIntact(FourCharacterCode("hero")), hero.content.count >= 5 else { return name }
    return switch box[hero.content.lowerBound + 4] {
    case 1: "\(name), hero eye left"
    case 2: "\(name), hero eye right"
    default: name
    }
  }
}

extension AccessUnitRecord {
  /// Values of `nuh_layer_id` above 0; none in H.264.
  var layers: Set<UInt8> {
    nalUnits.reduce(into: []) { if let layer = $1.layerID, layer > 0 { $0.insert(layer) } }
  }
}
