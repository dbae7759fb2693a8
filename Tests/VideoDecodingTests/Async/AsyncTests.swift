// SPDX-License-Identifier: MPL-2.0
import H26x
import Synchronization
import Testing
import VideoDecoding

/// An asynchronous sequence of values that counts requests and, if asked to, throws after the last value.
private struct Source<Element: Sendable>: AsyncSequence, AsyncIteratorProtocol, Sendable {
  final class Count: Sendable { let value = Atomic<Int>(0) }
  struct Broken: Error {}
  typealias Failure = Broken

  var elements: ArraySlice<Element>
  var breaks = false
  let count = Count()

  init(_ elements: [Element], breaks: Bool = false) { (self.elements, self.breaks) = (elements[...], breaks) }

  func makeAsyncIterator() -> Self { self }
  mutating func next(isolation actor: isolated (any Actor)?) async throws(Broken) -> Element? {
    count.value.add(1, ordering: .relaxed)
    if let element = elements.popFirst() { return element }
    if breaks { throw Broken() }
    return nil
  }
}

@Suite struct AsyncTests {
  let stream: [UInt8]
  let oneThread: SessionConfiguration = .with { $0.threadType = .none }

  init() throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    stream = try #require(readFile(folder + "/Media/clip.h264"))
  }

  private func allAccessUnits() async -> [AccessUnit] {
    var accessUnits: [AccessUnit] = []
    for await accessUnit in AccessUnits(of: stream, codec: .h264) { accessUnits.append(accessUnit) }
    return accessUnits
  }

  @Test(arguments: [1000, 60_799]) func picturesEqualThoseOfAPolledSession(pieceSize: Int) async throws {
    let polled = try decodeAll(accessUnits(stream), oneThread)
    let pieces = stride(from: 0, to: stream.count, by: pieceSize).map {
      Array(stream[$0..<min(stream.count, $0 + pieceSize)])
    }
    var fingerprints: [Int] = []
    let cut = AccessUnits(of: Source(pieces), codec: .h264)
    for try await picture in DecodedPictures(of: cut, configuration: oneThread) {
      fingerprints.append(picture.fingerprint)
    }
    #expect(fingerprints.count == 62)
    #expect(fingerprints == polled.frames.map(\.fingerprint))
  }

  @Test func decodesH265() async throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let stream = try #require(readFile(folder + "/Media/clip.h265"))
    var tags: Set<UInt64> = []
    for try await picture in DecodedPictures(of: AccessUnits(of: stream, codec: .h265), configuration: oneThread) {
      #expect(picture.width == 320 && picture.height == 180 && !picture.isCorrupt)
      tags.insert(picture.tag)
    }
    #expect(tags == Set(0..<62))
  }

  /// A source that never sends another start code must not fill the memory.
  @Test func dropsAnEndlessAccessUnit() async throws {
    let filler = [UInt8](repeating: 0x55, count: 9 << 20)
    let pieces = [stream] + Array(repeating: filler, count: 8) + [stream]
    var sizes: [Int] = []
    for try await accessUnit in AccessUnits(of: Source(pieces), codec: .h264) { sizes.append(accessUnit.bytes.count) }
    let usual = await allAccessUnits().map(\.bytes.count)
    #expect(sizes == usual.dropLast() + usual)
  }

  @Test func decodesNoMoreThanRequested() async throws {
    let source = Source(await allAccessUnits())
    var pictures = DecodedPictures(of: source, configuration: oneThread).makeAsyncIterator()
    _ = try #require(try await pictures.next())
    let asked = source.count.value.load(ordering: .relaxed)
    // The reorder depth of the stream.
    #expect(asked < 10)
    _ = try #require(try await pictures.next())
    #expect(source.count.value.load(ordering: .relaxed) <= asked + 2)
  }

  @Test func cancellationEndsTheSequence() async throws {
    let source = Source(await allAccessUnits())
    let oneThread = oneThread
    let (count, asked) = try await Task {
      var (count, asked) = (0, 0)
      for try await _ in DecodedPictures(of: source, configuration: oneThread) {
        count += 1
        asked = source.count.value.load(ordering: .relaxed)
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      }
      return (count, asked)
    }.value
    #expect(count == 1)
    #expect(source.count.value.load(ordering: .relaxed) == asked)
  }

  @Test func throwsTheErrorOfTheSourceAndEnds() async throws {
    let source = Source(Array(await allAccessUnits()[..<20]), breaks: true)
    var pictures = DecodedPictures(of: source, configuration: oneThread).makeAsyncIterator()
    var count = 0
    do {
      while try await pictures.next() != nil { count += 1 }
      Issue.record("no error")
    } catch {
      if case .source = error {} else { Issue.record("\(error)") }
    }
    #expect(count > 10)
    #expect(try await pictures.next() == nil)
  }

  /// Garbage, the other codec, and a stream without parameter sets.
  @Test func aStreamWithoutFormatIsAnError() async throws {
    let h264 = try mediaAccessUnits("clip.h264")
    let isSlice = { (unit: [UInt8]) in Array(unit.drop { $0 == 0 }.dropFirst().prefix(1))[0] & 31 == 1 }
    let slices = h264.flatMap { unit in isSlice(unit) ? unit : [] }
    for (bytes, codec) in [
      ([UInt8](repeating: 7, count: 5000), .h264), (h264.joined().map(\.self), .h265),
      (slices + [0, 0, 1, 0x41, 0x9A], .h264),
    ] as [([UInt8], FormatDescription.Codec)] {
      await #expect {
        for try await _ in DecodedPictures(of: AccessUnits(of: bytes, codec: codec)) {}
      } throws: { error in
        guard case .decoding(let failure)? = error as? DecodingFailure<Never> else { return false }
        return failure.reason == .invalidFormatDescription
          && failure.detail
            == "no readable parameter sets of \(codec == .h264 ? "H.264" : "H.265") were found in \(bytes.count) bytes"
      }
    }
    // Nothing is no error.
    for try await _ in DecodedPictures(of: AccessUnits(of: [UInt8](), codec: .h264)) {}
  }

  @Test func anAccessUnitWithoutAnyFormatIsAnError() async throws {
    var first = try #require(await allAccessUnits().first)
    #expect(first.format != nil)
    first.format = nil
    var pictures = DecodedPictures(of: Source([first])).makeAsyncIterator()
    do {
      _ = try await pictures.next()
      Issue.record("no error")
    } catch {
      if case .decoding(let reason) = error {
        #expect(reason.reason == .invalidFormatDescription)
        #expect("\(error)" == "\(reason)" && "\(error)".contains("the first access unit has no format"))
      } else {
        Issue.record("\(error)")
      }
    }
  }

  /// Another packaging needs another session; the pictures that the first held back are output before.
  @Test func anIncompatibleFormatBeginsAnotherSession() async throws {
    let annexB = await allAccessUnits()
    var prefixed: [AccessUnit] = []
    for accessUnit in annexB {
      var copy = accessUnit
      copy.bytes = lengthPrefixed(accessUnit.bytes, .four)
      copy.format = accessUnit.format == nil ? nil : try streamFormat(accessUnits(stream), lengthSize: .four)
      prefixed.append(copy)
    }
    var tags: [UInt64] = []
    for try await picture in DecodedPictures(of: Source(annexB + prefixed), configuration: oneThread) {
      tags.append(picture.tag)
    }
    #expect(tags.count == 124)
    #expect(tags[..<62] == tags[62...])
  }

  /// A sequence can be handed to several tasks; each iterates from the beginning.
  @Test func severalTasksDecodeTheSameSequence() async throws {
    let pictures = DecodedPictures(of: AccessUnits(of: stream, codec: .h264), configuration: oneThread)
    try await withThrowingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          var count = 0
          for try await _ in pictures { count += 1 }
          #expect(count == 62)
        }
      }
      try await group.waitForAll()
    }
  }

  /// `nextResult` returns access units without a picture too.
  @Test func everyAccessUnitHasAResult() async throws {
    let last = Array(await allAccessUnits()[..<30])
    var broken = last
    broken[0].bytes = [0, 0, 0, 1, 0x09, 0x10]
    var results = DecodedPictures(of: Source(broken), configuration: oneThread).makeAsyncIterator()
    var tags: [UInt64] = []
    while let result = try await results.nextResult() { tags.append(result.tag) }
    #expect(tags.sorted() == Array(0..<30))
    #expect(results.statistics.submitted == 30)
  }
}
