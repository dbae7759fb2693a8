// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding
import VideoFiles

// The code of the article, checked by ArticleTests.

/// A picture as a buffer, and the caps that describe it: NV12 row by row, everything else as BGRA.
func sample(of picture: DecodedPicture) throws -> Sample {
  let isNV12 = picture.pixelFormat == .nv12
  guard var info = VideoInfo(format: isNV12 ? .nv12 : .bgra, width: picture.width, height: picture.height),
    var buffer = Buffer(size: info.size)
  else { throw FlowError.error }
  if let ratio = picture.sampleAspectRatio {
    info.pixelAspectRatio = Fraction(Int32(clamping: ratio.width), Int32(clamping: ratio.height))
  }
  let colour = picture.colour
  info.setColorimetry(
    isFullRange: isNV12 ? colour.isFullRange : true, primaries: colour.primaries ?? 2, transfer: colour.transfer ?? 2,
    matrix: isNV12 ? colour.matrix ?? 2 : 0)
  try write(picture, to: buffer, info)
  buffer.pts = picture.time.map { ClockTime($0) }
  buffer.duration = picture.duration.map { ClockTime($0) }
  return Sample(buffer, caps: info.caps())
}

/// Copies rows to where the caps have them: a stride of GStreamer's is a multiple of four bytes.
private func write(_ picture: DecodedPicture, to buffer: borrowing Buffer, _ info: VideoInfo) throws {
  var map = try VideoFrameMap(buffer, info: info, for: .writing)
  if info.format == .nv12 {
    for index in 0..<picture.planeCount {
      let plane = picture.plane(index)
      for row in 0..<plane.rowCount { map.write(plane.row(row), toRow: row, ofPlane: index) }
    }
  } else {
    let pixels = PictureConverter(to: .bgra).convert(picture)
    let size = pixels.rowByteCount(plane: 0)
    for row in 0..<pixels.height {
      map.write(pixels.bytes.span.extracting(row * size..<(row + 1) * size), toRow: row, ofPlane: 0)
    }
  }
}

/// Shows the video of an MP4.
func show(mp4At path: String, on sink: String = "autovideosink") async throws {
  let pipeline = try Pipeline("appsrc name=pictures format=time max-buffers=4 ! videoconvert ! \(sink)")
  let source = try pipeline.appSource("pictures")
  try await pipeline.play()
  var configuration = SessionConfiguration()
  configuration.outputLayout = .semiPlanar
  for try await picture in DecodedPictures(of: try MP4AccessUnits(fileAt: path), configuration: configuration) {
    try await source.send(try sample(of: picture))
  }
  try source.finish()
  // End of stream is posted when the last picture was shown.
  for try await _ in pipeline.messages {}
  await pipeline.stop()
}
