// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// The unit in hand is complete: describes it and hands it to the base class.
  func finishUnit(_ size: Int, _ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    guard updateSourceCaps() else {
      Self.log(.debug, self, "left out \(size) bytes: no caps yet")
      frame.markAsDropped()
      return .frame(size: size)
    }
    hintSize(size)
    if unit.coded.contents.contains(.pictureStart) { pictureCount += 1 }
    frame.modifyBuffer { buffer in
      var attributes = buffer.attributes
      describe(&attributes)
      // The base class would put every picture with a PTS into its seek index, some hundred bytes each for the life of
      // the stream: those that cannot be sought get theirs on the way out.
      if !isRandomAccessPoint { attributes.pts = nil }
      buffer.attributes = attributes
    }
    countUnit(size)
    // When the element pulls, it is the base class that seeks, and no event tells.
    if discardsBidirectional || sinkPad.isPulling && segment.forwardPredictedOnly,
      unit.coded.contents.contains(.bidirectionalSlice)
    {
      frame.markAsDropped()
      return .frame(size: size)
    }
    unit.start = 0
    guard try repackage(size, frame) else {
      statistics.bytesSkipped += UInt64(size)
      isDiscontinuous = true
      frame.markAsDropped()
      return .frame(size: size)
    }
    swap(&outgoing, &unit)
    return .frame(size: try sendAhead(size, frame))
  }

  /// Asks for as much data at once as the next unit will probably need.
  private func hintSize(_ size: Int) {
    if sinkPad.isPulling {
      sizeHint = max(size + size / 8 + 4096, maySendAhead ? Self.batchSize : 0)
      setMinimumFrameSize(sizeHint)
    } else if sizeHint > 0 {
      sizeHint = 0
      setMinimumFrameSize(inputFormat?.isLengthPrefixed == true ? 1 : H264.UnitScanner.minimumInput)
    }
  }

  /// The unit in hand does not end in so many bytes: asks for more than the next few. Never for more than shows that a
  /// unit is too large.
  func askForMore(_ available: Int) {
    if sinkPad.isPulling {
      setMinimumFrameSize(min(max(available * 2, 64 << 10), Self.maximumUnitSize + 1))
    } else if available >= 1 << 20 {
      // The base class copies everything together every time that it hands it over: not with every small buffer.
      sizeHint = available + available / 8
      setMinimumFrameSize(min(sizeHint, Self.maximumUnitSize + 1))
    }
  }

  func countUnit(_ size: Int) {
    statistics.bytes += UInt64(size)
    if makesTimestamps, sinkPad.isPulling, bitrates.add(bytes: size, duration: unit.attributes.duration) { sendTags() }
    if unit.coded.contents.contains(.accessUnitStart) {
      statistics.count(isRandomAccessPoint: isRandomAccessPoint, isIDR: unit.coded.contents.contains(.idr))
    }
    if alignment == .accessUnit || unit.coded.contents.contains(.slice) { publishStatistics() }
  }

  /// Whether decoding can begin with the unit in hand.
  var isRandomAccessPoint: Bool {
    if unit.coded.contents.contains(.idr) { return true }
    guard unit.coded.contents.contains(.slice) else { return unit.coded.contents.contains(.recoveryPoint) }
    return scanner.accessUnitContents.contains(.recoveryPoint) || isIntraOnly
  }

  private var isIntraOnly: Bool { capsState.isIntraOnly }

  // MARK: Timestamps and flags

  /// Puts on the unit in hand what is known of it.
  func describe(_ attributes: inout Buffer.Attributes) {
    let pictureDuration = pictureDuration()
    stamp(&attributes)
    if attributes.duration == nil { attributes.duration = pictureDuration }
    var flags = attributes.flags
    flags.remove([.marker, .header, .deltaUnit, .droppable])
    let contents = unit.coded.contents
    if !isRandomAccessPoint { flags.insert(.deltaUnit) }
    if !contents.isDisjoint(with: .headers) { flags.insert(.header) }
    if contents.contains(.accessUnitEnd) { flags.insert(.marker) }
    if contents.contains(.slice), !contents.contains(.reference) { flags.insert(.droppable) }
    if contents.contains(.damaged) { flags.insert(.corrupted) }
    if unit.information.isFirstView { flags.insert(.firstInBundle) }
    if isDiscontinuous { flags.insert(.discontinuity) }
    insertInterlaceFlags(&flags)
    attributes.flags = flags
    unit.attributes = attributes
    isDiscontinuous = false
  }

  // MARK: Before it goes out

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
        if needsDelimiter, let delimiter = Buffer(copying: Self.delimiter.span) { buffer.prepend(delimiter) }
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
        if place.lowerBound > 0, buffer.offset != .max { buffer.offset += UInt64(place.lowerBound) }
        if buffer.attributes != attributes { buffer.attributes = attributes }
        finish(&buffer)
      }
    } else {
      let part = frame.withOutput { $0.region(place, withMetadata: true) }
      guard var part else { throw .error }
      part.attributes = attributes
      if frame.offset != .max { part.offset = frame.offset + UInt64(place.lowerBound) }
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
      let carriesInformation = awaitsInformation && contents.contains(.supplementalInformation)
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
  private func pieceFlags(_ contents: H264.CodedUnit.Contents, of flags: Buffer.Flags, isLast: Bool) -> Buffer.Flags {
    var result = flags
    result.remove([.marker, .header, .deltaUnit, .droppable])
    let mayBeKey: H264.CodedUnit.Contents =
      outgoing.coded.contents.contains(.recoveryPoint) ? [.slice, .supplementalInformation] : .slice
    let isKey = !flags.contains(.deltaUnit) && !contents.isDisjoint(with: mayBeKey)
    if !isKey { result.insert(.deltaUnit) }
    if !contents.isDisjoint(with: .headers) { result.insert(.header) }
    if contents.contains(.slice), !contents.contains(.reference) { result.insert(.droppable) }
    if isLast { result.insert(.marker) }
    return result
  }

  private func pushParameterSets(at attributes: Buffer.Attributes) throws(FlowError) {
    for nalUnit in insertedParameterSets { try push(nalUnit, at: attributes) }
  }

  // MARK: What is put in

  /// An access unit delimiter that allows every kind of slice, with its start code.
  private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]

  private func sendTags() {
    guard let caps = sourcePad.currentCaps else { return }
    var tags = TagList()
    tags.set("video-codec", Self.codecDescription(profile: caps.first.string("profile")))
    if let range = bitrates.toTell {
      tags.set("minimum-bitrate", range.lowerBound)
      tags.set("maximum-bitrate", range.upperBound)
    }
    mergeTags(tags)
  }

  /// Whether parameter sets are to be put into the outgoing unit.
  private func takesParameterSets(at time: ClockTime?) -> Bool {
    guard outgoing.coded.idrOffset != nil else { return false }
    guard insertion.isDue(at: time, interval: settings.snapshot.configInterval) else { return false }
    insertion.noticeSent(at: time)
    let present = scanner.cutsNALUnits ? scanner.accessUnitContents : outgoing.coded.contents
    return !present.contains(.parameterSets)
  }

  /// SPS, their extensions and PPS, in the order that each needs those before.
  private var insertedParameterSets: [[UInt8]] {
    scanner.parameterSets.sequenceParameterSetNALUnits + scanner.parameterSets.extensionNALUnits
      + scanner.parameterSets.subsetSequenceParameterSetNALUnits + scanner.parameterSets.pictureParameterSetNALUnits
  }

  private func insertParameterSets(_ buffer: inout Buffer, at offset: Int) {
    var bytes: [UInt8] = []
    for nalUnit in insertedParameterSets { bytes += packaged(nalUnit) }
    guard !bytes.isEmpty, let inserted = Buffer(copying: bytes.span) else { return }
    buffer.insert(inserted, at: offset)
  }

  /// A NAL unit behind what stands in front of NAL units in the output.
  private func packaged(_ nalUnit: [UInt8]) -> [UInt8] {
    guard format?.isLengthPrefixed == true else { return [0, 0, 0, 1] + nalUnit }
    let count = outputPackaging.prefixLength
    return (0..<count).map { UInt8(truncatingIfNeeded: nalUnit.count >> (8 * (count - 1 - $0))) } + nalUnit
  }

  /// Pushes a NAL unit of our own in front of the one that goes out.
  private func push(_ nalUnit: [UInt8], at attributes: Buffer.Attributes) throws(FlowError) {
    guard var buffer = Buffer(copying: packaged(nalUnit).span) else { throw .error }
    var own = buffer.attributes
    (own.pts, own.dts, own.duration) = (attributes.pts, attributes.dts, .zero)
    own.flags.insert(.deltaUnit)
    if nalUnit.first != 0x09 { own.flags.insert(.header) }
    buffer.attributes = own
    try sourcePad.push(buffer)
  }
}
