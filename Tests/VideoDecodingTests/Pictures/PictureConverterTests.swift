// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct PictureConverterTests {
  private func firstPicture(
    _ name: String, _ codec: FormatDescription.Codec, _ layout: SessionConfiguration.OutputLayout = .native
  ) async throws -> DecodedPicture {
    let stream = try #require(readFile(mediaFolder + "/" + name))
    let configuration = SessionConfiguration.with { $0.outputLayout = layout }
    var pictures = DecodedPictures(of: AccessUnits(of: stream, codec: codec), configuration: configuration)
      .makeAsyncIterator()
    return try #require(try await pictures.next())
  }

  private var mediaFolder: String {
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/Media"
  }

  /// A copy has the planes without padding: NV12 of the session is what the converter makes of I420.
  @Test func nv12EqualsThatOfTheSession() async throws {
    let (planar, interleaved) = (
      try await firstPicture("clip.h264", .h264), try await firstPicture("clip.h264", .h264, .semiPlanar)
    )
    let converted = PictureConverter(to: .semiPlanar).convert(planar)
    #expect(converted.format == .nv12 && converted.width == 320 && converted.height == 180)
    #expect(converted.bytes == interleaved.copiedBytes())
    #expect(PictureConverter(to: .semiPlanar).convert(interleaved).bytes == converted.bytes)
    #expect(
      planar.copiedBytes().count == 320 * 180 * 3 / 2 && converted.range(ofPlane: 1).upperBound == converted.bytes.count
    )
    #expect(planar.presentationSize == VideoSize(width: 320, height: 180))
  }

  @Test func tenBitPicturesBecomeP010() async throws {
    let (picture, interleaved) = (
      try await firstPicture("ten-bit.h265", .h265), try await firstPicture("ten-bit.h265", .h265, .semiPlanar)
    )
    let converted = PictureConverter(to: .semiPlanar).convert(picture)
    #expect(converted.format == .p010 && picture.pixelFormat == .yuv420p10)
    #expect(interleaved.pixelFormat == .p010 && interleaved.copiedBytes() == converted.bytes)
    #expect(PictureConverter(to: .semiPlanar).convert(interleaved).bytes == converted.bytes)
    #expect(
      PictureConverter(to: .bgra).convert(interleaved).bytes == PictureConverter(to: .bgra).convert(picture).bytes)
    let bytes = picture.copiedBytes()
    func sample(_ index: Int) -> UInt16 { UInt16(bytes[2 * index]) | UInt16(bytes[2 * index + 1]) << 8 }
    func packed(_ index: Int) -> UInt16 {
      UInt16(converted.bytes[2 * index]) | UInt16(converted.bytes[2 * index + 1]) << 8
    }
    let luma = picture.width * picture.height
    let chroma = ((picture.width + 1) / 2) * ((picture.height + 1) / 2)
    #expect((0..<luma).allSatisfy { packed($0) == sample($0) << 6 })
    #expect((0..<chroma).allSatisfy { packed(luma + 2 * $0) == sample(luma + $0) << 6 })
    #expect((0..<chroma).allSatisfy { packed(luma + 2 * $0 + 1) == sample(luma + chroma + $0) << 6 })
  }

  @Test(arguments: [
    ("formats/yuv422p10le.h265", ConvertedFormat.p210), ("formats/yuv444p.h265", .nv24),
    ("formats/yuv444p12le.h265", .p412),
    ("formats/gray.h265", .nv12), ("formats/gbrp10le.h265", .p410), ("formats/yuv422p.h265", .nv16),
    ("formats/yuv420p12le.h265", .p012),
  ]) func convertsEveryFormat(name: String, format: ConvertedFormat) async throws {
    let picture = try await firstPicture(name, .h265)
    let whole = PictureConverter(to: .semiPlanar).convert(picture)
    #expect(whole.format == format && whole.bytes.count == whole.range(ofPlane: 1).upperBound)
    for target in PictureConverter.Target.allCases {
      for size in [VideoSize(width: 1, height: 1), VideoSize(width: 33, height: 17), VideoSize(width: 500, height: 3)] {
        let small = PictureConverter(to: target, size: size).convert(picture)
        #expect(small.width == size.width && small.height == size.height)
        let counts = (0..<small.format.planeCount).map { small.rowByteCount(plane: $0) * small.rowCount(plane: $0) }
        #expect(small.bytes.count == counts.reduce(0, +) && small.range(ofPlane: 7).isEmpty)
      }
    }
  }

  /// A size that makes no sense is the nearest that does.
  @Test func boundsSizes() async throws {
    let picture = try await firstPicture("clip.h264", .h264)
    let none = PictureConverter(to: .bgra, size: VideoSize(width: 0, height: -5)).convert(picture)
    #expect(none.width == 1 && none.height == 1 && none.bytes.count == 4)
    let wide = PictureConverter(to: .bgra, size: VideoSize(width: .max, height: 1)).convert(picture)
    #expect(wide.width == 16_384)
  }

  /// The samples of a plane of 8 bits or 16, in another size.
  private func scaled(_ bytes: [UInt8], _ source: ComponentScaler.Source, _ width: Int, _ height: Int) -> [UInt16] {
    var bytes = bytes
    let stride = bytes.count / source.height
    return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return [] }
      let plane = unsafe PicturePlane(start: start, stride: stride, rowByteCount: stride, rowCount: source.height)
      var scaler = ComponentScaler(source, width: width, height: height)
      var samples: [UInt16] = []
      for row in 0..<height {
        scaler.read(row, of: plane)
        samples += scaler.samples
      }
      return samples
    }
  }

  /// Smaller pictures have the mean of the larger ones.
  @Test func smallerPicturesHaveTheMeanOfSamples() {
    let bytes: [UInt8] = [0, 10, 20, 30, 2, 12, 22, 33]
    let plane = ComponentScaler.Source(width: 4, height: 2)
    #expect(scaled(bytes, plane, 2, 1) == [6, 26])
    #expect(scaled(bytes, plane, 4, 2) == bytes.map { UInt16($0) })
    #expect(scaled(bytes, plane, 4, 1) == [1, 11, 21, 32])
    #expect(scaled(bytes, plane, 8, 2).prefix(8) == [0, 0, 10, 10, 20, 20, 30, 30])
    #expect(scaled(bytes, plane, 8, 1).prefix(4) == [1, 1, 11, 11])
    #expect(scaled(bytes, plane, 3, 1) == [1, 11, 26])
    // Every second sample, and two bytes a sample.
    #expect(scaled(bytes, ComponentScaler.Source(width: 2, height: 2, first: 1, step: 2), 1, 2) == [20, 23])
    #expect(scaled(bytes, ComponentScaler.Source(width: 2, height: 2, bytesPerSample: 2), 2, 1) == [2817, 8085])
  }

  /// Division by multiplication gives the quotient, for as many samples as a mean can be of.
  @Test(arguments: [1, 2, 3, 7, 63, 64, 65, 1023])
  func roundsMeans(side: Int) {
    for sample in [0, 1, 254, 255] as [UInt8] {
      var bytes = [UInt8](repeating: sample, count: side * side)
      let plane = ComponentScaler.Source(width: side, height: side)
      #expect(scaled(bytes, plane, 1, 1) == [UInt16(sample)])
      bytes[0] = 255 - sample
      let sum = bytes.reduce(0) { $0 + Int($1) }
      #expect(scaled(bytes, plane, 1, 1) == [UInt16((sum + side * side / 2) / (side * side))])
    }
    // The largest sums.
    let wide = ComponentScaler.Source(width: side, height: side, bytesPerSample: 2)
    #expect(scaled([UInt8](repeating: 255, count: 2 * side * side), wide, 1, 1) == [65_535])
  }

  /// The corners of the colour cube by the matrices of H.273.
  @Test(
    arguments: [(1, 0.2126, 0.0722), (6, 0.299, 0.114), (9, 0.2627, 0.0593), (7, 0.212, 0.087)]
      as [(UInt8, Double, Double)])
  func convertsColourByTheMatrix(_ number: UInt8, _ kr: Double, _ kb: Double) {
    for (depth, isFull) in [(8, false), (8, true), (10, false), (12, true)] {
      let matrix = ColourMatrix(depth: depth, isFullRange: isFull, matrix: number)
      let unit = Double(1 << (depth - 8))
      for corner in 0..<8 {
        let (r, g, b) = (Double(corner & 1), Double(corner >> 1 & 1), Double(corner >> 2))
        let y = kr * r + (1 - kr - kb) * g + kb * b
        let (pb, pr) = ((b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr)))
        let full = Double((1 << depth) - 1)
        let luma = isFull ? y * full : (16 + 219 * y) * unit
        let scale = isFull ? full : 224 * unit
        let neutral = Double(1 << (depth - 1))
        let (red, green, blue) = matrix.rgb(
          Int32(luma.rounded()), Int32((neutral + pb * scale).rounded()), Int32((neutral + pr * scale).rounded()))
        for (found, expected) in [(red, r), (green, g), (blue, b)] { #expect(abs(Double(found) - 255 * expected) <= 2) }
      }
    }
  }

  @Test func keepsGreenBlueAndRed() {
    let full = ColourMatrix(depth: 8, isFullRange: true, matrix: 0, isRGB: true)
    #expect(full.rgb(10, 20, 30) == (30, 10, 20))
    let limited = ColourMatrix(depth: 10, isFullRange: false, matrix: 0, isRGB: true)
    #expect(limited.rgb(64, 940, 0) == (0, 0, 255))
    // YCgCo of white and of green.
    let cocg = ColourMatrix(depth: 8, isFullRange: true, matrix: 8)
    #expect(cocg.rgb(255, 128, 128) == (255, 255, 255))
    let green = cocg.rgb(128, 255, 128)
    #expect(green.0 < 3 && green.1 > 252 && green.2 < 3)
  }

  /// Small video without a colour description is taken for BT.601 in limited range.
  @Test func bgraOfGreyEqualsItsLuma() async throws {
    let picture = try await firstPicture("formats/gray.h265", .h265)
    let luma = picture.copiedBytes()
    let bgra = PictureConverter(to: .bgra).convert(picture)
    #expect(bgra.format == .bgra && bgra.bytes.count == 4 * luma.count)
    let isFull = picture.colour.isFullRange == true
    for index in stride(from: 0, to: luma.count, by: 97) {
      let expected = isFull ? Double(luma[index]) : min(255, max(0, (Double(luma[index]) - 16) * 255 / 219))
      let pixel = bgra.bytes[4 * index..<4 * index + 4]
      #expect(pixel.prefix(3).allSatisfy { abs(Double($0) - expected) <= 1 } && pixel.last == 255)
    }
  }
}
