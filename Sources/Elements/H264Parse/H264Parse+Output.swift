// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// The unit in hand is complete: describes it and hands it to the base class.
  func finishUnit(_ size: Int, _ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    defer { endUnit(size) }
    guard updateSourceCaps() else {
      Self.log(.debug, self, "left out \(size) bytes: no caps yet")
      frame.markAsDropped()
      return .frame(size: size)
    }
    hintSize(size)
    if unit.contents.contains(.pictureStart) { pictureCount += 1 }
    describe(frame)
    countUnit(size)
    if discardsBidirectional, unit.contents.contains(.bidirectionalSlice) {
      frame.markAsDropped()
      return .frame(size: size)
    }
    try repackage(size, frame)
    outgoing = unit
    return .frame(size: size)
  }

  /// Asks for as much data at once as the next unit will probably need.
  private func hintSize(_ size: Int) {
    guard sinkPad.isPulling else { return }
    sizeHint = size + size / 8 + 4096
    setMinimumFrameSize(sizeHint)
  }

  private func countUnit(_ size: Int) {
    statistics.bytes += UInt64(size)
    if unit.contents.contains(.accessUnitStart) {
      statistics.count(isRandomAccessPoint: isRandomAccessPoint, isIDR: unit.contents.contains(.idr))
    }
    if alignment == .accessUnit || unit.contents.contains(.slice) { publishStatistics() }
  }

  /// Whether decoding can begin with the unit in hand.
  var isRandomAccessPoint: Bool {
    if unit.contents.contains(.idr) { return true }
    guard unit.contents.contains(.slice) else { return unit.contents.contains(.recoveryPoint) }
    return accessUnitContents.contains(.recoveryPoint) || isIntraOnly
  }

  private var isIntraOnly: Bool { capsState.isIntraOnly }

  // MARK: Timestamps and flags

  private func describe(_ frame: borrowing BaseParseFrame) {
    let pictureDuration = pictureDuration()
    frame.modifyBuffer { buffer in
      stamp(&buffer)
      if buffer.duration == nil { buffer.duration = pictureDuration }
      var flags = buffer.flags
      flags.remove([.marker, .header, .deltaUnit, .droppable])
      let contents = unit.contents
      if !isRandomAccessPoint { flags.insert(.deltaUnit) }
      if !contents.isDisjoint(with: .headers) { flags.insert(.header) }
      if contents.contains(.accessUnitEnd) { flags.insert(.marker) }
      if contents.contains(.slice), !contents.contains(.reference) { flags.insert(.droppable) }
      if contents.contains(.damaged) { flags.insert(.corrupted) }
      if isDiscontinuous { flags.insert(.discontinuity) }
      insertInterlaceFlags(&flags)
      buffer.flags = flags
    }
    isDiscontinuous = false
  }

  // MARK: Before it goes out

  /// Adds what the stream lacks to a unit that goes out.
  func finishOutput(_ frame: borrowing BaseParseFrame) throws(FlowError) {
    guard capsState.isSet else { throw sourcePad.isFlushing ? .flushing : .notNegotiated }
    if !capsState.hasSentBuffer {
      capsState.hasSentBuffer = true
      addCodecTag()
    }
    if timestamps.isUpstreamInTime { frame.modifyOutput { restoreTimes(&$0) } }
    if timestamps.firstAfterSeek != nil { frame.modifyOutput { takePosition(&$0) } }
    let times = frame.withOutput { (pts: $0.pts, dts: $0.dts, isDelta: $0.flags.contains(.deltaUnit)) }
    answerKeyUnitRequest(pts: times.pts, isDelta: times.isDelta)
    let needsDelimiter =
      format == .byteStream && outgoing.contents.contains(.accessUnitStart)
      && !outgoing.contents.contains(.delimiter)
    let needsParameterSets = takesParameterSets(at: times.pts)
    if alignment == .nalUnit {
      if needsDelimiter { try push([0x09, 0xF0], pts: times.pts, dts: times.dts) }
      if needsParameterSets {
        for nalUnit in insertedParameterSets { try push(nalUnit, pts: times.pts, dts: times.dts) }
      }
    }
    frame.modifyOutput { buffer in
      if outgoing.outputSize < buffer.size { buffer.resize(to: 0..<outgoing.outputSize) }
      if alignment == .accessUnit {
        if needsParameterSets, let offset = outgoing.parameterSetOffset { insertParameterSets(&buffer, at: offset) }
        if needsDelimiter, let delimiter = Buffer(copying: Self.delimiter.span) { buffer.prepend(delimiter) }
      }
      attachInformation(&buffer)
    }
  }

  /// An access unit delimiter that allows every kind of slice, with its start code.
  private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]

  private func addCodecTag() {
    guard let caps = sourcePad.currentCaps else { return }
    var tags = TagList()
    tags.set("video-codec", Self.codecDescription(profile: caps.first.string("profile")))
    mergeTags(tags)
  }

  /// Whether parameter sets are to be put into the outgoing unit.
  private func takesParameterSets(at time: ClockTime?) -> Bool {
    guard outgoing.idrOffset != nil else { return false }
    guard insertion.isDue(at: time, interval: settings.snapshot.configInterval) else { return false }
    insertion.noticeSent(at: time)
    let present = alignment == .nalUnit ? accessUnitContents : outgoing.contents
    return !present.contains(.parameterSets)
  }

  /// SPS, their extensions and PPS, in the order that each needs those before.
  private var insertedParameterSets: [[UInt8]] {
    parameterSets.sequenceParameterSetNALUnits + parameterSets.extensionNALUnits
      + parameterSets.subsetSequenceParameterSetNALUnits + parameterSets.pictureParameterSetNALUnits
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
  private func push(_ nalUnit: [UInt8], pts: ClockTime?, dts: ClockTime?) throws(FlowError) {
    guard var buffer = Buffer(copying: packaged(nalUnit).span) else { throw .error }
    buffer.pts = pts
    buffer.dts = dts
    buffer.duration = .zero
    var flags: Buffer.Flags = [.deltaUnit]
    if nalUnit.first != 0x09 { flags.insert(.header) }
    buffer.flags.formUnion(flags)
    try sourcePad.push(buffer)
  }
}
