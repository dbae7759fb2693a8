// SPDX-License-Identifier: MPL-2.0

/// A syntax element of a parameter set that an edit has changed.
public struct FieldChange: Sendable {
  /// The kind of a parameter set.
  public enum ParameterSet: UInt8, Sendable {
    /// H.265's video parameter set.
    case video
    /// A sequence parameter set.
    case sequence
    /// H.264's subset sequence parameter set, whose ids are its own.
    case subset

    /// "VPS", "SPS" or "subset SPS".
    public var name: StaticString {
      switch self {
      case .video: "VPS"
      case .sequence: "SPS"
      case .subset: "subset SPS"
      }
    }
  }

  /// The kind of the parameter set.
  public let set: ParameterSet
  /// Its id.
  public let id: UInt8
  /// The syntax element, by its name in the Recommendation.
  public let element: StaticString
  /// The value before; nil if the element was not there.
  public let old: Int64?
  /// The value after; nil if the element is gone.
  public let new: Int64?
}

extension FieldChange: CustomStringConvertible {
  /// For people: "SPS 0: colour_primaries: absent, now 1".
  public var description: String {
    let (before, after) = (old.map { "\($0)" } ?? "absent", new.map { "\($0)" } ?? "absent")
    return "\(set.name) \(id): \(element): \(before), now \(after)"
  }
}

extension FieldChange {
  /// How far to search one set for an element that only the other set has. It is longer than any optional part of VUI
  /// and HRD parameters for one buffer.
  private static var reach: Int { 64 }

  /// The elements in which two readings of a parameter set differ, in the order in which they are sent.
  static func list(_ set: ParameterSet, id: UInt8, _ old: SyntaxTrace, _ new: SyntaxTrace) -> [FieldChange] {
    let (before, after) = (old.elements, new.elements)
    var changes: [FieldChange] = []
    func append(_ old: SyntaxTrace.Element?, _ new: SyntaxTrace.Element?) {
      guard let name = (old ?? new)?.name else { return }
      changes.append(FieldChange(set: set, id: id, element: name, old: old?.value, new: new?.value))
    }
    var (i, j) = (0, 0)
    while i < before.count, j < after.count {
      let (left, right) = (before[i], after[j])
      if left.isNamed(like: right) {
        if left.value != right.value { append(left, right) }
        (i, j) = (i + 1, j + 1)
      } else if let end = after.index(ofNamesake: left, from: j, reach) {
        for element in after[j..<end] { append(nil, element) }
        j = end
      } else if let end = before.index(ofNamesake: right, from: i, reach) {
        for element in before[i..<end] { append(element, nil) }
        i = end
      } else {
        append(left, nil)
        append(nil, right)
        (i, j) = (i + 1, j + 1)
      }
    }
    for element in before[i...] { append(element, nil) }
    for element in after[j...] { append(nil, element) }
    return changes
  }
}

extension SyntaxTrace.Element {
  fileprivate func isNamed(like other: Self) -> Bool { name.description == other.name.description }
}

extension Array where Element == SyntaxTrace.Element {
  fileprivate func index(ofNamesake element: Element, from start: Int, _ reach: Int) -> Int? {
    self[start..<Swift.min(count, start + reach)].firstIndex { $0.isNamed(like: element) }
  }
}
