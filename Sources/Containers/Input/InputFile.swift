// SPDX-License-Identifier: MPL-2.0
package import GStreamer
package import H26x
package import StreamReport
package import SystemPackage

/// An input file, whose first bytes were read to determine its kind, so that an error can name it in one line.
package struct InputFile: Sendable {
  package let path: FilePath
  /// The name for messages: its path, or `standard input`.
  package let name: String
  package let isStandardInput: Bool
  /// The kind by the first bytes.
  package let kind: Kind
  /// The pipe, if it is one.
  let pipe: PipeInput?
  private let status: Stat
  /// The open file, if it has no name, or a name that is not UTF-8 and cannot be passed to GStreamer.
  private let unnameable: OpenFile?
  /// A copy of a pipe that cannot be read in its order.
  private let spool: OpenFile?

  /// Which streams of a container are read.
  package var selection = StreamSelection()

  /// Program numbers of an MPEG transport stream, as far as they are in its first bytes; of several, one is read.
  package let programs: [Int]

  /// The kinds of file, by their first bytes.
  package enum Kind: Equatable {
    /// Not read, or not recognised.
    case unknown
    /// NAL units after start codes, and no signature of another format. The codec is evident if the first parameter
    /// sets leave no doubt. Otherwise it is the likelier codec.
    case byteStream(FormatDescription.Codec, isEvident: Bool)
    case container(ContainerFormat)
    /// A format without H.264 or H.265, and its name.
    case other(String)
  }

  /// Whether the first bytes do not rule out a byte stream.
  package var isRaw: Bool { if case .container = kind { false } else { true } }
  /// The codec of a byte stream; `nil` for other files.
  package var codec: FormatDescription.Codec? { if case .byteStream(let codec, _) = kind { codec } else { nil } }
  /// Whether there is an index of random access points.
  package var hasIndex: Bool {
    switch kind {
    case .container(.matroska), .container(.mp4): size != nil
    default: false
    }
  }
  /// Whether the container has times of a clock that may begin and restart at any value.
  package var hasClock: Bool {
    switch kind {
    case .container(.mpegTS), .container(.mpegPS): true
    default: false
    }
  }
  /// Bytes; `nil` if there is no size, as for a pipe.
  package var size: Int? { pipe == nil && status.type == .regular ? Int(status.size) : nil }

  /// Whether more was written to the file since it was looked at.
  var hasGrown: Bool {
    guard let size, !isStandardInput, spool == nil, let now = try? Stat(path) else { return false }
    return now.isSameFile(as: status) && now.size > size
  }

  /// Reads the first bytes. The rest of a pipe must be read through `pipe`, because it can be read once only.
  ///
  /// - Parameters:
  ///   - path: of the file; `-` for standard input.
  ///   - spoolsMP4: whether MP4 from a pipe is copied to a temporary file, as far as it goes: its table of contents
  ///     may be at its end.
  ///   - name: for messages, if the user does not know the path.
  package init(_ path: FilePath, spoolsMP4: Bool = true, name shown: String? = nil) throws(Failure) {
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
    // Bytes that another program has read of standard input are gone.
    let hasBegun = isStandardInput && (try? file.descriptor.seek(offset: 0, from: .current)) ?? 0 > 0
    if status.type == .regular, !hasBegun {
      guard isStandardInput || status.size > 0 else { throw Failure("\(name): an empty file") }
      (self.status, pipe, unnameable, spool) = (status, nil, String(validating: path) == nil ? file : nil, nil)
      let short = Self.front(file, Self.frontSize)
      // A recording that begins in the middle of a large picture.
      front = Kind(short) == .unknown && status.size > Self.frontSize ? Self.front(file, Self.longFrontSize) : short
    } else {
      let input = PipeInput(file, upTo: Self.frontSize) { Kind($0) != .unknown }
      front = input.front
      guard !front.isEmpty else { throw Failure("\(name): empty; expected a stream") }
      if spoolsMP4, Kind(front) == .container(.mp4) {
        do throws(Errno) {
          let copy = try input.spooled()
          (self.status, pipe, unnameable, spool) = (try Stat(copy.descriptor), nil, copy, copy)
        } catch { throw Failure("\(name): cannot be kept in a temporary file: \(error)") }
      } else {
        (self.status, pipe, unnameable, spool) = (status, input, nil, nil)
      }
    }
    kind = Kind(front)
    programs = kind == .container(.mpegTS) ? TransportStream.programs(in: front) : []
  }

  /// Bytes that are enough to recognise most formats, and to find the first start code behind others.
  private static let (frontSize, longFrontSize) = (1 << 16, 1 << 20)

  private static func front(_ file: OpenFile, _ size: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let buffer = UnsafeMutableRawBufferPointer(buffer)
      count = (try? unsafe file.descriptor.read(fromAbsoluteOffset: 0, into: buffer)) ?? 0
    }
  }

  func isSameFile(as other: Stat) -> Bool { status.isSameFile(as: other) }

  /// The file with a selection of streams, which only containers have.
  package func selecting(_ selection: StreamSelection) throws(Failure) -> InputFile {
    guard selection.isEmpty || !isRaw else {
      throw Failure("\(name): streams can be selected only in containers, and this is not a container", .usage)
    }
    var file = self
    file.selection = selection
    return file
  }

  /// Opens the file, which must not be a pipe.
  package func open() throws(Failure) -> OpenFile {
    if let spool { return spool }
    return try isStandardInput ? OpenFile(.standardInput) : OpenFile(path, .readOnly)
  }

  /// Makes the element that reads the file.
  package func source() throws(PipelineError) -> PipelineElement {
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

  /// The message that the file has no H.264 or H.265 video, with its actual contents.
  package var noVideo: String {
    let expected = "expected H.264 or H.265 as a byte stream or in MP4, MOV, Matroska, MPEG-TS, FLV or AVI"
    return switch kind {
    case .other(let what): "\(name): \(what); \(expected)"
    case .container: "\(name): \(containerName) without H.264 or H.265 video"
    case .byteStream(let codec, isEvident: true):
      "\(name): parameter sets of \(codec.name), but no picture that can be read"
    case .byteStream:
      "\(name): start codes, but no H.264 or H.265 that can be read: no parameter sets (SPS, PPS) before the slices"
    case .unknown: "\(name): no H.264 or H.265 found; \(expected)"
    }
  }
}

extension InputFile.Kind {
  /// Recognises a format by its first bytes, whatever the file's name is.
  package init(_ bytes: [UInt8]) {
    if let format = ContainerFormat(bytes.span) {
      self = .container(format)
    } else if let name = OtherFormat.name(of: bytes.span) {
      self = .other("\(name)")
    } else if !Self.beginsWithStartCode(bytes), TransportStream.Packets(in: bytes) != nil {
      // Bytes in front of the packets belong to another format.
      self = .container(.mpegTS)
    } else if let codec = CodecGuess.evidentCodec(of: bytes.span) {
      self = .byteStream(codec, isEvident: true)
    } else if let codec = CodecGuess.codec(of: bytes.span) {
      self = .byteStream(codec, isEvident: false)
    } else if bytes.allSatisfy({ $0 == 0 }) {
      self = .other("nothing but zeros at its start")
    } else if let name = TextFormat.name(of: bytes) {
      self = .other(name)
    } else {
      self = .unknown
    }
  }

  /// Whether the bytes begin as a byte stream does: with zeros, at least two, and a one.
  private static func beginsWithStartCode(_ bytes: [UInt8]) -> Bool {
    guard let end = bytes.firstIndex(where: { $0 != 0 }) else { return false }
    return end >= 2 && bytes[end] == 1
  }
}

extension ContainerFormat {
  /// The name for users, in the middle of a sentence.
  package var name: String {
    switch self {
    case .mp4: "MP4"
    case .matroska: "Matroska"
    case .flv: "FLV"
    case .avi: "AVI"
    case .mpegTS: "MPEG-TS"
    case .mpegPS: "an MPEG program stream"
    }
  }
}
