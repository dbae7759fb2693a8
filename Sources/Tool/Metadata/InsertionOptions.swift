// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import H26x
import SystemPackage

/// Files with a message for each picture, which `edit` inserts.
struct InsertionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Give pictures the captions of a file in MCC or SCC, whose time code 00:00:00:00 is the first picture.",
      valueName: "file.mcc|.scc"),
    completion: .file(), transform: FilePath.init(argument:))
  var insertCaptions: FilePath?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Insert captions later by this many pictures, a time such as 1:30 or 0.5, or a time code; - for earlier.",
      valueName: "n|t"))
  var shift: CaptionShift?
  @Option(
    name: .customLong("insert-hdr10plus"),
    help: ArgumentHelp(
      "Give pictures the HDR10+ of a file, as extract and hdr10plus_tool write it.", valueName: "file.json|.jsonl"),
    completion: .file(), transform: FilePath.init(argument:))
  var insertHDR10Plus: FilePath?
  @Option(
    name: .customLong("insert-dolby-vision"),
    help: ArgumentHelp(
      "Give pictures the RPUs of a file, as extract and dovi_tool write it.", valueName: "file.bin"),
    completion: .file(), transform: FilePath.init(argument:))
  var insertDolbyVision: FilePath?
  @Option(
    name: .customLong("dv-profile"),
    help: ArgumentHelp(
      "The profile in the container's record of inserted Dolby Vision, in place of the RPUs' own, such as 8.1.",
      valueName: "profile"), completion: .list(DolbyVisionProfile.names), transform: Self.profile)
  var profile: DolbyVisionProfile?

  private static func profile(_ text: String) throws -> DolbyVisionProfile {
    guard let profile = DolbyVisionProfile(text: text) else {
      throw ValidationError("expected \(Text.list(DolbyVisionProfile.names, "or"))")
    }
    return profile
  }

  func validate() throws {
    if shift != nil, insertCaptions == nil { throw ValidationError("--shift is for --insert-captions FILE") }
    guard profile == nil || insertDolbyVision != nil else {
      throw ValidationError("--dv-profile describes what --insert-dolby-vision inserts, which is not there")
    }
  }

  /// What becomes of the container's configuration of Dolby Vision; `nil` if none is inserted.
  var dolbyVisionRecord: DolbyVisionRecord? { insertDolbyVision == nil ? nil : .inserted(profile) }

  /// The files that are inserted.
  var files: [FilePath] { [insertCaptions, insertHDR10Plus, insertDolbyVision].compactMap(\.self) }

  /// Reads the files, and the order in which the pictures of a stream are shown.
  ///
  /// - Parameters:
  ///   - force: whether the number of messages may differ from that of the pictures, and captions may be outside of
  ///     the video.
  ///   - frameRate: the frame rate that a byte stream gets; `nil` if it keeps its own.
  /// - Returns: the insertions, and remarks for the user.
  func insertions(
    _ input: InputFile, force: Bool, frameRate: Ratio?
  ) async throws(Failure) -> ([MetadataInsertion], remarks: [String]) {
    guard !files.isEmpty else { return ([], []) }
    let captions = try insertCaptions.map { path throws(Failure) in try CaptionFile(path: path) }
    var sources: [(kind: RemovableMetadata, file: FilePath, messages: any PictureMessages, count: Int)] = []
    if let file = insertHDR10Plus {
      let messages = try HDR10PlusMessages(file)
      sources.append((.hdr10Plus, file, messages, messages.count))
    }
    if let file = insertDolbyVision {
      let codec = try input.videoCodec
      if let profile, profile.codec != codec {
        throw Failure("\(input.name): \(codec.name), but --dv-profile \(profile.name) is for \(profile.codec.name)")
      }
      let messages = try DolbyVisionMessages(file, codec)
      sources.append((.dolbyVision, file, messages, messages.count))
    }
    let ranks: PresentationRanks
    var (insertions, remarks): ([MetadataInsertion], [String]) = ([], [])
    if let captions, let path = insertCaptions {
      let survey = try await input.surveyed(by: CaptionSurvey(source: input.name, frameRate: frameRate))
      ranks = survey.ranks
      let messages = try CaptionMessages(captions, path: path, shift: shift, force: force, survey)
      insertions.append(MetadataInsertion(.captions, ranks, messages))
      remarks += messages.remarks
      if survey.captionedCount > 0 {
        remarks.append("\(path): replaces the captions of \(Text.count(survey.captionedCount, "picture"))")
      }
    } else {
      ranks = try await input.presentationRanks()
    }
    for source in sources {
      let pictures = ranks.pictures(forMessages: source.count)
      let (count, wanted) = (Text.count(source.count, "message"), Text.count(pictures.count, "picture"))
      if pictures.count != source.count {
        let isShort = source.count < pictures.count
        guard force else {
          throw Failure(
            "\(source.file): \(count) for \(wanted) of \(input.name); --force "
              + (isShort ? "repeats the last message" : "leaves out the last messages"))
        }
        let difference = isShort ? pictures.count - source.count : source.count - pictures.count
        remarks.append(
          "\(source.file): \(count) for \(wanted): "
            + (isShort
              ? "the last one is repeated for \(Text.count(difference, "picture"))"
              : "the last \(difference == 1 ? "one is" : "\(difference) are") left out"))
      }
      insertions.append(MetadataInsertion(source.kind, pictures, source.messages))
    }
    return (insertions, remarks)
  }
}

extension PresentationRanks {
  /// The pictures that get messages: frames, if there is a message for each frame, not for each field.
  fileprivate func pictures(forMessages count: Int) -> PresentationRanks {
    guard count != self.count else { return self }
    let frames = ofFrames
    return frames.count == count ? frames : self
  }
}

extension InputFile {
  /// The codec of the video.
  fileprivate var videoCodec: FormatDescription.Codec {
    get throws(Failure) {
      if case .byteStream(let codec, isEvident: true) = kind { return codec }
      guard !isRaw else { throw Failure(noVideo) }
      return try videoTrack().codec
    }
  }
}
