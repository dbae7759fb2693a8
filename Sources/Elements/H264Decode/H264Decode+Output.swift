// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

extension H264Decode {
  /// Ends the frames of all results that the session has ready.
  func deliver() throws(FlowError) {
    guard let session else { return }
    defer { publishStatistics() }
    while let result = session.nextResult() {
      // The tag is the frame's number; a frame may be gone after a flush.
      guard let frame = frame(number: UInt32(truncatingIfNeeded: result.tag)) else { continue }
      switch result {
      case .frame(let picture): try finish(frame, with: picture)
      case .dropped(_, let reason): try end(frame, dropped: reason)
      case .failed(_, let error): try end(frame, failed: error)
      }
    }
  }

  /// Ends all frames whose results are there without telling anyone.
  func releaseResults(of session: DecompressionSession) {
    while let result = session.nextResult() {
      if let frame = frame(number: UInt32(truncatingIfNeeded: result.tag)) { release(frame) }
    }
  }

  private func finish(_ frame: consuming VideoCodecFrame, with picture: DecodedPicture) throws(FlowError) {
    if picture.isCorrupt {
      requestSyncPoint(for: frame)
    } else {
      health.pictureDecoded()
    }
    try followLayout(of: picture)
    var buffer = try outputBuffer(for: picture)
    setFlags(of: &buffer, for: picture)
    frame.isSyncPoint = picture.isRandomAccessPoint
    frame.setOutput(buffer)
    updateLatency()
    try finish(frame)
  }

  private func end(_ frame: consuming VideoCodecFrame, dropped reason: DropReason) throws(FlowError) {
    Self.log(.debug, self, "frame \(frame.systemFrameNumber) dropped: \(reason)")
    switch reason {
    case .secondField, .noPicture, .doNotOutput, .flushed, .notShown:
      // Nothing that anyone should miss.
      release(frame)
    case .beforeRandomAccessPoint, .noReference, .sessionLost, .corrupt:
      requestSyncPoint(for: frame)
      try drop(frame)
    case .skipped:
      try drop(frame)
    }
  }

  private func end(_ frame: consuming VideoCodecFrame, failed error: DecodeError) throws(FlowError) {
    requestSyncPoint(for: frame)
    let fault = PictureFault(error, frame: frame)
    try drop(frame)
    try count(fault)
  }

  // MARK: Buffers

  /// The output as it is agreed on fits this picture, or is agreed on anew: should libavcodec see a stream otherwise
  /// than its parameter sets were read, it is right.
  private func followLayout(of picture: DecodedPicture) throws(FlowError) {
    let layout = PictureLayout(of: picture)
    let hasOtherFields = interlacing?.isCorrected(by: picture) ?? false
    guard output?.layout != layout || hasOtherFields || sourcePad.needsReconfigure, let format else { return }
    var native = layout
    if layout.pixelFormat == .nv12 { native.pixelFormat = .yuv420p }
    var plan = try planOutput(native: native, format: format)
    if plan.layout != layout {
      // The session keeps putting out what it was made for until it can be replaced.
      plan = try plan.converting(from: layout)
      wantsNewSession = true
    }
    try agree(on: plan)
  }

  private func outputBuffer(for picture: DecodedPicture) throws(FlowError) -> Buffer {
    guard let output else { throw .notNegotiated }
    let pooled = picture.token as? PooledPicture
    guard let conversion else {
      if output.isDirect, let pooled { return pooled.shareBuffer() }
      if settings.snapshot.directRendering, let buffer = Self.wrap(picture, as: output.info) { return buffer }
      return try copy(picture, into: try acquireOutput(), info: output.info)
    }
    var target = try acquireOutput()
    if let pooled {
      try conversion.convert(pooled.shareBuffer(), into: &target)
    } else {
      let source = try copy(picture, into: try conversion.acquireSource(), info: conversion.source)
      try conversion.convert(source, into: &target)
    }
    return target
  }

  private func acquireOutput() throws(FlowError) -> Buffer {
    if let buffer = allocateOutputBuffer() { return buffer }
    if sourcePad.isFlushing { throw .flushing }
    throw fail(
      ElementError(.resource(.noSpaceLeft), "No memory for a decoded picture.", debug: "the buffer pool gave none"))
  }

  /// The picture's own memory, one memory a plane, where rows and planes follow one another as they do in a buffer
  /// without `GstVideoMeta`. Whoever maps it gets a copy, made then; sinks that write to files or pass it on need none.
  private static func wrap(_ picture: DecodedPicture, as info: VideoInfo) -> Buffer? {
    var planes: [UnsafeRawBufferPointer] = unsafe []
    var end = 0
    for index in 0..<picture.planeCount {
      guard let plane = unsafe picture.contiguousPlane(index), info.offset(ofPlane: index) == end,
        picture.plane(index).stride == info.stride(ofPlane: index)
      else { return nil }
      unsafe planes.append(plane)
      end += plane.count
    }
    guard end == info.size else { return nil }
    return unsafe Buffer(wrapping: planes, keeping: picture)
  }

  private func copy(
    _ picture: DecodedPicture, into buffer: consuming Buffer, info: VideoInfo
  ) throws(FlowError) -> Buffer {
    health.copied += 1
    var map = try VideoFrameMap(buffer, info: info, for: .writing)
    for index in 0..<picture.planeCount {
      let plane = picture.plane(index)
      for row in 0..<plane.rowCount { map.write(plane.row(row), toRow: row, ofPlane: index) }
    }
    return buffer
  }

  private func setFlags(of buffer: inout Buffer, for picture: DecodedPicture) {
    var flags: Buffer.Flags = []
    if picture.isCorrupt { flags.insert(.corrupted) }
    if output?.info.interlaceMode == .mixed || output?.info.interlaceMode == .interleaved, picture.isInterlaced {
      flags.insert(.interlaced)
      if picture.isTopFieldFirst { flags.insert(.topFieldFirst) }
      if picture.repeatsFirstField { flags.insert(.repeatFirstField) }
      if picture.isSingleField { flags.insert(.oneField) }
    }
    if !flags.isEmpty { buffer.flags.formUnion(flags) }
  }
}
