// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import Testing

/// Sound that a container holds is in a copy, whatever other sound comes with it.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SoundCopyTests {
  @Test(arguments: ["out.mp4", "piped.mp4", "out.mov", "out.ts"]) func keepsSupportedSoundBesideOther(out: String)
    async throws
  {
    let folder = try Folder()
    let source = "audiotestsrc num-buffers=50 ! audio/x-raw,rate=48000 ! audioconvert"
    let clip = Program.media.appending(path: "clip.mp4").path
    let run = try await Program.shell(
      """
      set -e
      gst-launch-1.0 -q matroskamux name=m ! filesink location=in.mkv filesrc location=\(clip) ! qtdemux ! h264parse \
        ! queue ! m. \(source) ! flacenc ! queue ! m. \(source) ! avenc_aac ! aacparse ! queue ! m.
      h26x repack in.mkv -o \(out == "piped.mp4" ? "- --format mp4 | cat > \(out)" : out)
      """, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(run.said.contains("AAC"), "\(run.said)")
    let copied = try CutCompanionTests.open(folder.url.appending(path: out).path).streams.map(\.codecName)
    #expect(copied == (out.hasSuffix("mp4") ? ["h264", "flac", "aac"] : ["h264", "aac"]), "\(run.said)")
  }

  /// Matroska has sound of AVI's codecs, whose codes are in it.
  @Test(arguments: [("alawenc", "pcm_alaw"), ("mulawenc", "pcm_mulaw")])
  func keepsSoundOfAVICodecs(sound: (encoder: String, codec: String)) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.mp4").path
    let run = try await Program.shell(
      """
      set -e
      gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov filesrc location=\(clip) ! qtdemux ! h264parse \
        ! queue ! m. audiotestsrc num-buffers=50 ! audio/x-raw,rate=8000 ! \(sound.encoder) ! queue ! m.
      h26x repack in.mov -o out.mkv
      h26x repack out.mkv -o back.mov
      """, in: folder.url)
    #expect(run.status == 0 && !run.said.contains("left behind: audio"), "\(run.said)")
    for name in ["out.mkv", "back.mov"] {
      let copied = try CutCompanionTests.open(folder.url.appending(path: name).path).streams.map(\.codecName)
      #expect(copied == ["h264", sound.codec], "\(run.said)")
    }
  }

  /// A transport stream may begin within a frame of AAC: what has no header of a frame is listed.
  @Test(arguments: ["mp4", "mkv"]) func listsFramesWithoutAHeader(target: String) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.mp4").path
    let made = try await Program.shell(
      """
      gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov filesrc location=\(clip) ! qtdemux ! h264parse \
        ! queue ! m. audiotestsrc num-buffers=60 ! audio/x-raw,rate=48000 ! avenc_aac ! queue ! m.
      h26x repack in.mov -o whole.ts
      """, in: folder.url)
    var stream = [UInt8](try #require(folder.bytes("whole.ts"), "\(made.said)"))
    // The first PES packet of sound: where its header ends, a frame's header begins with its sync word.
    for packet in stride(from: 0, to: stream.count - 187, by: 188) where stream[packet + 1] & 0x40 != 0 {
      let payload = packet + 4 + (stream[packet + 3] & 0x20 != 0 ? 1 + Int(stream[packet + 4]) : 0)
      guard payload + 9 < packet + 188, stream[payload..<payload + 3].elementsEqual([0, 0, 1]),
        stream[payload + 3] & 0xE0 == 0xC0
      else { continue }
      let frame = payload + 9 + Int(stream[payload + 8])
      (stream[frame], stream[frame + 1]) = (0, 0)
      break
    }
    try folder.write("in.ts", Data(stream))
    let whole = try await Program.run(["repack", "whole.ts", "-o", "whole.\(target)"], in: folder.url)
    #expect(whole.status == 0 && !whole.said.contains("frame header"), "\(whole.said)")
    let run = try await Program.run(["repack", "in.ts", "-o", "out.\(target)"], in: folder.url)
    #expect(
      run.status == 0 && run.said.contains("left behind: 1 packet of stream 1 without a frame header"),
      "\(run.said)")
  }
}
