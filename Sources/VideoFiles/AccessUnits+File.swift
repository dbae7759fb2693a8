// SPDX-License-Identifier: MPL-2.0
public import H26x
import StreamReport
public import VideoDecoding

extension AccessUnits where Source == FilePieces<LocalFile> {
  /// The access units of an Annex B byte stream in a file.
  ///
  /// ```swift
  /// for try await picture in DecodedPictures(of: try AccessUnits(fileAt: "clip.h264")) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - path: the file's path. The file is read in pieces, and its size does not matter.
  ///   - codec: the stream's codec; nil to find out by its first 64 KiB.
  ///   - times: the source of the access units' times.
  /// - Throws: ``VideoFileError``; `.unknownCodec` if the codec is neither given nor evident.
  public init(
    fileAt path: String, codec: FormatDescription.Codec? = nil, times: StreamTimes = .pictureOrder()
  ) throws(VideoFileError) {
    let file = try LocalFile(at: path)
    guard let codec = codec ?? CodecGuess.codec(of: file.read(at: 0, count: 64 << 10).span) else {
      throw .unknownCodec
    }
    self.init(of: FilePieces(file), codec: codec, times: times)
  }
}
