// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `codec-timeout` of decoders.
@Suite(.serialized) struct CodecTimeoutTests {
  private func decoder(_ codec: StreamCodec, timeout: Int) throws -> Harness {
    try Harness.decoder(
      codec.chain("swifth264dec isolation=process max-threads=2 codec-timeout=\(timeout)"),
      input: "\(codec.mediaType), stream-format=byte-stream, alignment=au")
  }

  /// Pushes access units, and stops the codec's process, which is returned.
  private func stop(_ harness: Harness, after units: ArraySlice<[UInt8]>) throws -> Int32 {
    for unit in units { #expect(harness.push(unit) == 0) }
    let process = Int32(try #require(harness.statistic("codec-process")))
    kill(process, SIGSTOP)
    return process
  }

  /// The second decoder gives up its process while the first one, which began earlier, still waits. With one timeout for
  /// both, the first one would have given up, too.
  @Test(arguments: StreamCodec.allCases) func aDecoderWaitsAsLongAsItsTimeout(_ codec: StreamCodec) throws {
    let units = codec.accessUnits(in: try Clip.read("clip.\(codec)"))
    let patient = try decoder(codec, timeout: 3_600_000_000_000)
    let impatient = try decoder(codec, timeout: 2_000_000_000)
    let process = try stop(patient, after: units[..<20])
    nonisolated(unsafe) let pushed = patient
    let pusher = Thread { for unit in units[20...] where unsafe pushed.push(unit) != 0 { break } }
    pusher.start()
    let other = try? stop(impatient, after: units[..<20])
    for unit in units[20...] { impatient.push(unit) }
    impatient.endOfStream()
    #expect(other != nil)
    #expect((impatient.statistic("processes-lost") ?? 0) > 0)
    kill(process, SIGCONT)
    while !pusher.isFinished { usleep(1000) }
    patient.endOfStream()
    #expect(patient.statistic("processes-lost") == 0)
    #expect(try patient.takePictures().count == units.count)
  }
}
