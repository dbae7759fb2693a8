// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import H26x
import StreamReport
import SystemPackage

/// `h26x inspect`: lists access units and NAL units, and every syntax element on request.
struct InspectCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Lists access units, NAL units and syntax elements.",
    discussion: """
      Shows the stream as it is in the file, without a parser element in between. Byte streams and MP4 are read \
      directly, other containers through libavformat; offsets then count in the demultiplexed bytes.

      Examples:
        h26x inspect clip.mp4
        h26x inspect --fields --type SPS,PPS stream.h264
        h26x inspect --range 100-199 --json stream.h265
        h26x inspect --sei time_code stream.h265 > codes.jsonl
        h26x inspect --statistics --csv stream.h264 > pictures.csv
        h26x inspect --blocks --range 7 --json stream.h265
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Flag(help: "List every syntax element of parameter sets, SEI and slice headers, with name, value and bit position.")
  var fields = false
  @Flag(help: "Read the payload of slices in MP4 too, to report missing emulation prevention bytes, as check does.")
  var payload = false
  @Option(help: "Only these NAL unit types, by number or name: 7,PPS,IDR.") var type: String?
  @Option(help: "Only these access units, counted from 0 in decoding order: 5, 10-20, 100-.") var range: String?
  @Flag(help: "Count each picture's bits by kind, QP, block types and sizes, references and coefficients.")
  var statistics = false
  @Flag(help: "List each macroblock or coding unit of the access units that --range selects, and count them too.")
  var blocks = false
  @Flag(help: "Print JSON, one object per line.") var json = false
  @Flag(help: "Print the table of --statistics or --blocks as comma-separated values.") var csv = false
  @Option(
    name: .customLong("sei"),
    help: ArgumentHelp(
      "Print only SEI messages of these types, or all: JSON, one object per line, for edit --insert-sei-from.",
      valueName: "types"))
  var sei: SEISelectionArgument?
  @OptionGroup var sliceThreads: SliceThreadOptions
  @OptionGroup var progress: ProgressOptions

  func validate() throws {
    if sei != nil, fields || payload || type != nil || range != nil || statistics || blocks || csv {
      throw ValidationError(
        "--sei lists only messages: it cannot be combined with --fields, --payload, --type, --range, --statistics, "
          + "--blocks or --csv")
    }
    if blocks, range == nil {
      throw ValidationError("--blocks prints a row for each block: select access units with --range; 0- is all")
    }
    if csv {
      guard statistics != blocks else { throw ValidationError("--csv needs either --statistics or --blocks") }
      guard !json, !fields, type == nil else {
        throw ValidationError("--csv prints one table: it cannot be combined with --json, --fields or --type")
      }
    }
    if let range, Self.bounds(range) == nil {
      throw ValidationError("--range \(range): expected a number, FIRST-LAST or FIRST-")
    }
    guard let type else { return }
    if Self.types(type).isEmpty { throw ValidationError("--type: expected numbers or names") }
    for wanted in Self.types(type) where !Self.isKnown(wanted) {
      throw ValidationError(
        "--type \(wanted): no NAL unit has this name; expected 0 to 63, or a name as inspect shows it")
    }
  }

  func run() async throws {
    if let sei {
      let input = try InputFile(file)
      var edit = VideoEdit([], source: input.name)
      edit.listing = SEIListing(sei.types)
      _ = try await input.trying(edit)
      return
    }
    let bounds = range.flatMap { Self.bounds($0) } ?? 0...UInt64.max
    var options = ReportOptions()
    options.includesFields = fields
    options.readsPayload = payload
    if statistics || blocks { options.countedAccessUnits = bounds }
    options.listsBlocks = blocks
    options.sliceThreads = sliceThreads.sliceThreads
    var items = try await ReportItems(InputFile(file), options)
    let types = type.map { Self.types($0) }
    var output = ResultWriter()
    var lines = JSONLines()
    var table = csv ? CSVLines(blocks ? .blocks : .statistics) : nil
    try await Progress.during(items.place, hasLine: !Terminal.showsResults) { () async throws(Failure) in
      while let item = try await items.next() {
        if case .summary(let summary) = item, bounds.lowerBound >= summary.accessUnits, bounds.lowerBound > 0 {
          try output.finish()
          throw Failure(
            "\(file): no access unit \(bounds.lowerBound); it has \(summary.accessUnits), counted from 0")
        }
        // The findings on an access unit come after it. Reading stops behind them, unless a total comes last.
        if Self.isBeyond(item, bounds.upperBound), !statistics { break }
        guard let item = Self.select(item, bounds, types) else { continue }
        if table != nil {
          table?.append(item)
          output.write(table?.take() ?? [])
        } else if json {
          lines.append(item)
          if lines.bytes.count > 1 << 16 { output.write(lines.take()) }
        } else {
          output.write(InspectText.text(item))
        }
      }
    }
    output.write(lines.take())
    try output.finish()
  }

  /// Whether an item, and all that come after it, are about access units behind the last of the range.
  private static func isBeyond(_ item: ReportItem, _ last: UInt64) -> Bool {
    switch item {
    case .accessUnit(let accessUnit): accessUnit.index > last
    case .parameterSet(let set): set.accessUnit > last
    case .finding(let finding): finding.accessUnit > last
    case .stream, .summary: false
    }
  }

  /// The part of an item that --range and --type select; `nil` for nothing.
  private static func select(_ item: ReportItem, _ bounds: ClosedRange<UInt64>, _ types: [String]?) -> ReportItem? {
    func wants(_ unit: NALUnitRecord) -> Bool {
      guard let types else { return true }
      return types.contains { $0 == "\(unit.type)" || Self.isNamed("\(unit.name)".lowercased(), by: $0) }
    }
    switch item {
    case .accessUnit(var accessUnit):
      guard bounds.contains(accessUnit.index) else { return nil }
      if types != nil {
        accessUnit.nalUnits.removeAll { !wants($0) }
        if accessUnit.nalUnits.isEmpty { return nil }
      }
      return .accessUnit(accessUnit)
    case .parameterSet(let set): return bounds.contains(set.accessUnit) && wants(set.nalUnit) ? item : nil
    case .finding(let finding): return bounds.contains(finding.accessUnit) && types == nil ? item : nil
    case .stream, .summary: return item
    }
  }

  private static func types(_ text: String) -> [String] { text.split(separator: ",").map { $0.lowercased() } }

  /// The names of both codecs' types.
  private static let names = Set(
    (UInt8(0)..<64).flatMap { type -> [StaticString] in
      [H264.NALUnitType(rawValue: type).shortName, H265.NALUnitType(rawValue: type).shortName]
    }.map { "\($0)".lowercased() })

  /// Whether `wanted` selects a type of this name: by the whole name or, if no type has that name, by its first word,
  /// such as `IDR` for `IDR slice`.
  private static func isNamed(_ name: String, by wanted: String) -> Bool {
    name == wanted || !names.contains(wanted) && (name.hasPrefix("\(wanted) ") || name.hasPrefix("\(wanted)_"))
  }

  private static func isKnown(_ wanted: String) -> Bool {
    if let number = UInt8(wanted) { return number < 64 }
    return names.contains { isNamed($0, by: wanted) }
  }

  private static func bounds(_ text: String) -> ClosedRange<UInt64>? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first.flatMap({ UInt64($0) }), parts.count <= 2 else { return nil }
    guard parts.count == 2 else { return first...first }
    guard !parts[1].isEmpty else { return first...UInt64.max }
    guard let last = UInt64(parts[1]), last >= first else { return nil }
    return first...last
  }
}
