// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import H26x
import SystemPackage

/// `h26x edit`: changes the headers of a stream, without touching a slice.
struct EditCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Changes colour, shape, rate, level, latency, SEI and metadata, but no picture.",
    discussion: """
      Rewrites parameter sets and SEI, in the stream and in the container's description of it. Slices are copied \
      byte for byte, and so are all parts of a byte stream that the options do not change. OUT's suffix selects the \
      format, as in repack. An edit that the standard forbids is refused, with the clause. --dry-run lists the \
      fields with their old and new values, and writes nothing.

      --latency sets how many pictures wait for a picture that is decoded later. auto measures this first, in a \
      separate pass; a number below the stream's need is refused. Without this number, decoders have to guess, and \
      often wait until their buffer is full. A level and constraint flags are compared with the pictures in the same \
      way, and refused if the pictures violate them.

      --remove takes metadata out of the stream and out of the container's description of the video. Other messages \
      of the same NAL unit stay. With Dolby Vision go its enhancement layer, record, brand and sample entry. Pictures \
      of profiles 5 and 20 have wrong colours without it, so that needs --force.

      --dolby-vision 8.1 makes profile 8.1 of profile 7: the metadata is converted, and the enhancement layer removed. \
      record replaces only the container's record, by one that the stream calls for. dovi_tool makes other \
      conversions, and joins an enhancement layer that is in a track of its own.

      Names of colours: \(ColourDescription.names). SEI types are numbers or the standard's names, joined by commas.

      Examples:
        h26x edit clip.mp4 -o out.mp4 --colour bt709 --range limited
        h26x edit clip.h264 --latency auto --dry-run
        h26x edit clip.h265 -o out.h265 --level 4.1 --remove-sei user_data_unregistered
        h26x edit film.mkv -o out.mkv --remove dolby-vision,hdr10plus
        h26x inspect --sei user_data_registered_itu_t_t35 clip.mp4 > captions.jsonl
        h26x edit other.mp4 -o out.mp4 --insert-sei-from captions.jsonl
        h26x edit clip.mp4 -o out.mp4 --insert-captions captions.scc --shift -1:00:00
        h26x edit film.h265 -o film.mp4 --insert-hdr10plus film.json --insert-dolby-vision film.bin
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath?
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, regardless of OUT's suffix.") var format: TargetContainer?
  @OptionGroup(title: "Edits") var edits: EditOptions
  @OptionGroup(title: "Metadata of pictures") var insertions: InsertionOptions
  @Flag(help: "List the changes, and write nothing.") var dryRun = false
  @Flag(
    help: """
      Replace an existing file, remove Dolby Vision even from pictures that need it, and insert metadata whose number \
      is not that of the pictures.
      """)
  var force = false
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    guard try !edits.isEmpty || !insertions.files.isEmpty else {
      throw ValidationError("nothing to change: expected an edit")
    }
    guard edits.dolbyVision == nil || edits.renewsRecord || insertions.insertDolbyVision == nil else {
      throw ValidationError("--dolby-vision 8.1 and --insert-dolby-vision exclude each other: both replace the RPUs")
    }
    guard !dryRun else {
      guard output == nil else {
        throw ValidationError("--dry-run writes nothing: remove -o \(output?.string ?? "")")
      }
      return
    }
    guard let output else { throw ValidationError("expected -o OUT, or --dry-run") }
    if format == nil { format = TargetContainer(fileName: output.string) }
    if edits.renewsRecord, let format, !format.hasDolbyVisionRecord {
      throw ValidationError("--dolby-vision record: \(format.name) has no record: expected .mp4, .mov, .mkv or .ts")
    }
    guard format != nil else {
      throw ValidationError(
        "-o \(output) has no known suffix: expected .h264, .mp4, .mov, .mkv, .ts or .flv, or --format")
    }
  }

  func run() async throws {
    let input = try InputFile(file)
    var list = try edits.list
    if let file = edits.insertSEIFrom { list.append(contentsOf: try SEIFile(path: file).edits()) }
    if force { list.force() }
    let consequences = try await list.measure(input)
    var edit = VideoEdit(
      list.edits, source: input.name, renewsRecord: edits.renewsRecord, inserting: insertions.dolbyVisionRecord)
    let (messages, remarks) = try await insertions.insertions(
      input, force: force, frameRate: input.isRaw ? edits.frameRate?.ratio : nil)
    edit.insertions = messages
    guard let output, let format else {
      let tried = try await input.trying(edit)
      try Interruption.check()
      var writer = ResultWriter()
      for line in tried.lines { writer.write(line + "\n") }
      try writer.finish()
      for remark in consequences.remarks { Terminal.say("\(input.name): \(remark)") }
      for remark in remarks { Terminal.say(remark) }
      return
    }
    let target = try OutputFile(output, force: force, inputs: [input], texts: insertions.files)
    let plan = CopyPlan(
      input: input, target: target, container: format, framerate: input.isRaw ? edits.frameRate?.rate : nil,
      framerateOption: "--frame-rate")
    let lines = try await target.written { [edit] () async throws(Failure) in
      try await EditTarget(plan: plan, consequences: consequences).write(edit)
    }
    for line in lines + remarks { Terminal.say(line) }
  }
}
