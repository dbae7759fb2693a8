// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// Which streams of a container are read. Their numbers are those that info prints.
package struct StreamSelection: Sendable, Hashable {
  /// The numbers of all streams that are read; `nil` for the first video, and the streams that go with it.
  package var streams: [Int]?
  /// The number of a transport stream's program.
  package var program: Int?
  /// The language of sound and subtitles, by its code of three letters.
  package var language: String?

  package init(streams: [Int]? = nil, program: Int? = nil, language: String? = nil) {
    (self.streams, self.program, self.language) = (streams, program, language)
  }

  package var isEmpty: Bool { streams == nil && program == nil && language == nil }

  /// Whether a stream beside the video is read.
  func includes(_ stream: StreamDescription) -> Bool {
    if let streams { return streams.contains(stream.index) }
    guard let language, stream.kind == .audio || stream.kind == .subtitle else { return true }
    return stream.metadata[key: "language"].map(Self.normalized) == Self.normalized(language)
  }

  /// The bibliographic code (ISO 639-2/B) of a language, in lower case.
  private static func normalized(_ code: String) -> String {
    let code = code.lowercased()
    return Language.bibliographic[code] ?? code
  }

  // MARK: Mistakes

  /// The failure if streams have no video of this selection; `nil` for another reason.
  ///
  /// - Parameters:
  ///   - streams: their numbers and summaries.
  ///   - programs: the numbers of programs.
  package func failure(_ input: InputFile, _ streams: [(number: Int, summary: String)], programs: [Int]) -> Failure? {
    let list = Text.list(streams.map { "\($0.number) \($0.summary)" })
    if let program, !programs.contains(program) {
      let found = programs.isEmpty ? "it has none" : "it has \(Text.list(programs.map { "\($0)" }))"
      return Failure("\(input.name): no program \(program); \(found)")
    }
    if let missing = self.streams?.first(where: { number in !streams.contains { $0.number == number } }) {
      return Failure("\(input.name): no stream \(missing); it has \(list)")
    }
    guard self.streams != nil || program != nil else { return nil }
    return Failure("\(input.name): the selected streams have no H.264 or H.265 video; the file has \(list)")
  }
}

extension ContainerInput {
  /// Fails if the selected streams do not exist.
  func check(_ selection: StreamSelection) throws(Failure) {
    let streams = context.streams
    let hasAll = selection.streams?.allSatisfy { number in streams.contains { $0.index == number } } ?? true
    if video == nil || !hasAll, let failure = selectionFailure { throw failure }
    let sounds = streams.filter { $0.kind == .audio || $0.kind == .subtitle }
    if let language = selection.language, !sounds.contains(where: selection.includes) {
      let languages = sounds.compactMap(\.language)
      throw Failure(
        "\(input.name): no sound and no subtitles in \(language); "
          + (languages.isEmpty ? "no language is known" : "it has \(Text.list(languages))"))
    }
  }

  /// Why there is no video of the selection; `nil` for another reason.
  var selectionFailure: Failure? {
    input.selection.failure(
      input, context.streams.map { ($0.index, $0.summary) }, programs: context.programs.map(\.number))
  }
}

/// Codes of languages (ISO 639-2).
enum Language {
  /// The bibliographic codes of languages that have a terminological one too, by that.
  static let bibliographic = [
    "sqi": "alb", "hye": "arm", "eus": "baq", "mya": "bur", "zho": "chi", "ces": "cze", "nld": "dut", "fra": "fre",
    "kat": "geo", "deu": "ger", "ell": "gre", "isl": "ice", "mkd": "mac", "mri": "mao", "msa": "may", "fas": "per",
    "ron": "rum", "slk": "slo", "bod": "tib", "cym": "wel",
  ]

  /// The code of a language that libavformat has in its table of QuickTime's languages: most are bibliographic.
  static func quickTime(_ code: String) -> String {
    let code = bibliographic[code] ?? code
    return ["fre": "fra", "rum": "ron", "cze": "ces", "slo": "slk"][code] ?? code
  }
}
