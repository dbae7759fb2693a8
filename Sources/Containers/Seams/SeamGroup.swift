// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Access units that leave together, once they are verified: the encoded pictures of a seam, and the first copied access
/// units behind them, up to the next entry.
///
/// The source is decoded, and wanted pictures are encoded. Each access unit of the copy is decoded as soon as its numbers
/// are known.
struct SeamGroup<Codec: SeamSyntax> {
  typealias AccessUnit = MediaOutput.AccessUnit

  let format: MediaOutput.VideoFormat
  /// See ``SeamMaking/take(_:_:beginsAnew:)``.
  let beginsAnew: Bool
  /// Decodes the source's access units.
  let coder: SeamCoder
  /// Decodes those of the copy.
  let check: SeamCheck
  /// The pictures that are encoded; `nil` for none, and when all are.
  var encoding: SeamEncoding<Codec>?
  /// Of the copy.
  var leaving: [AccessUnit] = []
  /// Those that are encoded.
  var encodedCount = 0
  /// Copied ones that are not in ``leaving`` yet.
  var waiting: [AccessUnit] = []

  /// All copied ones, their bytes, and their pictures.
  private(set) var copiedCount = 0
  private var byteCount = 0
  private var pictureCount = 0
  private var pictureLimit = 0
  /// The number of their format.
  private var formatNumber: Int?

  /// Decoders hold 16 frames, so most pictures at the end refer to copied ones only.
  private static var pictureLimit: Int { 32 }
  /// More pictures may be needed to prove an entry that promises nothing: most have B pictures between references.
  private static var unprovenPictureLimit: Int { 96 }
  private static var byteLimit: Int { 1 << 25 }

  /// - Parameters:
  ///   - format: of the access units.
  ///   - hasStartCodes: whether they have start codes, not length prefixes.
  ///   - samples: see ``SeamCoder``.
  init(
    _ encoding: SeamEncoding<Codec>?, _ format: MediaOutput.VideoFormat, hasStartCodes: Bool, beginsAnew: Bool,
    _ samples: [Int64: UInt64]
  ) throws(SeamObstacle) {
    (self.encoding, self.format, self.beginsAnew) = (encoding, format, beginsAnew)
    var settings = encoding?.target.settings
    if let encoding { settings?.initialFullness = encoding.fullness }
    do throws(AVError) { check = try SeamCheck(format, hasStartCodes: hasStartCodes) } catch { throw .damage }
    coder = try SeamCoder(
      settings, times: encoding?.presentations ?? [], format, hasStartCodes: hasStartCodes, check, samples)
  }

  /// Whether the next copied access unit belongs to the group.
  func accepts(_ next: AccessUnit) -> Bool {
    guard let formatNumber else { return true }
    guard next.format == formatNumber else { return false }
    // Frames are not divided.
    let continues = next.role.start == .none && pictureCount < pictureLimit && byteCount < Self.byteLimit
    return continues || next.role.isSecondField
  }

  /// Takes a copied access unit.
  ///
  /// - Parameter isFirst: whether decoding begins with it.
  mutating func add(_ accessUnit: AccessUnit) {
    if formatNumber == nil {
      formatNumber = accessUnit.format
      pictureLimit = accessUnit.role.isUnproven ? Self.unprovenPictureLimit : Self.pictureLimit
    }
    waiting.append(accessUnit)
    copiedCount += 1
    pictureCount += accessUnit.role.isSecondField ? 0 : 1
    byteCount += accessUnit.bytes.count
  }
}
