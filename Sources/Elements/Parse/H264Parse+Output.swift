// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// The base class is about to send the frame, or what is left of it.
  func finishOutput(_ frame: borrowing BaseParseFrame) throws(FlowError) {
    guard capsState.isSet else { throw sourcePad.isFlushing ? .flushing : .notNegotiated }
    if !capsState.hasSentBuffer {
      capsState.hasSentBuffer = true
      sendTags()
    }
    var attributes = frame.withOutput { $0.attributes }
    if outgoing.start > 0 {
      // What the frame has is of its first unit.
      attributes = outgoing.attributes
    } else {
      restoreTimes(&attributes)
      takePosition(&attributes)
    }
    try sendOutput(frame, attributes, isLast: true)
    continuesOutput = true
  }

  /// Sends the outgoing unit with what the stream lacks.
  ///
  /// - Parameter isLast: whether it is the last unit of the frame, which is left to the base class.
  func sendOutput(
    _ frame: borrowing BaseParseFrame, _ attributes: Buffer.Attributes, isLast: Bool
  ) throws(FlowError) {
    answerKeyUnitRequest(pts: attributes.pts, isDelta: attributes.flags.contains(.deltaUnit))
    let needsDelimiter =
      format == .byteStream && outgoing.coded.contents.contains(.accessUnitStart)
      && !outgoing.coded.contents.contains(.delimiter)
    let needsParameterSets = takesParameterSets(at: attributes.pts)
    if alignment == .nalUnit, needsDelimiter { try push([0x09, 0xF0], at: attributes) }
    guard outgoing.coded.nalUnits.isEmpty else {
      return try split(frame, attributes, isLast: isLast, insertsParameterSets: needsParameterSets)
    }
    if alignment == .nalUnit, needsParameterSets { try pushParameterSets(at: attributes) }
    try send(0..<outgoing.outputSize, of: frame, attributes, isLast: isLast) { buffer in
      if alignment == .accessUnit {
        if needsParameterSets, let offset = outgoing.coded.parameterSetOffset {
          insertParameterSets(&buffer, at: offset)
          buffer.flags.insert(.header)
        }
        if needsDelimiter { insertDelimiter(&buffer) }
      }
      attachInformation(&buffer)
    }
  }

  /// Sends a part of the outgoing unit. When it is the frame's last, the base class does so.
  private func send(
    _ range: Range<Int>, of frame: borrowing BaseParseFrame, _ attributes: Buffer.Attributes, isLast: Bool,
    finish: (inout Buffer) -> Void
  ) throws(FlowError) {
    let place = outgoing.start + range.lowerBound..<outgoing.start + range.upperBound
    if isLast {
      frame.modifyOutput { buffer in
        if place != 0..<buffer.size { buffer.resize(to: place) }
        if place.lowerBound > 0, buffer.offset != .max { buffer.offset &+= UInt64(place.lowerBound) }
        if buffer.attributes != attributes { buffer.attributes = attributes }
        finish(&buffer)
      }
    } else {
      let offset = frame.offset == .max ? .max : frame.offset &+ UInt64(place.lowerBound)
      let part = frame.withOutput { $0.region(place, attributes, offset: offset) }
      guard var part else { throw .error }
      finish(&part)
      try sourcePad.push(part)
    }
  }

  // MARK: Splitting

  /// Sends the NAL units of an access unit one by one.
  private func split(
    _ frame: borrowing BaseParseFrame, _ whole: Buffer.Attributes, isLast: Bool, insertsParameterSets: Bool
  ) throws(FlowError) {
    var offsetOfInsertion = insertsParameterSets ? outgoing.coded.parameterSetOffset : nil
    var awaitsInformation = true
    var flags = whole.flags
    let nalUnits = outgoing.coded.nalUnits
    let last = nalUnits.lastIndex { $0.contents != nil }
    for index in nalUnits.indices {
      guard let contents = nalUnits[index].contents else { continue }
      let range = nalUnits[index].start..<nalUnits[index].range.upperBound
      if let offset = offsetOfInsertion, range.lowerBound >= offset {
        offsetOfInsertion = nil
        try pushParameterSets(at: whole)
      }
      let carriesInformation = awaitsInformation && contents.contains(.sei)
      if carriesInformation { awaitsInformation = false }
      let attributes = Buffer.Attributes(
        pts: whole.pts, dts: whole.dts,
        duration: contents.contains(.pictureStart) ? outgoing.attributes.duration : .zero,
        flags: pieceFlags(contents, of: flags, isLast: index == last))
      try send(range, of: frame, attributes, isLast: isLast && index == last) { buffer in
        if carriesInformation { attachInformation(&buffer) }
      }
      flags.remove(.discontinuity)
    }
  }

  /// The flags of one NAL unit of an access unit that has the given ones.
  private func pieceFlags(_ contents: H264.ScannedAccessUnit.Contents, of flags: Buffer.Flags, isLast: Bool)
    -> Buffer.Flags
  {
    var result = flags
    result.remove([.marker, .header, .deltaUnit, .droppable])
    let mayBeKey: H264.ScannedAccessUnit.Contents =
      outgoing.coded.contents.contains(.recoveryPoint) ? [.slice, .sei] : .slice
    let isKey = !flags.contains(.deltaUnit) && !contents.isDisjoint(with: mayBeKey)
    if !isKey { result.insert(.deltaUnit) }
    if !contents.isDisjoint(with: .headers) { result.insert(.header) }
    if contents.contains(.slice), !contents.contains(.reference) { result.insert(.droppable) }
    if isLast { result.insert(.marker) }
    return result
  }

  /// What the stream is, for the user.
  func sendTags() {
    guard let caps = sourcePad.currentCaps else { return }
    var tags = TagList()
    tags.set("video-codec", Self.codecDescription(profile: caps.first.string("profile")))
    if let range = bitrates.toTell {
      tags.set("minimum-bitrate", range.lowerBound)
      tags.set("maximum-bitrate", range.upperBound)
    }
    mergeTags(tags)
  }
}
