// SPDX-License-Identifier: MPL-2.0
package import H26x

extension HDR10PlusFile {
  /// The part of a picture's metadata that the format has no member for; nil if it holds all.
  package func obstacle(_ metadata: HDR10PlusMetadata) -> ReportText? {
    guard self == .document, let window = metadata.windows.first else { return nil }
    if metadata.windows.count > 1 { return "num_windows \(metadata.windows.count)" }
    if window.fractionBrightPixels > 0 { return "fraction_bright_pixels \(window.fractionBrightPixels)" }
    if metadata.targetedPeakLuminance != nil { return "targeted_system_display_actual_peak_luminance" }
    if metadata.masteringPeakLuminance != nil { return "mastering_display_actual_peak_luminance" }
    if let weight = window.colourSaturationWeight { return "color_saturation_weight \(weight)" }
    // Bits of the last byte align the message.
    let trailing = metadata.trailingBits
    if trailing.count > 7, !trailing.isZero { return "\(trailing.count) bits behind the syntax" }
    return nil
  }

  /// Writes a file.
  ///
  /// - Parameters:
  ///   - messages: payloads that can be read, without an obstacle, and with one version.
  ///   - version: of this program.
  ///   - write: takes the file, piece by piece.
  package func write<Failure: Error>(
    _ messages: PictureMessageStore, version: StaticString, _ write: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    switch self {
    case .document: try Self.writeDocument(messages, version, write)
    case .lines: try Self.writeLines(messages, write)
    }
  }

  private static let pieceSize = 1 << 16

  /// The metadata of a message; nil if it cannot be read.
  private static func metadata(_ message: [UInt8]?) -> HDR10PlusMetadata? {
    guard let message, let country = message.first else { return nil }
    let userData = RegisteredUserData(countryCode: country, data: Array(message.dropFirst()))
    do throws(BitstreamError) { return try HDR10PlusMetadata(userData) } catch { return nil }
  }

  // MARK: The document

  private static func writeDocument<Failure: Error>(
    _ messages: PictureMessageStore, _ version: StaticString, _ write: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var json = JSONText(isIndented: true)
    json.open()
    json.key("JSONInfo")
    json.open()
    json.member("HDR10plusProfile", profile(of: messages))
    json.member("Version", string: metadata(messages.message(at: 0))?.version == 0 ? "0.0" : "1.0")
    json.close()
    json.openArray("SceneInfo")
    var (scene, first) = (0, 0)
    var last: HDR10PlusMetadata?
    for picture in 0..<messages.count {
      if !messages.isRepeated(at: picture) {
        if picture > 0 { scene += 1 }
        first = picture
        last = metadata(messages.message(at: picture))
      }
      guard let last else { continue }
      json.append(last, scene: scene, picture: picture, inScene: picture - first)
      if json.bytes.count > pieceSize { try write(json.take()) }
    }
    json.closeArray()
    json.key("SceneInfoSummary")
    json.open()
    json.openArray("SceneFirstFrameIndex")
    for picture in 0..<messages.count where !messages.isRepeated(at: picture) { json.value(Int64(picture)) }
    json.closeArray()
    json.openArray("SceneFrameNumbers")
    first = 0
    for picture in 1...max(messages.count, 1) where !messages.isRepeated(at: picture) {
      json.value(Int64(picture - first))
      first = picture
    }
    json.closeArray()
    json.close()
    json.key("ToolInfo")
    json.open()
    json.member("Tool", "h26x")
    json.member("Version", version)
    json.close()
    json.close()
    json.endLine()
    try write(json.take())
  }

  /// "A" or "B" if all pictures are of this profile.
  private static func profile(of messages: PictureMessageStore) -> StaticString {
    var profile: HDR10PlusMetadata.Profile?
    for picture in 0..<messages.count where !messages.isRepeated(at: picture) {
      guard let next = metadata(messages.message(at: picture))?.profile, profile == nil || next == profile else {
        return "N/A"
      }
      profile = next
    }
    return profile?.name ?? "N/A"
  }

  // MARK: Lines

  private static func writeLines<Failure: Error>(
    _ messages: PictureMessageStore, _ write: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var json = JSONText()
    var last: HDR10PlusMetadata?
    for picture in 0..<messages.count {
      if !messages.isRepeated(at: picture) { last = metadata(messages.message(at: picture)) }
      guard let last else { continue }
      json.append(last, picture: picture)
      json.endLine()
      if json.bytes.count > pieceSize { try write(json.take()) }
    }
    try write(json.take())
  }
}

extension JSONText {
  /// Returns the bytes that were written, and empties ``bytes``.
  fileprivate mutating func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    return taken
  }

  private mutating func member(_ name: StaticString, numbers: some Sequence<some BinaryInteger>) {
    openArray(name)
    for number in numbers { value(Int64(clamping: number)) }
    closeArray()
  }

  /// An element of `SceneInfo`.
  fileprivate mutating func append(_ metadata: HDR10PlusMetadata, scene: Int, picture: Int, inScene index: Int) {
    guard let window = metadata.windows.first else { return }
    open()
    if let curve = window.toneMapping {
      key("BezierCurveData")
      open()
      member("Anchors", numbers: curve.anchors)
      member("KneePointX", curve.kneePointX)
      member("KneePointY", curve.kneePointY)
      close()
    }
    key("LuminanceParameters")
    open()
    member("AverageRGB", window.averageMaximum)
    key("LuminanceDistributions")
    open()
    member("DistributionIndex", numbers: window.distribution.map { $0.percentage })
    member("DistributionValues", numbers: window.distribution.map { $0.luminance })
    close()
    member("MaxScl", numbers: window.maximumComponents)
    close()
    member("NumberOfWindows", 1)
    member("TargetedSystemDisplayMaximumLuminance", metadata.targetedMaximumLuminance)
    member("SceneFrameIndex", index)
    member("SceneId", scene)
    member("SequenceFrameIndex", picture)
    close()
  }

  /// An object with all syntax elements of a picture.
  fileprivate mutating func append(_ metadata: HDR10PlusMetadata, picture: Int) {
    let names = HDR10PlusFile.names
    open()
    member(names[0], picture)
    member(names[1], metadata.version)
    openArray(names[2])
    for window in metadata.windows { append(window) }
    closeArray()
    member(names[3], metadata.targetedMaximumLuminance)
    if let peaks = metadata.targetedPeakLuminance { append(peaks, names[4]) }
    if let peaks = metadata.masteringPeakLuminance { append(peaks, names[5]) }
    // Zero bits fill the last byte anyway.
    if metadata.trailingBits.count > 7 || !metadata.trailingBits.isZero {
      key(names[6])
      value(text: ReportText(bytes: metadata.trailingBits.bits.map { $0 ? 0x31 : 0x30 }))
    }
    close()
  }

  private mutating func append(_ window: HDR10PlusMetadata.Window) {
    let (names, points, numbers) = (
      HDR10PlusFile.windowNames, HDR10PlusFile.pointNames, HDR10PlusFile.regionNames
    )
    open()
    if let region = window.region {
      for (name, point) in zip(points, [region.upperLeft, region.lowerRight, region.centre]) {
        member(name, numbers: [point.x, point.y])
      }
      member(numbers[0], region.rotationAngle)
      member(numbers[1], region.internalSemimajorAxis)
      member(numbers[2], region.externalSemimajorAxis)
      member(numbers[3], region.externalSemiminorAxis)
      member(numbers[4], region.isLayered ? 1 : 0)
    }
    member(names[0], numbers: window.maximumComponents)
    member(names[1], window.averageMaximum)
    member(names[2], numbers: window.distribution.map { $0.percentage })
    member(names[3], numbers: window.distribution.map { $0.luminance })
    member(names[4], window.fractionBrightPixels)
    if let curve = window.toneMapping {
      member(names[5], numbers: [curve.kneePointX, curve.kneePointY])
      member(names[6], numbers: curve.anchors)
    }
    if let weight = window.colourSaturationWeight { member(names[7], weight) }
    close()
  }

  private mutating func append(_ peaks: HDR10PlusMetadata.PeakLuminance, _ name: StaticString) {
    key(name)
    open()
    member("rows", peaks.rows)
    member("columns", peaks.columns)
    member("values", numbers: peaks.values)
    close()
  }
}
