// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import Testing

/// Sound that a container holds is in a copy, whatever other sound comes with it.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SoundCopyTests {
  @Test(arguments: ["out.mp4", "piped.mp4", "out.mov", "out.ts"]) func soundIsKeptBesideOther(out: String) async throws
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
  func soundThatAVIHasIsKept(sound: (encoder: String, codec: String)) async throws {
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
}
