// SPDX-License-Identifier: MPL-2.0

// The conversion of H26x in GB/s of input, compared with memcpy of the same bytes between the same buffers.
import Glibc
import H26x

/// Access units of four slices each, of random bytes, which resemble CABAC's.
func makeAccessUnits(count: Int, sliceSize: Int, startCode: Int) -> [[UInt8]] {
  var state: UInt64 = 1
  func next() -> UInt8 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
  return (0..<count).map { _ in
    var bytes: [UInt8] = []
    for _ in 0..<4 {
      bytes += [UInt8](repeating: 0, count: startCode - 1) + [1, 0x41]
      var zeros = 0
      for _ in 0..<sliceSize {
        let byte = next()
        // As after emulation prevention: a byte after two zeros is above 3.
        bytes.append(zeros >= 2 ? byte | 4 : byte)
        zeros = byte == 0 ? zeros + 1 : 0
      }
      bytes.append(0x80)
    }
    return bytes
  }
}

/// The median of the runs, in GB/s of input.
func measure(_ units: [[UInt8]], _ body: ([UInt8]) -> Void) -> Double {
  let bytes = units.reduce(0) { $0 + $1.count }
  let rounds = max(1, 400_000_000 / bytes)
  var results: [Double] = []
  for _ in 0..<7 {
    let elapsed = ContinuousClock().measure {
      for _ in 0..<rounds { for unit in units { body(unit) } }
    }
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    results.append(Double(bytes * rounds) / seconds / 1e9)
  }
  return results.sorted()[results.count / 2]
}

func line(_ name: String, _ speed: Double, _ copy: Double) {
  func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
  print("  \(name): \(rounded(speed)) GB/s, \(rounded(speed / copy)) of memcpy's \(rounded(copy))")
}

for (title, sliceSize, count) in [("25 kB slices", 25_000, 512), ("1 kB slices", 1_000, 4096)] {
  print("\(title), \(count) access units:")
  for startCode in [3, 4] {
    let units = makeAccessUnits(count: count, sliceSize: sliceSize, startCode: startCode)
    var output = [UInt8](repeating: 0, count: (units.map(\.count).max() ?? 0) + 64)
    let copy = measure(units) { unit in
      unsafe output.withUnsafeMutableBytes { target in
        unsafe unit.withUnsafeBytes { source in
          _ = unsafe memcpy(target.baseAddress!, source.baseAddress!, source.count)
        }
      }
    }
    var repackager = Repackager(codec: .h264)
    let there = measure(units) { unit in
      repackager.scanAnnexB(unit.span)
      var target = output.mutableSpan
      _ = try? repackager.write(unit.span, as: .lengthPrefixed(.four), to: &target)
    }
    line("Annex B (\(startCode)-byte start codes) to AVC", there, copy)
    guard startCode == 4 else { continue }
    let packets = units.map { unit in
      repackager.scanAnnexB(unit.span)
      var packet = [UInt8](repeating: 0, count: unit.count)
      var target = packet.mutableSpan
      _ = try? repackager.write(unit.span, as: .lengthPrefixed(.four), to: &target)
      return packet
    }
    let back = measure(packets) { packet in
      _ = try? repackager.scanLengthPrefixed(packet.span, lengthSize: .four)
      var target = output.mutableSpan
      _ = try? repackager.write(packet.span, as: .annexB, to: &target)
    }
    line("AVC to Annex B", back, copy)
    let checked = measure(packets) { packet in
      _ = try? repackager.scanLengthPrefixed(packet.span, lengthSize: .four)
      repackager.repairStartCodes(in: packet.span)
      var target = output.mutableSpan
      _ = try? repackager.write(packet.span, as: .annexB, to: &target)
    }
    line("AVC to Annex B, searched for start codes", checked, copy)
  }
}
