// SPDX-License-Identifier: MPL-2.0
import StreamReport

/// The items of a report on a file: on a byte stream and on MP4 as the file has them, on other containers as GStreamer's
/// demultiplexers hand out what is inside. Either way there is no parser in between.
struct ReportItems {
  // Two optionals and no enum, so that neither is copied when it changes.
  private var direct: StreamReporter?
  private var demultiplexed: DemultiplexedReport?

  /// Looks what the file is. A pipe must have been looked into.
  init(_ file: InputFile, _ options: ReportOptions) async throws(Failure) {
    switch file.kind {
    // What the first bytes say is better than what a search for start codes makes of them.
    case .other: throw Failure(file.noVideo)
    case .container(let what) where what != "MP4" || file.size == nil:
      try PluginFile.load()
      demultiplexed = try await DemultiplexedReport(file, options)
    default:
      let source = try ReportSource(file)
      do throws(ReportFailure) { direct = try StreamReporter(source, options: options) } catch {
        throw file.failure(error)
      }
    }
  }

  /// The next item; `nil` behind the summary.
  mutating func next() async throws(Failure) -> ReportItem? {
    if direct != nil { return direct?.next() }
    return try await demultiplexed?.next()
  }

  /// What a demultiplexer gave a short while ago, by its place in all that it gave; `nil` when it is gone, or was read as
  /// it is in the file.
  func bytes(at offset: UInt64, count: Int) -> [UInt8]? { demultiplexed?.bytes(at: offset, count: count) }

  /// Gives back what reading took. Not needed behind the summary.
  func stop() async { await demultiplexed?.stop() }
}

extension InputFile {
  /// Why there is nothing to report on.
  func failure(_ error: ReportFailure) -> Failure {
    switch error {
    case .empty: Failure("\(name): empty; expected H.264 or H.265")
    case .unknownFormat, .needsSeeking: Failure(noVideo)
    case .mp4(let error): failure(error)
    }
  }

  /// What is wrong with the tables of an MP4 file that GStreamer could not read; `nil` for other files, and where
  /// nothing is.
  var mp4Failure: Failure? {
    guard kind == .container("MP4"), size != nil else { return nil }
    do throws(Failure) {
      let source = try ReportSource(self)
      do throws(MP4.ReadError) { _ = try MP4.VideoSamples(source) } catch {
        return error.reason == .missing && error.box.name == "trak" ? nil : failure(error)
      }
    } catch { return error }
    return nil
  }

  /// What is wrong with an MP4 file.
  func failure(_ error: MP4.ReadError) -> Failure {
    let place = "box \(error.box.name) at byte \(error.offset)"
    return switch (error.reason, error.box.name) {
    case (.missing, "moov"):
      Failure("\(name): MP4 without its table of contents (box moov): cut off, or never finished")
    case (.missing, _): Failure("\(name): MP4 without H.264 or H.265 video")
    case (.truncated, _), (.badSize, _): Failure("\(name): MP4 that is cut off or damaged in its \(place)")
    case (.tooLarge, _): Failure("\(name): MP4 whose \(place) is larger than any should be")
    case (.unsupported, _): Failure("\(name): MP4 whose \(place) is of a kind that is not known here")
    case (.unreadable, _): Failure("\(name): cannot be read at byte \(error.offset)")
    }
  }
}
