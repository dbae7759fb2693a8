// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import SystemPackage

/// Writes an edited file, in its own format or another container.
struct EditTarget {
  let plan: CopyPlan
  let consequences: EditConsequences

  private var input: InputFile { plan.input }
  private var target: OutputFile { plan.target }
  private var format: TargetContainer { plan.container }

  /// Returns lines for the user.
  func write(_ edit: VideoEdit) async throws(Failure) -> [String] {
    let summary = try await input.isRaw && format == .annexb ? writeByteStream(edit) : writeContainer(edit)
    return summary
      + (consequences.remarks + (try remarks(changesRate: edit.affects(.rate)))).map { "\(target.name): \($0)" }
  }

  private func writeByteStream(_ edit: VideoEdit) async throws(Failure) -> [String] {
    let edit = try await editByteStream(edit, target)
    let interrupted =
      Interruption.signal == nil ? "" : "\(Interruption.remark)\(Text.count(edit.count, "access unit")): "
    return [
      "\(target.name): \(interrupted)\(edit.hasChanged ? Text.count(edit.lines.count, "change") : "nothing to change")"
    ] + edit.metadataLines.map { "\(target.name): \($0)" }
  }

  private func editByteStream(_ edit: VideoEdit, _ output: OutputFile) async throws(Failure) -> VideoEdit {
    var writer = try ResultWriter(output)
    let edit = try await input.editedByteStream(edit) { (bytes) throws(Failure) in writer.write(bytes) }
    try writer.finish()
    return edit
  }

  private func writeContainer(_ edit: VideoEdit) async throws(Failure) -> [String] {
    try PluginFile.load()
    guard input.isRaw, edit.affects(.rate), consequences.mayAnnounceRate,
      case .byteStream(_, isEvident: true) = input.kind
    else {
      return try await repack(plan, edit)
    }
    // Times derive from the headers, so the headers must be edited before the times are made.
    let scratch = try OutputFile(scratchPath, force: true)
    defer { scratch.discard() }
    let edited = try await editByteStream(edit, scratch)
    try Interruption.check()
    guard let path = scratch.path else { return try await repack(plan, edit) }
    let file = try OpenFile(path, .readOnly, name: target.name)
    // It has no name now, so it disappears whatever happens.
    scratch.discard()
    // The scratch file has no name of its own.
    var plan = plan
    plan.input = try InputFile(FilePath(file.descriptor.path), name: input.name)
    let lines = try await repack(plan, nil) + edited.metadataLines.map { "\(target.name): \($0)" }
    return withExtendedLifetime(file) { lines }
  }

  /// A file beside the target, or in the folder of temporary files if the target has no folder.
  private var scratchPath: FilePath {
    let folder = target.isSeekable ? target.path?.removingLastComponent() : nil
    return (folder ?? "/var/tmp").appending(".h26x-edit")
  }

  private func repack(_ plan: CopyPlan, _ edit: VideoEdit?) async throws(Failure) -> [String] {
    let result = try await Copy.run(plan, editing: edit.flatMap { $0.isEmpty ? nil : $0 })
    let remarks = result.edited + result.remarks + result.left.map { "left behind: \($0)" }
    return [result.summary] + remarks.map { "\(target.name): \($0)" }
  }

  // MARK: For the user

  private func remarks(changesRate: Bool) throws(Failure) -> [String] {
    var remarks: [String] = []
    if changesRate, !input.isRaw, format != .annexb {
      remarks.append("the container's times stay the same: only the stream has the new frame rate")
    }
    if format == .annexb, let named = FormatDescription.Codec(suffixOf: target.name), let codec = try codec,
      codec != named
    {
      remarks.append("the contents are \(codec.name), despite the file's name")
    }
    return remarks
  }

  private var codec: FormatDescription.Codec? {
    get throws(Failure) {
      if case .byteStream(let codec, isEvident: true) = input.kind { return codec }
      guard !input.isRaw, input.size != nil else { return nil }
      return try input.videoTrack().codec
    }
  }
}

extension FormatDescription.Codec {
  /// The codec that the suffix of a byte stream's name means; nil for another suffix.
  fileprivate init?(suffixOf name: String) {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    switch name[name.index(after: dot)...].lowercased() {
    case "h264", "264", "avc", "26l", "jsv": self = .h264
    case "h265", "265", "hevc": self = .h265
    default: return nil
    }
  }
}
