// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink
import H26x

/// The application's commands to a codec process, one after the other, or several in a message. The process answers a
/// message in which it decodes, drains, opens or downloads. The answer consists of `CodecReply` records, and the last
/// is `finished`. If one of these commands fails, the rest of the message is not carried out.
package enum CodecCommand {
  /// Open a decoder. Two descriptors come with it: the socket on which picture slots are granted, and the memory that
  /// access units lie in, whose first `settings.extradata.count` bytes are the extradata.
  case open(CodecSettings, SessionConfiguration.OutputLayout, memoryByteCount: Int)
  /// Decode the access unit at `offset` in the memory.
  case decode(index: UInt64, offset: Int, byteCount: Int)
  /// Later access units are in another memory, whose descriptor comes with the message. Has no answer.
  case replaceMemory(byteCount: Int)
  /// Output everything inside.
  case drain
  /// Discard everything inside.
  case flush
  /// Pictures to skip, from the next access unit on.
  case skip(CodecSettings.Skip)
  /// Copy a picture that stays in the device's memory: a picture without an index comes out.
  case download(surface: Int)
  /// The application needs these surfaces no more. Has no answer.
  case releaseSurfaces([Int])
  /// Whether a device's pictures stay in its memory, from the next one on. Has no answer.
  case keepSurfaces(Bool)
  /// The samples of this access unit's picture are needed, wherever it stays. Has no answer.
  case requireSamples(index: UInt64)

  /// Bytes of extradata or of an access unit, at most: the capacity of a libavcodec packet.
  package static let inputLimit = 1 << 30
  /// Bytes of the memory, at most.
  private static let memoryLimit = 2 * inputLimit

  private enum Kind: UInt8 {
    case open = 1
    case decode, replaceMemory, drain, flush, skip, download, releaseSurfaces, keepSurfaces, requireSamples
  }

  /// Whether the message that it comes in has an answer.
  package var isAnswered: Bool {
    switch self {
    case .open, .decode, .drain, .download: true
    case .replaceMemory, .flush, .skip, .releaseSurfaces, .keepSurfaces, .requireSamples: false
    }
  }

  /// Reads all commands of a message.
  ///
  /// - Throws: `LinkError.invalid`.
  package static func all(in message: borrowing LinkMessage) throws(LinkError) -> [CodecCommand] {
    var reader = MessageReader(message.bytes)
    var commands: [CodecCommand] = []
    while !reader.isAtEnd { commands.append(try CodecCommand(reading: &reader)) }
    return commands
  }

  private init(reading reader: inout MessageReader) throws(LinkError) {
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid }
    switch kind {
    case .open: self = try Self.open(reading: &reader)
    case .decode:
      self = .decode(
        index: try reader.read(), offset: try reader.readCount(limit: Self.memoryLimit),
        byteCount: try reader.readCount(limit: Self.inputLimit))
    case .replaceMemory: self = .replaceMemory(byteCount: try reader.readCount(limit: Self.memoryLimit))
    case .drain: self = .drain
    case .flush: self = .flush
    case .skip: self = .skip(try reader.readSkip())
    case .download: self = .download(surface: try reader.readCount(limit: CodecReply.surfaceLimit - 1))
    case .releaseSurfaces:
      let count = try reader.readCount(limit: CodecReply.surfaceLimit)
      var numbers: [Int] = []
      for _ in 0..<count { numbers.append(try reader.readCount(limit: CodecReply.surfaceLimit - 1)) }
      self = .releaseSurfaces(numbers)
    case .keepSurfaces: self = .keepSurfaces(try reader.readFlag())
    case .requireSamples: self = .requireSamples(index: try reader.read())
    }
  }

  private static func open(reading reader: inout MessageReader) throws(LinkError) -> CodecCommand {
    let flags = OpenFlags(rawValue: try reader.read())
    var settings = CodecSettings(codec: flags.contains(.isH265) ? .h265 : .h264)
    settings.useFrameThreads = flags.contains(.frameThreads)
    settings.useSliceThreads = flags.contains(.sliceThreads)
    settings.lowDelay = flags.contains(.lowDelay)
    settings.expectsDeepestReordering = flags.contains(.deepestReordering)
    settings.usesHardware = flags.contains(.hardware)
    settings.skip = try reader.readSkip()
    settings.threadCount = try reader.readCount(limit: SessionConfiguration.mostThreads)
    settings.reorderDepth = try reader.readCount(limit: FormatDescription.deepestReordering)
    settings.maximumPixels = try reader.readCount(limit: Int(Int32.max))
    settings.surfaceCount = try reader.readCount(limit: CodecReply.surfaceLimit / 2)
    // The bytes lie in the memory.
    settings.extradata = Array(repeating: 0, count: try reader.readCount(limit: 1 << 24))
    let memoryByteCount = try reader.readCount(limit: memoryLimit)
    return .open(settings, flags.contains(.semiPlanar) ? .semiPlanar : .native, memoryByteCount: memoryByteCount)
  }

  /// Appends the command to a message.
  package func write(to writer: inout MessageWriter) {
    switch self {
    case .open(let settings, let layout, let memoryByteCount):
      writer.append(Kind.open.rawValue)
      var flags: OpenFlags = []
      if settings.codec == .h265 { flags.insert(.isH265) }
      if settings.useFrameThreads { flags.insert(.frameThreads) }
      if settings.useSliceThreads { flags.insert(.sliceThreads) }
      if settings.lowDelay { flags.insert(.lowDelay) }
      if settings.expectsDeepestReordering { flags.insert(.deepestReordering) }
      if settings.usesHardware { flags.insert(.hardware) }
      if layout == .semiPlanar { flags.insert(.semiPlanar) }
      writer.append(flags.rawValue)
      writer.append(settings.skip)
      writer.append(count: settings.effectiveThreadCount)
      writer.append(count: settings.reorderDepth)
      writer.append(count: min(settings.maximumPixels, Int(Int32.max)))
      writer.append(count: settings.surfaceCount)
      writer.append(count: settings.extradata.count)
      writer.append(count: memoryByteCount)
    case .decode(let index, let offset, let byteCount):
      writer.append(Kind.decode.rawValue)
      writer.append(index)
      writer.append(count: offset)
      writer.append(count: byteCount)
    case .replaceMemory(let byteCount):
      writer.append(Kind.replaceMemory.rawValue)
      writer.append(count: byteCount)
    case .drain: writer.append(Kind.drain.rawValue)
    case .flush: writer.append(Kind.flush.rawValue)
    case .skip(let skip):
      writer.append(Kind.skip.rawValue)
      writer.append(skip)
    case .download(let surface):
      writer.append(Kind.download.rawValue)
      writer.append(count: surface)
    case .releaseSurfaces(let numbers):
      writer.append(Kind.releaseSurfaces.rawValue)
      writer.append(count: numbers.count)
      for number in numbers { writer.append(count: number) }
    case .keepSurfaces(let keeps):
      writer.append(Kind.keepSurfaces.rawValue)
      writer.append(keeps)
    case .requireSamples(let index):
      writer.append(Kind.requireSamples.rawValue)
      writer.append(index)
    }
  }

  private struct OpenFlags: OptionSet {
    let rawValue: UInt8
    static let isH265 = OpenFlags(rawValue: 1 << 0)
    static let frameThreads = OpenFlags(rawValue: 1 << 1)
    static let sliceThreads = OpenFlags(rawValue: 1 << 2)
    static let lowDelay = OpenFlags(rawValue: 1 << 3)
    static let deepestReordering = OpenFlags(rawValue: 1 << 4)
    static let semiPlanar = OpenFlags(rawValue: 1 << 5)
    static let hardware = OpenFlags(rawValue: 1 << 6)
  }
}

/// Commands that are collected for the next message to a codec's process.
struct CommandMessage {
  private(set) var writer = MessageWriter()
  private(set) var descriptors: [Int32] = []
  /// The number of commands that decode.
  private(set) var accessUnitCount = 0
  /// Whether the process answers the message.
  private(set) var isAnswered = false

  /// Appends a command, and the descriptors that come with it.
  mutating func append(_ command: CodecCommand, descriptors: [Int32] = []) {
    command.write(to: &writer)
    self.descriptors += descriptors
    if case .decode = command { accessUnitCount += 1 }
    if command.isAnswered { isAnswered = true }
  }

  mutating func removeAll() {
    writer.removeAll()
    descriptors.removeAll()
    (accessUnitCount, isAnswered) = (0, false)
  }
}
