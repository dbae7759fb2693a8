// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// Gives each picture a message of its own, in place of the messages of this kind that it has.
struct MetadataInsertion: Sendable {
  let kind: RemovableMetadata
  let ranks: PresentationRanks
  let messages: any PictureMessages

  /// Messages that were inserted.
  private(set) var inserted = 0
  /// Messages of the stream that have gone.
  private(set) var removed = 0
  /// Pictures that have another message than before, or none.
  private(set) var changed = 0

  init(_ kind: RemovableMetadata, _ ranks: PresentationRanks, _ messages: any PictureMessages) {
    (self.kind, self.ranks, self.messages) = (kind, ranks, messages)
  }

  /// Edits an access unit.
  ///
  /// - Parameters:
  ///   - number: of the access unit in decoding order, from 0.
  ///   - source: the name of the file, for messages.
  /// - Returns: `nil` if it stays as it is.
  mutating func edit<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, number: Int, source: String, _: Codec.Type
  ) throws(Failure) -> [UInt8]? {
    let message: [UInt8]? = if let picture = ranks[number] { try messages.message(at: picture.rank) } else { nil }
    let result: (bytes: [UInt8]?, count: Int)
    do throws(StreamEditError) {
      result = try Codec.replacing(kind, with: message, in: accessUnit, packaging)
    } catch { throw Failure("\(source): access unit \(number): \(error)") }
    if message != nil { inserted += 1 }
    removed += result.count
    if result.bytes != nil { changed += 1 }
    return result.bytes
  }

  /// Checks that the stream has been read as it was for the ranks.
  func finish(count: Int, source: String) throws(Failure) {
    guard count != ranks.accessUnitCount else { return }
    throw Failure(
      "\(source): \(Text.count(count, "access unit")) to edit, but \(ranks.accessUnitCount) in the file; first make a "
        + "byte stream (-o FILE.h264 or FILE.h265), and edit that")
  }

  /// For the user; `nil` if nothing was inserted or removed.
  var line: String? {
    guard inserted + removed > 0 else { return nil }
    let count = Text.count(inserted, "picture")
    return "\(kind.name): inserted in \(count)" + (removed > 0 ? ", in place of \(removed) that were there" : "")
  }
}
