// SPDX-License-Identifier: MPL-2.0

extension RemovableMetadata {
  /// Whether it is a NAL unit, not an SEI message.
  package var isNALUnit: Bool { self == .dolbyVision }

  /// Whether an SEI message is of this kind.
  fileprivate func includes(_ message: borrowing SEIMessages.Message) -> Bool {
    Self(message) == self
  }
}

/// Metadata that was found in an access unit.
package struct FoundMetadata: Sendable {
  /// Its kind.
  package let kind: RemovableMetadata
  /// The payload of the SEI message, or the NAL unit with its header.
  package let bytes: [UInt8]
  /// The offset of its NAL unit in the access unit.
  package let offset: Int
  /// Whether it is in front of the picture's first slice.
  package let isInFront: Bool
}

extension StreamEditing {
  /// Finds metadata in an access unit, in the order of its NAL units. If a NAL unit cannot be read to its end, messages
  /// in front of the fault are found.
  package static func metadata(
    _ kinds: [RemovableMetadata], in accessUnit: Span<UInt8>, _ packaging: NALPackaging
  ) -> [FoundMetadata] {
    var found: [FoundMetadata] = []
    var isInFront = true
    _ = packaging.forEachNALUnit(of: accessUnit) { range in
      let nalUnit = accessUnit.extracting(range)
      guard nalUnit.count > nalUnitHeaderLength else { return }
      let type = NALUnitType(headerByte: nalUnit[0])
      if type.isVCL { isInFront = false }
      if isRPU(nalUnit) {
        guard kinds.contains(.dolbyVision) else { return }
        found.append(
          FoundMetadata(
            kind: .dolbyVision, bytes: [UInt8](copying: nalUnit), offset: range.lowerBound, isInFront: isInFront))
      } else if type.isSEI {
        do throws(BitstreamError) {
          var messages = SEIMessages(nalUnit, headerLength: nalUnitHeaderLength)
          while let message = try messages.next() {
            for kind in kinds where kind.includes(message) {
              found.append(
                FoundMetadata(
                  kind: kind, bytes: try message.payload(), offset: range.lowerBound, isInFront: isInFront))
            }
          }
        } catch {
          // The messages before it were read.
        }
      }
    }
    return found
  }

  /// Gives an access unit other metadata of a kind. New metadata takes the place of metadata of its kind. Without any, an
  /// SEI message gets a NAL unit in front of the slices, and an RPU comes behind everything but an end of sequence.
  ///
  /// - Parameters:
  ///   - kind: has one message for each picture.
  ///   - new: the payload of an SEI message of type ``SEIPayloadType/userDataRegistered``, or a NAL unit; nil to remove
  ///     metadata of the kind.
  ///   - accessUnit: has a picture.
  /// - Returns: the access unit, nil if it stays as it is; and how many were there before.
  /// - Throws: `.lengthNotRepresentable` if a NAL unit is too long for the length prefix.
  package static func replacing(
    _ kind: RemovableMetadata, with new: [UInt8]?, in accessUnit: Span<UInt8>, _ packaging: NALPackaging
  ) throws(StreamEditError) -> (bytes: [UInt8]?, count: Int) {
    kind.isNALUnit
      ? try replacingRPU(with: new, accessUnit, packaging)
      : try replacingMessages(kind, with: new, accessUnit, packaging)
  }

  private static func replacingMessages(
    _ kind: RemovableMetadata, with new: [UInt8]?, _ accessUnit: Span<UInt8>, _ packaging: NALPackaging
  ) throws(StreamEditError) -> (bytes: [UInt8]?, count: Int) {
    let places = NALUnitPlace.all(accessUnit, packaging)
    var edited: [(index: Int, nalUnit: [UInt8])] = []
    var (count, isPlaced) = (0, new == nil)
    for (index, place) in places.enumerated() {
      let nalUnit = accessUnit.extracting(place.range)
      guard nalUnit.count > nalUnitHeaderLength, NALUnitType(headerByte: nalUnit[0]).isSEI else { continue }
      do throws(BitstreamError) {
        let result = try SEIMessages.edited(nalUnit, headerLength: nalUnitHeaderLength) {
          message throws(BitstreamError) -> EditedSEIMessage in
          guard kind.includes(message) else { return .unchanged }
          count += 1
          guard let new, !isPlaced else { return .removed }
          isPlaced = true
          return try message.payload() == new ? .unchanged : .replaced(new)
        }
        if let result { edited.append((index, result)) }
      } catch {
        // A NAL unit that cannot be read to its end stays.
      }
    }
    let slice = isPlaced ? nil : places.firstIndex { isSlice(accessUnit.extracting($0.range)) }
    var insertion = slice
    while let index = insertion, index > 0, isPrefix(accessUnit.extracting(places[index - 1].range)) {
      insertion = index - 1
    }
    var splice = AccessUnitSplice(accessUnit, packaging)
    for (index, place) in places.enumerated() {
      if index == insertion, let slice, let new {
        let header = seiHeader(forPictureOf: accessUnit.extracting(places[slice].range))
        try splice.insert(seiNALUnit([(.userDataRegistered, new)], header: header), before: place)
      }
      if let result = edited.first(where: { $0.index == index }) {
        if result.nalUnit.isEmpty {
          splice.remove(place, isFirst: index == 0)
        } else {
          try splice.replace(place, with: result.nalUnit)
        }
      } else {
        splice.keep(place)
      }
    }
    return (splice.finish(), count)
  }

  private static func replacingRPU(
    with new: [UInt8]?, _ accessUnit: Span<UInt8>, _ packaging: NALPackaging
  ) throws(StreamEditError) -> (bytes: [UInt8]?, count: Int) {
    let places = NALUnitPlace.all(accessUnit, packaging)
    let isRPU = places.map { Self.isRPU(accessUnit.extracting($0.range)) }
    let lastSlice = places.lastIndex { isSlice(accessUnit.extracting($0.range)) } ?? places.startIndex
    let end =
      places.indices[lastSlice...].first { role(of: accessUnit.extracting(places[$0].range)) == .end }
      ?? places.endIndex
    var splice = AccessUnitSplice(accessUnit, packaging)
    for (index, place) in places.enumerated() {
      if index == end, let new, end == 0 || !isRPU[end - 1] { try splice.insert(new, before: place) }
      guard isRPU[index] else {
        splice.keep(place)
        continue
      }
      if index == end - 1, let new {
        if BulkBytes.areEqual(new, accessUnit.extracting(place.range)) {
          splice.keep(place)
        } else {
          try splice.replace(place, with: new)
        }
      } else {
        splice.remove(place, isFirst: index == 0)
      }
    }
    if end == places.endIndex, let new, end == 0 || !isRPU[end - 1] { try splice.append(new) }
    return (splice.finish(), isRPU.count { $0 })
  }

  private static func isSlice(_ nalUnit: Span<UInt8>) -> Bool {
    switch role(of: nalUnit) {
    case .slice, .slicePart, .layerSlice: true
    default: false
    }
  }

  /// Whether a NAL unit is Dolby Vision's RPU.
  private static func isRPU(_ nalUnit: Span<UInt8>) -> Bool {
    // The Recommendation leaves the type to applications: others may use it.
    DolbyVision.RPU.hasPrefix(nalUnit, headerLength: nalUnitHeaderLength)
      && NALUnitType(headerByte: nalUnit[0]) == .dolbyVisionRPU
  }
}
