// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc
import H26x
import StreamReport

/// An input file, whose first bytes were read to know its kind, so that an error can name it in one line.
struct InputFile: Sendable {
  /// The name on the command line, or `standard input`.
  let name: String
  /// The kind by the first bytes.
  let kind: Kind
  /// The pipe, if it is one whose first bytes were read.
  let pipe: PipeInput?
  private let status: FileStatus?
  /// The open file, where its name cannot be passed to GStreamer, because it is not UTF-8.
  private let unnameable: Descriptor?

  /// Program numbers of an MPEG transport stream, as far as they are in its first bytes; of several, one is read.
  let programs: [Int]

  /// The kinds of file, by their first bytes.
  enum Kind: Equatable {
    /// Not read, or not recognised.
    case unknown
    /// There is a start code within the first 64 KiB, and no signature of another format. The codec, where the first
    /// parameter sets leave no doubt.
    case byteStream(FormatDescription.Codec?)
    /// A container, and its name.
    case container(String)
    /// A format without H.264 or H.265, and its name.
    case other(String)
  }

  /// Whether the first bytes do not rule out a byte stream.
  var isRaw: Bool { if case .container = kind { false } else { true } }
  let isStandardInput: Bool
  /// Bytes, `nil` for what has no size, such as a pipe.
  var size: Int? { status.flatMap { $0.isRegular ? $0.size : nil } }

  /// - Parameter looksIntoPipes: whether to read the first bytes of a pipe too. The rest must then be read through
  ///   `pipe`, because a named pipe can be opened once only.
  init(_ name: String, looksIntoPipes: Bool = true) throws(Failure) {
    guard !name.isEmpty else { throw Failure("the input has no name", .usage) }
    guard name != "-" else {
      self.name = "standard input"
      (isStandardInput, status, unnameable) = (true, FileStatus(descriptor: STDIN_FILENO), nil)
      guard let status else { throw Failure("standard input: closed; expected a stream") }
      guard !status.isFolder else { throw Failure("standard input: a folder; expected a stream") }
      guard isatty(STDIN_FILENO) == 0 else { throw Failure("standard input: a terminal; expected a stream") }
      if status.isRegular {
        pipe = nil
        (kind, programs) = Self.look(at: Self.firstBytes(of: STDIN_FILENO, from: lseek(STDIN_FILENO, 0, SEEK_CUR)))
      } else {
        let pipe = looksIntoPipes ? PipeInput(STDIN_FILENO) : nil
        if let pipe, pipe.front.isEmpty { throw Failure("standard input: empty; expected a stream") }
        (kind, programs) = pipe.map { Self.look(at: $0.front) } ?? (.unknown, [])
        self.pipe = pipe
      }
      return
    }
    (self.name, isStandardInput) = (name, false)
    guard let status = FileStatus(path: name) else {
      if name.hasPrefix("file:") { throw Failure("\(name): a URI; expected a path") }
      throw Failure("\(name): \(errno == ENOENT ? "no such file" : systemError())")
    }
    guard !status.isFolder else { throw Failure("\(name): a folder; expected a file") }
    guard unsafe access(FileName.path(name), R_OK) == 0 else {
      throw Failure("\(name): cannot be read: \(systemError())")
    }
    self.status = status
    let file = unsafe open(FileName.path(name), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure("\(name): cannot be read: \(systemError())") }
    guard status.isRegular else {
      let pipe = looksIntoPipes ? PipeInput(file) : nil
      if pipe == nil { close(file) }
      if let pipe, pipe.front.isEmpty { throw Failure("\(name): empty; expected a stream") }
      (kind, programs) = pipe.map { Self.look(at: $0.front) } ?? (.unknown, [])
      (self.pipe, unnameable) = (pipe, nil)
      return
    }
    let descriptor = Descriptor(file)
    guard status.size > 0 else { throw Failure("\(name): an empty file") }
    (pipe, unnameable) = (nil, FileName.isText(name) ? nil : descriptor)
    (kind, programs) = Self.look(at: Self.firstBytes(of: file))
  }

  func isSameFile(as other: FileStatus) -> Bool { status?.isSameFile(as: other) ?? false }

  /// Makes the element that reads the file.
  func source() throws(PipelineError) -> PipelineElement {
    if let pipe {
      guard let descriptor = pipe.replayed() else { throw .notLoaded(systemError()) }
      return try PipelineElement("fdsrc", ["fd": .int(descriptor)])
    }
    guard isStandardInput else {
      return try PipelineElement("filesrc", ["location": .string(unnameable?.path ?? name)])
    }
    // For a file, fdsrc claims to be seekable but has no pull mode: flvdemux then seeks in vain, for ever.
    let path = "/proc/self/fd/\(STDIN_FILENO)"
    if lseek(STDIN_FILENO, 0, SEEK_CUR) == 0, unsafe access(path, R_OK) == 0 {
      return try PipelineElement("filesrc", ["location": .string(path)])
    }
    guard let descriptor = PipeInput(STDIN_FILENO).replayed() else { throw .notLoaded(systemError()) }
    return try PipelineElement("fdsrc", ["fd": .int(descriptor)])
  }

  /// The message that the file has no H.264 or H.265 video, with what it is instead.
  var noVideo: String {
    let expected = "expected H.264 or H.265 as a byte stream or in MP4, MOV, Matroska, MPEG-TS, FLV or AVI"
    return switch kind {
    case .other(let what): "\(name): \(what); \(expected)"
    case .container(let what): "\(name): \(what) without H.264 or H.265 video"
    case .byteStream(let codec?): "\(name): parameter sets of \(codec.name), but no picture that can be read"
    case .byteStream(nil):
      "\(name): start codes, but no H.264 or H.265 that can be read: no parameter sets (SPS, PPS) before the slices"
    case .unknown: "\(name): no H.264 or H.265 found; \(expected)"
    }
  }

  private static func look(at bytes: [UInt8]) -> (Kind, programs: [Int]) {
    let kind = Kind(bytes)
    return (kind, kind == .container("MPEG-TS") ? TransportStream.programs(in: bytes) : [])
  }

  private static func firstBytes(of file: Int32, from offset: Int = 0) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
      count = unsafe max(pread(file, buffer.baseAddress, buffer.count, max(offset, 0)), 0)
    }
  }
}

extension InputFile.Kind {
  /// Recognises a format by its first bytes, whatever the file's name is.
  init(_ bytes: [UInt8]) {
    if let format = FileFormat(bytes.span) {
      self = .container(Self.name(format))
    } else if let known = Self.known.first(where: { bytes.starts(with: $0.start) }) {
      self = .other(known.name)
    } else if Self.hasStartCode(bytes) {
      self = .byteStream(CodecGuess.evidentCodec(of: bytes.span))
    } else if bytes.allSatisfy({ $0 == 0 }) {
      self = .other("nothing but zeros at its start")
    } else if Self.isText(bytes) {
      self = .other("text")
    } else {
      self = .unknown
    }
  }

  private static func name(_ format: FileFormat) -> String {
    switch format {
    case .mp4: "MP4"
    case .matroska: "Matroska"
    case .flv: "FLV"
    case .avi: "AVI"
    case .mpegTS: "MPEG-TS"
    case .mpegPS: "an MPEG program stream"
    }
  }

  /// Signatures of formats without H.264 or H.265, for the error message.
  private static let known: [(start: [UInt8], name: String)] = [
    ([0x89, 0x50, 0x4E, 0x47], "a PNG picture"), ([0xFF, 0xD8, 0xFF], "a JPEG picture"),
    (Array("GIF8".utf8), "a GIF picture"), (Array("YUV4MPEG".utf8), "YUV4MPEG, raw video"),
    (Array("%PDF".utf8), "a PDF document"), ([0x50, 0x4B, 3, 4], "a ZIP archive"),
    ([0x1F, 0x8B], "a gzip archive"), (Array("OggS".utf8), "Ogg"), (Array("RIFF".utf8), "RIFF, such as WAV"),
    ([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], "ASF, such as WMV"),
    (Array("fLaC".utf8), "FLAC"), (Array("ID3".utf8), "MP3"), (Array("\u{7F}ELF".utf8), "a program"),
    (Array("nut/multimedia".utf8), "NUT"), (Array("#EXTM3U".utf8), "an HLS playlist, which names segments to read"),
    ([0, 0, 1, 0xB3], "MPEG-1 or MPEG-2 video"), (Array("DKIF".utf8), "IVF (VP8, VP9 or AV1)"),
  ]

  /// Whether there are no control characters but white space, and at least nine of ten bytes are ASCII.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 >= 32 && $0 != 127 || (9...13).contains($0) }
      && bytes.count(where: { $0 < 128 }) >= bytes.count / 10 * 9
  }

  private static func hasStartCode(_ bytes: [UInt8]) -> Bool {
    var zeros = 0
    for byte in bytes {
      if byte == 1, zeros >= 2 { return true }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return false
  }
}
