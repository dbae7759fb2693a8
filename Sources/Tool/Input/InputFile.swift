// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import StreamReport
import SystemPackage

/// An input file, whose first bytes were read to determine its kind, so that an error can name it in one line.
struct InputFile: Sendable {
  let path: FilePath
  /// The name for messages: its path, or `standard input`.
  let name: String
  let isStandardInput: Bool
  /// The kind by the first bytes.
  let kind: Kind
  /// The pipe, if it is one.
  let pipe: PipeInput?
  private let status: Stat
  /// The open file, where its name cannot be passed to GStreamer, because it is not UTF-8, or where it has none.
  private let unnameable: OpenFile?
  /// A copy of a pipe that cannot be read in its order.
  private let spool: OpenFile?

  /// Which streams of a container are read.
  var selection = StreamSelection()

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
  /// Whether there is an index of random access points.
  var hasIndex: Bool {
    switch kind {
    case .container("Matroska"), .container("MP4"): size != nil
    default: false
    }
  }
  /// Whether the container has times of a clock that may begin, and begin anew, anywhere.
  var hasClock: Bool {
    switch kind {
    case .container("MPEG-TS"), .container("an MPEG program stream"): true
    default: false
    }
  }
  /// Bytes, `nil` for what has no size, such as a pipe.
  var size: Int? { pipe == nil && status.type == .regular ? Int(status.size) : nil }

  /// Whether more was written to the file since it was looked at.
  var hasGrown: Bool {
    guard let size, !isStandardInput, spool == nil, let now = try? Stat(path) else { return false }
    return now.isSameFile(as: status) && now.size > size
  }

  /// Reads the first bytes. The rest of a pipe must be read through `pipe`, because it can be read once only.
  ///
  /// - Parameters:
  ///   - path: of the file; `-` for standard input.
  ///   - spoolsMP4: whether MP4 from a pipe is copied to a temporary file, as far as it goes: its table of contents may
  ///     be at its end.
  ///   - name: for messages, where the path is none that the user knows.
  init(_ path: FilePath, spoolsMP4: Bool = true, name shown: String? = nil) throws(Failure) {
    guard !path.isEmpty else { throw Failure("the input has no name", .usage) }
    (self.path, isStandardInput) = (path, path == "-")
    name = shown ?? (isStandardInput ? "standard input" : path.string)
    let expected = isStandardInput ? "expected a stream" : "expected a file"
    let status: Stat
    do throws(Errno) { status = try isStandardInput ? Stat(.standardInput) : Stat(path) } catch {
      if isStandardInput { throw Failure("\(name): closed; \(expected)") }
      if name.hasPrefix("file:") { throw Failure("\(name): a URI; expected a path") }
      throw Failure("\(name): \(error == .noSuchFileOrDirectory ? "no such file" : "\(error)")")
    }
    guard status.type != .directory else { throw Failure("\(name): a folder; \(expected)") }
    guard !isStandardInput || !FileDescriptor.standardInput.isTerminal else {
      throw Failure("\(name): a terminal; \(expected)")
    }
    let file = try isStandardInput ? OpenFile(.standardInput) : OpenFile(path, .readOnly)
    let front: [UInt8]
    // What another program has read of standard input is not there any more.
    let hasBegun = isStandardInput && (try? file.descriptor.seek(offset: 0, from: .current)) ?? 0 > 0
    if status.type == .regular, !hasBegun {
      guard isStandardInput || status.size > 0 else { throw Failure("\(name): an empty file") }
      (self.status, pipe, unnameable, spool) = (status, nil, String(validating: path) == nil ? file : nil, nil)
      front = unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
        let buffer = UnsafeMutableRawBufferPointer(buffer)
        count = (try? unsafe file.descriptor.read(fromAbsoluteOffset: 0, into: buffer)) ?? 0
      }
    } else {
      let input = PipeInput(file)
      front = input.front
      guard !front.isEmpty else { throw Failure("\(name): empty; expected a stream") }
      if spoolsMP4, Kind(front) == .container("MP4") {
        do throws(Errno) {
          let copy = try input.spooled()
          (self.status, pipe, unnameable, spool) = (try Stat(copy.descriptor), nil, copy, copy)
        } catch { throw Failure("\(name): cannot be kept in a temporary file: \(error)") }
      } else {
        (self.status, pipe, unnameable, spool) = (status, input, nil, nil)
      }
    }
    kind = Kind(front)
    programs = kind == .container("MPEG-TS") ? TransportStream.programs(in: front) : []
  }

  func isSameFile(as other: Stat) -> Bool { status.isSameFile(as: other) }

  /// The file with a selection of streams, which only containers have.
  func selecting(_ selection: StreamSelection) throws(Failure) -> InputFile {
    guard selection.isEmpty || !isRaw else {
      throw Failure("\(name): streams can be chosen in containers only, and this is none", .usage)
    }
    var file = self
    file.selection = selection
    return file
  }

  /// Opens the file, which is no pipe.
  func open() throws(Failure) -> OpenFile {
    if let spool { return spool }
    return try isStandardInput ? OpenFile(.standardInput) : OpenFile(path, .readOnly)
  }

  /// Makes the element that reads the file.
  func source() throws(PipelineError) -> PipelineElement {
    if let pipe { return try Self.source(of: pipe) }
    guard isStandardInput, spool == nil else {
      return try PipelineElement("filesrc", ["location": .string(unnameable?.descriptor.path ?? path.string)])
    }
    // For a file, fdsrc claims to be seekable but has no pull mode: flvdemux then seeks in vain, for ever.
    let path = FileDescriptor.standardInput.path
    if (try? FileDescriptor.standardInput.seek(offset: 0, from: .current)) == 0, FilePath(path).isReadable {
      return try PipelineElement("filesrc", ["location": .string(path)])
    }
    return try Self.source(of: PipeInput(OpenFile(.standardInput)))
  }

  private static func source(of pipe: PipeInput) throws(PipelineError) -> PipelineElement {
    let descriptor: FileDescriptor
    do throws(Errno) { descriptor = try pipe.replayed() } catch { throw .notLoaded("\(error)") }
    return try PipelineElement("fdsrc", ["fd": .int(descriptor.rawValue)])
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
}

extension InputFile.Kind {
  /// Recognises a format by its first bytes, whatever the file's name is.
  init(_ bytes: [UInt8]) {
    if let format = FileFormat(bytes.span) {
      self = .container(Self.name(format))
    } else if let known = Self.known.first(where: { bytes.starts(with: $0.start) }) {
      self = .other(known.name)
    } else if !Self.beginsWithStartCode(bytes), TransportStream.Packets(in: bytes) != nil {
      // What precedes the packets belongs to something else.
      self = .container("MPEG-TS")
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

  /// Whether the bytes begin as a byte stream does: with zeros, at least two, and a one.
  private static func beginsWithStartCode(_ bytes: [UInt8]) -> Bool {
    guard let end = bytes.firstIndex(where: { $0 != 0 }) else { return false }
    return end >= 2 && bytes[end] == 1
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
