// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `scaling_list_data()` (7.3.4): six lists each of 4×4, 8×8 and 16×16, and two of 32×32.
  public struct ScalingLists: Sendable, Hashable {
    /// The lists, by size and then by matrix: 20.
    public var lists: [ScalingList]

    /// One list as it is sent.
    public enum ScalingList: Sendable, Hashable {
      /// Copied from the list `delta` places before of the same size; 0 for the default list of Tables 7-5 and 7-6.
      /// `scaling_list_pred_matrix_id_delta`.
      case predicted(delta: UInt8)
      /// The list in diagonal scan order, 16 or 64 entries; `dc` is `scaling_list_dc_coef_minus8` + 8, for 16×16 and
      /// 32×32 only.
      case explicit([UInt8], dc: UInt8?)
    }

    /// Creates lists.
    ///
    /// - Parameter lists: 20; default lists replace those that are missing.
    public init(_ lists: [ScalingList] = []) {
      self.lists = Array(lists.prefix(Self.places.count))
      while self.lists.count < Self.places.count { self.lists.append(.predicted(delta: 0)) }
    }

    /// Size and matrix of each list, in order.
    private static let places: [(size: Int, matrix: UInt8)] =
      (0..<3).flatMap { size in (0..<6).map { (size, UInt8($0)) } } + [(3, 0), (3, 1)]

    init(_ reader: inout BitReader) throws(BitstreamError) {
      lists = []
      lists.reserveCapacity(Self.places.count)
      for place in Self.places {
        if try reader.flag("scaling_list_pred_mode_flag") {
          lists.append(try ScalingList(&reader, size: place.size))
        } else {
          lists.append(
            .predicted(delta: try reader.ue8(in: 0...place.matrix, "scaling_list_pred_matrix_id_delta")))
        }
      }
    }

    func write(to writer: inout BitWriter) {
      for (list, place) in zip(lists, Self.places) { list.write(to: &writer, size: place.size) }
    }
  }
}

extension H265.ScalingLists.ScalingList {
  private static func count(_ size: Int) -> Int { size == 0 ? 16 : 64 }

  fileprivate init(_ reader: inout BitReader, size: Int) throws(BitstreamError) {
    var next: UInt8 = 8
    var dc: UInt8?
    if size > 1 {
      next = UInt8(truncatingIfNeeded: 8 + (try reader.se(in: -7...247, "scaling_list_dc_coef_minus8")))
      dc = next
    }
    var list: [UInt8] = []
    list.reserveCapacity(Self.count(size))
    for _ in 0..<Self.count(size) {
      // (nextCoef + scaling_list_delta_coef + 256) % 256 is addition modulo 2^8.
      next = next &+ UInt8(truncatingIfNeeded: try reader.se(in: -128...127, "scaling_list_delta_coef"))
      list.append(next)
    }
    self = .explicit(list, dc: dc)
  }

  fileprivate func write(to writer: inout BitWriter, size: Int) {
    switch self {
    case .predicted(let delta):
      writer.flag(false)
      writer.ue(UInt32(delta))
    case .explicit(let list, let dc):
      writer.flag(true)
      var last: UInt8 = 8
      if size > 1 {
        last = dc ?? 16
        writer.se(Int32(last) - 8)
      }
      for index in 0..<Self.count(size) {
        let value = index < list.count ? list[index] : last
        writer.se(Int32(Int8(truncatingIfNeeded: Int(value) - Int(last))))
        last = value
      }
    }
  }
}
