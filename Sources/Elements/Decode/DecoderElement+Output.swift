// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Negotiation and buffers.
extension DecoderElement {
  func askDownstream() {
    let pad = sourcePad
    let allowed = pad.allowedCaps
    let listed = pad.peerCaps()
    core.plan(allowed: allowed, listed: listed, isReverse: isReverse, needsReconfigure: pad.needsReconfigure)
  }

  func negotiateProposal() throws(FlowError) {
    guard let plan = core.takeProposal() else { return }
    let state = setOutputState(format: plan.info.format, width: plan.info.width, height: plan.info.height)
    guard let state else {
      core.negotiationFailed()
      throw .notNegotiated
    }
    state.modifyInfo { $0 = plan.info }
    state.setCaps(plan.caps)
    guard negotiateOutput() else {
      core.negotiationFailed()
      if sourcePad.isFlushing { throw .flushing }
      throw .notNegotiated
    }
    core.negotiated(plan, pool: bufferPool)
  }

  /// Configures the pool that the base class chose so that libavcodec can decode into it, if downstream permits.
  func choosePool(in query: borrowing Query) -> Bool {
    // The pool's padding is made for frames: fields are copied.
    guard let output = core.output.agreed, output.isSessionFormat, !output.layout.isOfDevice, query.allowsVideoMeta,
      output.info.interlaceMode != .alternate, core.rendersDirectly
    else {
      core.choosePool(isDirect: false)
      return true
    }
    guard let offer = query.firstPool(), let caps = query.allocationCaps else { return true }
    let isDirect = output.configurePool(offer, caps: caps, in: query)
    core.choosePool(isDirect: isDirect)
    return true
  }

  /// The buffer that goes downstream for a picture.
  func outputBuffer(for picture: DecodedPicture) throws(FlowError) -> Buffer {
    guard let output = core.output.agreed else { throw .notNegotiated }
    if output.layout.isOfDevice {
      guard let buffer = picture.inDeviceMemory(as: output.info) else {
        throw reported(
          .error,
          as: ElementError(
            .resource(.noSpaceLeft), "No memory for a decoded picture.", debug: "GstDmaBufAllocator returned none"))
      }
      return buffer
    }
    let pooled = picture.token as? PooledPicture
    guard let conversion = core.output.conversion else {
      if output.isDirect, let pooled {
        // The base class would make the copy, and does not survive that memory cannot be copied.
        guard let buffer = pooled.shareBuffer().writable() else { throw reported(.error, as: .unwritableOutput) }
        return buffer
      }
      if output.isDirect, let buffer = picture.shared(as: output.info) { return buffer }
      if core.rendersDirectly, let buffer = picture.wrapped(as: output.info) { return buffer }
      core.pictureCopied()
      let target = try acquireOutput()
      do throws(FlowError) { return try picture.copied(into: target, info: output.info) } catch {
        throw reported(error, as: .unwritableOutput)
      }
    }
    var target = try acquireOutput()
    do throws(FlowError) {
      if let pooled {
        try conversion.convert(pooled.shareBuffer(), into: &target)
      } else if let buffer = picture.shared(as: conversion.source) {
        try conversion.convert(buffer, into: &target)
      } else {
        core.pictureCopied()
        let source = try picture.copied(into: try conversion.acquireSource(), info: conversion.source)
        try conversion.convert(source, into: &target)
      }
    } catch {
      throw reported(error, as: .unwritableOutput)
    }
    return target
  }

  private func acquireOutput() throws(FlowError) -> Buffer {
    if let buffer = allocateOutputBuffer() { return buffer }
    throw reported(
      sourcePad.isFlushing ? .flushing : .error,
      as: ElementError(
        .resource(.noSpaceLeft), "No memory for a decoded picture.", debug: "the buffer pool returned none"))
  }

  /// Sets the flags that the caps leave to each buffer.
  func setFlags(of buffer: inout Buffer, for picture: DecodedPicture) {
    var flags: Buffer.Flags = []
    if picture.isCorrupt { flags.insert(.corrupted) }
    switch core.output.agreed?.info.interlaceMode {
    case .alternate?:
      flags.formUnion([.interlaced, .oneField])
      if picture.isTopFieldFirst { flags.insert(.topFieldFirst) }
    case .mixed?, .interleaved?:
      guard picture.isInterlaced else { break }
      flags.insert(.interlaced)
      if picture.isTopFieldFirst { flags.insert(.topFieldFirst) }
      if picture.repeatsFirstField { flags.insert(.repeatFirstField) }
      if picture.isSingleField { flags.insert(.oneField) }
    default: break
    }
    if !flags.isEmpty { buffer.flags.formUnion(flags) }
  }
}

extension DecodedPicture {
  /// A buffer of the memory that the codec's process has written the picture into, for elements that support
  /// GstVideoMeta.
  fileprivate func shared(as info: VideoInfo) -> Buffer? {
    guard let samples = sharedSamples, info.planeCount == planeCount, info.interlaceMode != .alternate,
      var buffer = Buffer(sharing: samples.descriptor, byteCount: samples.byteCount, keeping: self)
    else { return nil }
    buffer.describePlanes(of: info, offsets: samples.offsets, strides: samples.strides)
    return buffer
  }

  /// A buffer of the picture's own memory, one GstMemory a plane, where rows and planes lie as in a buffer without
  /// GstVideoMeta. Mapping it whole copies; sinks that write to files or pass it on need no copy.
  fileprivate func wrapped(as info: VideoInfo) -> Buffer? {
    var planes: [UnsafeRawBufferPointer] = unsafe []
    var end = 0
    for index in 0..<planeCount {
      guard let plane = unsafe contiguousPlane(index), info.offset(ofPlane: index) == end,
        self.plane(index).stride == info.stride(ofPlane: index)
      else { return nil }
      unsafe planes.append(plane)
      end += plane.count
    }
    guard end == info.size else { return nil }
    return unsafe Buffer(wrapping: planes, keeping: self)
  }

  /// The buffer, with a copy of the samples in it.
  fileprivate func copied(into buffer: consuming Buffer, info: VideoInfo) throws(FlowError) -> Buffer {
    var map = try VideoFrameMap(buffer, info: info, for: .writing)
    for index in 0..<planeCount {
      let plane = plane(index)
      for row in 0..<plane.rowCount { map.write(plane.row(row), toRow: row, ofPlane: index) }
    }
    return buffer
  }
}
