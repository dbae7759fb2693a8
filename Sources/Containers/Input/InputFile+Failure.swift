// SPDX-License-Identifier: MPL-2.0
package import StreamReport

extension InputFile {
  /// The fault in the boxes of an MP4 file; `nil` for other files, and if there is none.
  package var mp4Failure: Failure? {
    guard kind == .container(.mp4), size != nil else { return nil }
    do throws(Failure) {
      let source = try InputBytes(self)
      do throws(MP4.ReadError) { _ = try MP4.VideoSamples(source) } catch {
        return error.reason == .missing && error.box.name == "trak" ? nil : failure(error)
      }
    } catch { return error }
    return nil
  }

  /// The failure of an MP4 file without its table of contents, for which GStreamer's demuxer waits; `nil` for others.
  package var missingMovieFailure: Failure? {
    guard kind == .container(.mp4), size != nil, let source = try? InputBytes(self) else { return nil }
    do throws(MP4.ReadError) { _ = try MP4.VideoSamples(source) } catch {
      return error.reason == .missing && error.box.name == "moov" ? failure(error) : nil
    }
    return nil
  }

  /// The error message for a file that cannot be reported on.
  package func failure(_ error: ReportFailure) -> Failure {
    switch error {
    case .empty: Failure("\(name): empty; expected H.264 or H.265")
    case .unknownFormat, .needsSeeking: Failure(noVideo)
    case .mp4(let error): failure(error)
    }
  }

  /// The error message for an MP4 file that cannot be read.
  package func failure(_ error: MP4.ReadError) -> Failure {
    let place = "box \(error.box.name) at byte \(error.offset)"
    return switch (error.reason, error.box.name) {
    case (.missing, "moov") where isPicture: Failure("\(name): HEIF, pictures without video")
    case (.missing, "moov") where MP4Layout(of: self)?.isFragmented == true:
      Failure(
        "\(name): a segment of MP4 without the initialization segment that describes it; join them first (cat "
          + "INITIALIZATION SEGMENT)")
    case (.missing, "moov"):
      Failure("\(name): MP4 without its table of contents (box moov): cut off, or never finished")
    case (.missing, _): Failure("\(name): MP4 without H.264 or H.265 video")
    case (.truncated, _), (.badSize, _): Failure("\(name): MP4 that is cut off or damaged in its \(place)")
    case (.tooLarge, _): Failure("\(name): MP4 whose \(place) is implausibly large")
    case (.unsupported, _): Failure("\(name): MP4 whose \(place) is unsupported")
    case (.unreadable, _): Failure("\(name): cannot be read at byte \(error.offset)")
    }
  }

  /// Whether the major brand is one of HEIF (ISO/IEC 23008-12, 10) or AVIF.
  private var isPicture: Bool {
    guard let front = (try? InputBytes(self))?.read(at: 4, count: 8) else { return false }
    let brands = ["mif1", "mif2", "heic", "heix", "heim", "heis", "avif"]
    return brands.contains { front.elementsEqual("ftyp\($0)".utf8) }
  }
}
