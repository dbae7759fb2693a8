// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// Collects the HDR10+ metadata of pictures, for a file.
struct HDR10PlusExtraction: Sendable {
  private let format: HDR10PlusFile
  /// Whether damaged messages are left out.
  private let isForced: Bool
  private var messages = PictureMessageStore()
  private var gaps = MessageGaps()
  /// Damaged messages, and others beside the one of their picture.
  private var leftOut = 0
  /// `application_version` of the first picture.
  private var version: UInt8?

  init(_ format: HDR10PlusFile, isForced: Bool) { (self.format, self.isForced) = (format, isForced) }

  /// Takes the next picture.
  mutating func take(
    _ found: [FoundMetadata], of picture: PresentedPicture, _ source: String
  ) throws(Failure) {
    var message: [UInt8]?
    for metadata in found where metadata.bytes != found.first?.bytes || message == nil {
      guard message == nil else {
        guard isForced else {
          throw picture.failure(
            source, metadata, "another message", expected: "one with this picture", remedy: "leaves it out")
        }
        leftOut += 1
        continue
      }
      message = try read(metadata, of: picture, source)
    }
    for index in 0..<gaps.take(picture, hasMessage: message != nil) {
      if index == 0, let message { try append(message, source) } else { messages.repeatLast() }
    }
  }

  private mutating func append(_ message: [UInt8], _ source: String) throws(Failure) {
    guard messages.append(message) else { throw Failure("\(source): HDR10+ messages are too large to be extracted") }
  }

  /// The message as it is written; `nil` if it is left out.
  private mutating func read(
    _ metadata: FoundMetadata, of picture: PresentedPicture, _ source: String
  ) throws(Failure) -> [UInt8]? {
    var content: HDR10PlusMetadata
    do throws(BitstreamError) {
      content = try HDR10PlusMetadata(
        RegisteredUserData(countryCode: 0xB5, data: Array(metadata.bytes.dropFirst())))
    } catch {
      guard isForced else {
        throw picture.failure(
          source, metadata, "\(error)", expected: "syntax of version 0 or 1", remedy: "repeats the picture before")
      }
      leftOut += 1
      return nil
    }
    guard format == .document else { return metadata.bytes }
    let place = "\(source): picture \(picture.picture.rank) (access unit \(picture.place.number))"
    if let obstacle = format.obstacle(content) {
      throw Failure(
        "\(place): \(InspectText.string(obstacle)), which JSON has no member for; .jsonl holds everything")
    }
    let version = version ?? content.version
    self.version = version
    guard content.version == version else {
      throw Failure(
        "\(place): application_version \(content.version) behind \(version): JSON has one; .jsonl holds everything")
    }
    // They have no meaning, and no member.
    content.trailingBits = UnreadBits()
    do throws(BitstreamError) { return try content.userData().payload } catch { throw Failure("\(place): \(error)") }
  }

  /// Ends the stream.
  ///
  /// - Throws: a `Failure` without any message.
  func finish(_ source: String) throws(Failure) {
    guard messages.count > 0 else { throw Failure("\(source): no HDR10+ in \(Text.count(gaps.repeated, "picture"))") }
  }

  /// Writes the file.
  func write(to writer: inout ResultWriter) {
    format.write(messages, version: ReleaseVersion.text) { writer.write($0) }
  }

  /// For the user.
  var remark: String {
    var parts = ["HDR10+ of \(Text.count(messages.count, "picture"))"] + [gaps.remark].compactMap(\.self)
    if leftOut > 0 { parts.append("\(Text.count(leftOut, "message")) left out") }
    return parts.joined(separator: "; ")
  }
}
