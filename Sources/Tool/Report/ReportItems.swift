// SPDX-License-Identifier: MPL-2.0
import Containers
import StreamReport

/// The items of a report on a file. Byte streams and MP4 are read directly, other containers through libavformat.
struct ReportItems {
  // Two optionals, not an enum, whose payload would be copied at every change.
  private var direct: StreamReporter?
  private var container: ContainerReport?
  /// How far the file was read.
  let place: ProgressPlace

  /// Opens the file.
  init(_ file: InputFile, _ options: ReportOptions) async throws(Failure) {
    place = ProgressPlace(of: file)
    switch file.kind {
    // Another format may contain start codes by chance.
    case .other, .unknown: throw Failure(file.noVideo)
    case .container(let format) where format != .mp4 || file.size == nil:
      container = try ContainerReport(file, options)
    default:
      let source = try InputBytes(file)
      do throws(ReportFailure) { direct = try StreamReporter(source, options: options, codec: file.codec) } catch {
        // Sample entries that name neither codec, such as AVC-Intra's, are readable through libavformat.
        guard case .mp4(let reason) = error, reason.reason == .missing, reason.box.name == "trak" else {
          throw file.failure(error)
        }
        do throws(Failure) { container = try ContainerReport(file, options) } catch {
          throw Failure("\(file.name): MP4 without H.264 or H.265 video")
        }
      }
    }
  }

  /// The next item; `nil` after the summary.
  mutating func next() async throws(Failure) -> ReportItem? {
    guard container == nil else {
      let item = try container?.next()
      if let position = container?.position { place.reach(bytes: position) }
      return item
    }
    let item = direct?.next()
    if let item { place.reach(item) }
    return item
  }

  /// Recent bytes of a demultiplexed stream, by their offset in it; `nil` when they are not kept any more, and for a
  /// file that is read directly.
  func bytes(at offset: UInt64, count: Int) -> [UInt8]? { container?.bytes(at: offset, count: count) }
}
