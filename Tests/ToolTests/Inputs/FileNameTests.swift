// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Names of files are bytes, which need not be UTF-8. Shown, they have replacement characters for what is not.
@Suite(.enabled(if: Program.isBuilt)) struct FileNameTests {
  private func media(_ name: String) -> String { Program.media.appending(path: name).path }

  @Test(arguments: ["h264", "mp4"]) func acceptsNamesInOtherEncodings(suffix: String) async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      """
      set -e; mkdir $'d\\xe4'; cp \(media("clip.\(suffix)")) $'d\\xe4/x\\xff.\(suffix)'; cd $'d\\xe4'
      h26x info --json $'x\\xff.\(suffix)'; h26x check $'x\\xff.\(suffix)'; cd ..
      for out in y.yuv y.mkv y.mp4 y.png y.html; do
        case $out in *.yuv) c=decode;; *.mkv | *.mp4) c=repack;; *.png) c=snapshot;; *) c=report;; esac
        h26x $c $'d\\xe4/x\\xff.\(suffix)' -o $'d\\xe4/\\xfe'$out
        h26x $c \(media("clip.\(suffix)")) -o $out
        if [ $c != repack -a $c != report ]; then cmp $'d\\xe4/\\xfe'$out $out; fi
      done
      ls -A $'d\\xe4' | wc -l
      """, in: folder.url)
    #expect(run.status == 0 && run.text.hasSuffix("\n6\n"), "\(run.text)\(run.said)")
    #expect(run.text.contains("\"file\": \"x\u{FFFD}.\(suffix)\""), "\(run.text)")
    #expect(run.said.contains("d\u{FFFD}/\u{FFFD}y.mkv: Matroska, H.264"), "\(run.said)")
  }

  /// Byte 0xFF, a name in Latin-1 with UTF-8 in it, and a character for private use, which is as good as any other.
  @Test func printsNamesAsUnicode() async throws {
    let folder = try Folder()
    let names = "$'x\\xff.h264' $'\\xe4\\xc3\\xa4.h264' $'\\xf4\\x8f\\xba\\x80.h264'"
    let run = try await Program.shell(
      """
      set -e; for name in \(names); do cp \(media("clip.h264")) "$name"; done
      h26x info \(names); h26x info --json \(names); h26x check --json \(names)
      for name in \(names); do h26x report "$name" -o -; done
      """, in: folder.url)
    let text = try #require(String(validating: run.output, as: UTF8.self))
    #expect(run.status == 0, "\(run.said)")
    for name in ["x\u{FFFD}.h264", "\u{FFFD}\u{E4}.h264", "\u{10FE80}.h264"] {
      #expect(text.contains("File                \(name)\n"), "\(name)")
      #expect(text.contains("\"file\": \"\(name)\""), "\(name)")
      #expect(text.contains(#"{"kind":"file","name":"\#(name)"}"#), "\(name)")
      #expect(text.contains("data-name=\"\(name)\""), "\(name)")
    }
    let privateUse = text.unicodeScalars.filter { $0.properties.generalCategory == .privateUse }
    #expect(privateUse.count == 4 && privateUse.allSatisfy { $0 == "\u{10FE80}" }, "\(privateUse)")
  }

  @Test func numbersNamesInOtherEncodings() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      """
      h26x decode --frames 2 \(media("clip.h264")) -o $'\\xfd%%%02d\\xff.png' && h26x snapshot \(media("clip.h264")) \
        -o $'\\xfe%d.png' && h26x repack \(media("clip.h264")) -o $'\\xff.mkv' && ls -b
      """, in: folder.url)
    #expect(
      run.status == 0 && run.text == "\\375%01\\377.png\n\\375%02\\377.png\n\\3761.png\n\\377.mkv\n", "\(run.text)")
    #expect(run.said.contains("\u{FFFD}.mkv: Matroska, H.264"), "\(run.said)")
  }

  /// A session description is opened by its name, too, and once only, because a named pipe can be read once.
  @Test(arguments: ["cat text > $name;", "mkfifo $name; cat text > $name &"])
  func readsSessionDescriptionsOfAnyName(_ make: String) async throws {
    let folder = try Folder()
    try folder.write("text", Data("v=0\r\nm=audio 5004 RTP/AVP 0\r\n".utf8))
    let run = try await Program.shell("name=$'\\xff.sdp'; \(make) h26x receive $name", in: folder.url)
    #expect(
      run.status == 1 && run.said == "h26x: \u{FFFD}.sdp: no H.264 or H.265; it has audio (unknown)\n", "\(run.said)")
  }

  @Test(arguments: [
    ("$'info\\xff'", 64, "unknown subcommand info\u{FFFD}: "), ("info a --count=$'\\xff'", 64, "'\u{FFFD}'"),
    ("info $'\\xff'", 1, "h26x: \u{FFFD}: no such file\n"),
  ])
  func printsNamesInMessagesAsUnicode(_ arguments: String, _ status: Int32, _ said: String) async throws {
    let folder = try Folder()
    let run = try await Program.shell("h26x \(arguments)", in: folder.url)
    #expect(run.status == status && run.said.contains(said), "\(run.said)")
  }

  /// The program finds the plugin that lies beside it, wherever that is.
  @Test func loadsThePluginFromAFolderOfAnyName() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      """
      set -e; mkdir $'p\\xff'; cp \(Program.executable.path) \(Program.plugin.path)/* $'p\\xff'
      $'p\\xff/h26x' hash \(media("clip.h264"))
      """, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
  }

  /// A slash at the end makes it the name of a folder.
  @Test(arguments: ["info in.h264/", "decode in.h264 -o new/", "decode in.h264 -o old/ --force"])
  func refusesNamesThatEndWithASlash(_ arguments: String) async throws {
    let folder = try Folder()
    for name in ["in.h264", "old"] {
      try folder.write(name, try Data(contentsOf: Program.media.appending(path: "clip.h264")))
    }
    let run = try await Program.shell("h26x \(arguments)", in: folder.url)
    #expect(run.status == 1, "\(run.text)\(run.said)")
    #expect(folder.names == ["in.h264", "old"])
  }
}
