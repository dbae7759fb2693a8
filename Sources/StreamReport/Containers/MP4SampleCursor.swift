// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// Iterates over the samples of a sample table in decoding order.
  ///
  /// It does not hold the tables: every call is passed the content of the `moov` box.
  struct SampleCursor: Sendable {
    /// A position in a table of runs.
    private struct Run: Sendable {
      var entry = 0
      /// Samples of the entry that have been read.
      var used: UInt32 = 0
    }

    private let table: SampleTable
    private var sample: UInt32 = 0
    private var decodingTime: Int64 = 0
    private var durations = Run()
    private var compositions = Run()
    private var chunk = 0
    private var chunkEntry = 0
    private var sampleInChunk: UInt32 = 0
    private var offset: UInt64 = 0
    private var nextSync = 0

    init(_ table: SampleTable) { self.table = table }

    /// The next sample; nil after the last, and if a table ends early.
    mutating func next(_ bytes: Span<UInt8>) -> Sample? {
      guard sample < table.sampleCount, let size = size(bytes), beginChunk(bytes) else {
        return nil
      }
      let duration = Self.value(&durations, table.timeToSample, bytes) ?? 0
      // Unsigned in version 0, but many files have signed numbers there too.
      let composition = Int32(
        bitPattern: Self.value(&compositions, table.compositionOffsets, bytes) ?? 0)
      let (end, isBeyond) = offset.addingReportingOverflow(UInt64(size))
      guard !isBeyond else { return nil }
      let result = Sample(
        range: offset..<end, decodingTime: decodingTime, compositionOffset: Int64(composition),
        duration: duration,
        isSync: takeSync(bytes), descriptionIndex: descriptionIndex(bytes))
      offset = end
      // Wraps only in malicious files: 2³² samples of less than 2³² ticks.
      decodingTime = decodingTime &+ Int64(duration)
      sample += 1
      sampleInChunk += 1
      return result
    }

    private func size(_ bytes: Span<UInt8>) -> UInt32? {
      if table.sizeBits == 32, table.uniformSize > 0 { return table.uniformSize }
      let index = Int(clamping: sample)
      switch table.sizeBits {
      case 4:
        return table.sizes.offset(index / 2).flatMap { bytes.uint8(at: $0) }
          .map { UInt32(index % 2 == 0 ? $0 >> 4 : $0 & 15) }
      case 8: return table.sizes.offset(index).flatMap { bytes.uint8(at: $0) }.map { UInt32($0) }
      case 16: return table.sizes.offset(index).flatMap { bytes.uint16(at: $0) }.map { UInt32($0) }
      default: return table.sizes.offset(index).flatMap { bytes.uint32(at: $0) }
      }
    }

    /// Goes to the chunk of the next sample. Returns whether there is one.
    private mutating func beginChunk(_ bytes: Span<UInt8>) -> Bool {
      while true {
        if sampleInChunk == 0 {
          guard let place = table.chunkOffsets.offset(chunk) else { return false }
          let start =
            table.chunkOffsets.stride == 8
            ? bytes.uint64(at: place) : bytes.uint32(at: place).map { UInt64($0) }
          guard let start else { return false }
          offset = start
          // `first_chunk` counts from 1.
          while let next = table.sampleToChunk.offset(chunkEntry + 1),
            let first = bytes.uint32(at: next),
            UInt64(first) <= UInt64(chunk) + 1
          {
            chunkEntry += 1
          }
        }
        guard let entry = table.sampleToChunk.offset(chunkEntry),
          let count = bytes.uint32(at: entry + 4)
        else {
          return false
        }
        if sampleInChunk < count { return true }
        chunk += 1
        sampleInChunk = 0
      }
    }

    private func descriptionIndex(_ bytes: Span<UInt8>) -> Int {
      let index = table.sampleToChunk.offset(chunkEntry).flatMap { bytes.uint32(at: $0 + 8) } ?? 1
      return Int(clamping: index) &- 1
    }

    private mutating func takeSync(_ bytes: Span<UInt8>) -> Bool {
      guard let table = table.syncSamples else { return true }
      while let place = table.offset(nextSync), let number = bytes.uint32(at: place) {
        // Numbers count from 1 and ascend.
        if UInt64(number) > UInt64(sample) + 1 { return false }
        nextSync += 1
        if UInt64(number) == UInt64(sample) + 1 { return true }
      }
      return false
    }

    /// The value of the next sample's run; nil after the last run.
    private static func value(_ run: inout Run, _ table: Table, _ bytes: Span<UInt8>) -> UInt32? {
      while let place = table.offset(run.entry), let count = bytes.uint32(at: place) {
        if run.used < count {
          run.used += 1
          return bytes.uint32(at: place + 4)
        }
        run.entry += 1
        run.used = 0
      }
      return nil
    }
  }
}
