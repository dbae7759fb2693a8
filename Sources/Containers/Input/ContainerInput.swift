// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import H26x
import StreamReport

/// A container that libavformat reads: Matroska, MPEG-TS and its like, FLV, AVI.
struct ContainerInput {
  let input: InputFile
  let context: InputContext
  let status: ReadingStatus
  let bytes: InputBytes

  /// The purpose of reading a container.
  enum Purpose {
    /// Packets as the container has them: neither cut nor completed.
    case packets
    /// Descriptions of the streams: the beginning is read, and cut by parsers.
    case description
    /// The same for streams whose packets begin late.
    case longDescription
  }

  /// Reads the descriptions of a container's streams.
  static func described(_ file: ContainerFile) throws(Failure) -> ContainerInput {
    // Program streams and FLV announce their streams with the packets.
    let announces = [.mp4, .matroska, .mpegTS, .avi].contains { file.input.kind == .container($0) }
    let short = try ContainerInput(file, announces ? .description : .longDescription)
    let lacksSound = short.context.streams.contains { stream in
      stream.kind == .audio && stream.sampleRate == 0 && !SoundHeader.codecs.contains(stream.codecName)
    }
    guard announces, lacksSound else { return short }
    short.bytes.letGo()
    return try ContainerInput(file, .longDescription)
  }

  /// - Throws: a `Failure` if libavformat is missing, or the file cannot be read or is not the expected format.
  init(_ file: ContainerFile, _ purpose: Purpose) throws(Failure) {
    let (input, status) = (file.input, file.status)
    (self.input, self.status) = (input, status)
    guard FormatLibrary.isAvailable else {
      throw Failure("\(input.name): this container needs libavformat, which is not installed")
    }
    guard case .container(let format) = input.kind else { throw Failure(input.noVideo) }
    var settings = InputContext.Settings()
    // Excludes all other demuxers, such as those for playlists.
    (settings.demuxer, settings.formats) = (format.demuxer, format.demuxer)
    settings.parses = purpose != .packets
    settings.probesStreams = purpose != .packets
    // This program applies the edit lists itself.
    settings.options[key: "ignore_editlist"] = "1"
    // In microseconds and bytes. No decoder signals to libavformat that it has read enough: it reads as far as it may.
    switch purpose {
    case .packets: break
    case .description:
      settings.options[key: "analyzeduration"] = "2000000"
      settings.options[key: "probesize"] = "4194304"
    case .longDescription:
      // Packets that never come must not be waited for.
      settings.options[key: "analyzeduration"] = input.size == nil ? "10000000" : "600000000"
      settings.options[key: "probesize"] = input.size == nil ? "33554432" : "268435456"
    }
    bytes = file.bytes()
    do throws(AVError) {
      context = try InputContext(bytes, settings, isInterrupted: { status.isStopping })
    } catch {
      // libavformat also reports this for Matroska that ends in its header.
      throw Self.failure(error == .inputOutput && !bytes.hasFailed ? .endOfFile : error, input)
    }
  }

  /// The message for an error of libavformat.
  static func failure(_ error: AVError, _ input: InputFile) -> Failure {
    switch error {
    case .invalidData, .invalidArgument, .endOfFile:
      Failure("\(input.name): \(input.containerName) that is cut off or damaged, or without H.264 or H.265 video")
    default: Failure("\(input.name): \(error)")
    }
  }

  /// The codec of a stream; `nil` for neither H.264 nor H.265.
  static func codec(_ stream: StreamDescription) -> FormatDescription.Codec? {
    guard stream.kind == .video, !stream.disposition.contains(.attachedPicture) else { return nil }
    return switch stream.codecName {
    case "h264": .h264
    case "hevc": .h265
    default: nil
    }
  }

  /// The stream to read of those that are known: the first that is chosen, or the first of the first program that has
  /// one.
  var video: StreamDescription? {
    let selection = input.selection
    func first(_ numbers: [Int]) -> StreamDescription? {
      numbers.lazy.compactMap { self.context.stream($0) }.first { Self.codec($0) != nil }
    }
    if let chosen = selection.streams { return first(chosen.sorted()) }
    let programs = context.programs.filter { $0.number == selection.program ?? $0.number }
    if let found = programs.lazy.compactMap({ first($0.streams) }).first { return found }
    return selection.program == nil ? first(Array(0..<context.streamCount)) : nil
  }
}

extension ContainerFormat {
  /// libavformat's demuxer.
  fileprivate var demuxer: String {
    switch self {
    case .mp4: "mov"
    case .matroska: "matroska"
    case .mpegTS: "mpegts"
    case .flv: "flv"
    case .avi: "avi"
    case .mpegPS: "mpeg"
    }
  }
}

extension InputFile {
  /// The container's name in messages.
  var containerName: String { if case .container(let format) = kind { format.name } else { "a stream" } }

  /// The message that a container announces video and has none.
  func noPicture(_ codec: FormatDescription.Codec) -> Failure {
    Failure("\(name): \(containerName) with \(codec.name) video, but no picture in it that can be read")
  }
}
