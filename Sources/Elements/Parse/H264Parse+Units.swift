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
      unit.coded.contents.contains(.bSlice)
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
      setMinimumFrameSize(inputFormat?.isLengthPrefixed == true ? 1 : H264.AccessUnitScanner.minimumInput)
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
    return scanner.accessUnitContents.contains(.recoveryPoint) || capsState.isIntraOnly
  }

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
}
