// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import H26x

// The values that commands and replies are made of. For any value out of range, reading throws `LinkError.invalid`.

extension MessageWriter {
  mutating func append(_ error: AVError?) { append(error?.rawValue ?? 0) }

  mutating func append(_ skip: CodecSettings.Skip) {
    let number: UInt8 =
      switch skip {
      case .none: 0
      case .nonReference: 1
      case .bidirectional: 2
      case .nonKey: 3
      }
    append(number)
  }

  mutating func append(_ status: CodecStatus) {
    append(count: status.reorderDepth)
    append(count: status.threadDelay)
  }

  mutating func append(_ crop: PictureCrop) {
    for side in [crop.left, crop.right, crop.top, crop.bottom] { append(Int32(clamping: side)) }
  }

  mutating func append(_ picture: PictureDescription) {
    append(picture.index ?? .max)
    append(count: picture.width)
    append(count: picture.height)
    append(picture.crop)
    append(picture.isCorrupt)
    append(picture.errors.rawValue)
    append(picture.isInterlaced)
    append(picture.isTopFieldFirst)
    append(picture.repeatsFirstField)
    append(optional: picture.colour.isFullRange.map { $0 ? 1 : 0 })
    append(optional: picture.colour.primaries)
    append(optional: picture.colour.transfer)
    append(optional: picture.colour.matrix)
    append(optional: picture.colour.chromaSampleLocation)
    append(count: picture.sampleAspectRatio?.width ?? 0)
    append(count: picture.sampleAspectRatio?.height ?? 0)
  }

  private mutating func append(optional value: UInt8?) { append(value.map { Int16($0) } ?? -1) }
}

extension MessageReader {
  /// An error of libavcodec's: an error that ends a process cannot be reported by the process itself.
  @_lifetime(self: copy self)
  mutating func readError() throws(LinkError) -> AVError? {
    let code = try read(Int32.self)
    guard code <= 0 else { throw .invalid }
    let error = AVError(rawValue: code)
    guard !error.isOfProcess else { throw .invalid }
    return code == 0 ? nil : error
  }

  @_lifetime(self: copy self)
  mutating func readFrameErrors() throws(LinkError) -> FrameErrors { FrameErrors(rawValue: try read()) }

  @_lifetime(self: copy self)
  mutating func readSkip() throws(LinkError) -> CodecSettings.Skip {
    switch try read(UInt8.self) {
    case 0: .none
    case 1: .nonReference
    case 2: .bidirectional
    case 3: .nonKey
    default: throw .invalid
    }
  }

  @_lifetime(self: copy self)
  mutating func readStatus() throws(LinkError) -> CodecStatus {
    CodecStatus(
      reorderDepth: try readCount(limit: FormatDescription.deepestReordering),
      threadDelay: try readCount(limit: SessionConfiguration.mostThreads))
  }

  @_lifetime(self: copy self)
  mutating func readCrop() throws(LinkError) -> PictureCrop {
    PictureCrop(
      left: Int(try read(Int32.self)), right: Int(try read(Int32.self)), top: Int(try read(Int32.self)),
      bottom: Int(try read(Int32.self)))
  }

  @_lifetime(self: copy self)
  mutating func readPictureDescription() throws(LinkError) -> PictureDescription {
    let index = try read(UInt64.self)
    var picture = PictureDescription(
      index: index == .max ? nil : index, width: try readCount(limit: Int(Int32.max)),
      height: try readCount(limit: Int(Int32.max)))
    picture.crop = try readCrop()
    picture.isCorrupt = try readFlag()
    picture.errors = try readFrameErrors()
    picture.isInterlaced = try readFlag()
    picture.isTopFieldFirst = try readFlag()
    picture.repeatsFirstField = try readFlag()
    picture.colour = PictureColour(
      isFullRange: try readOptional().map { $0 != 0 }, primaries: try readOptional(), transfer: try readOptional(),
      matrix: try readOptional(), chromaSampleLocation: try readOptional())
    let (width, height) = (try readCount(limit: Int(Int32.max)), try readCount(limit: Int(Int32.max)))
    picture.sampleAspectRatio = width > 0 && height > 0 ? SampleAspectRatio(width: width, height: height) : nil
    return picture
  }

  @_lifetime(self: copy self)
  private mutating func readOptional() throws(LinkError) -> UInt8? {
    let value = try read(Int16.self)
    guard value >= 0 else { return nil }
    guard let value = UInt8(exactly: value) else { throw .invalid }
    return value
  }
}
