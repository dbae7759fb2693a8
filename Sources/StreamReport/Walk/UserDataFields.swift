// SPDX-License-Identifier: MPL-2.0
import H26x

/// The syntax elements in registered user data, in place of its bytes.
enum UserDataFields {
  /// Makes fields of the syntax elements of a NAL unit. The bytes of captions and HDR10+ are replaced by the elements
  /// that they hold. Damaged and unknown user data keep their bytes.
  static func fields(_ elements: [SyntaxTrace.Element]) -> [SyntaxField] {
    var fields: [SyntaxField] = []
    fields.reserveCapacity(elements.count)
    var index = 0
    while index < elements.count {
      let field = SyntaxField(elements[index])
      fields.append(field)
      index += 1
      guard field.isNamed("itu_t_t35_country_code"), index < elements.count else { continue }
      let start = elements[index].bitOffset
      var data: [UInt8] = []
      var end = index
      while end < elements.count, SyntaxField(elements[end]).isNamed("itu_t_t35_payload_byte") {
        data.append(UInt8(truncatingIfNeeded: elements[end].value))
        end += 1
      }
      let userData = RegisteredUserData(countryCode: UInt8(truncatingIfNeeded: field.value), data: data)
      guard let known = Self.elements(in: userData) else { continue }
      for element in known {
        fields.append(SyntaxField(element.name, element.value, at: start + element.bitOffset, count: element.bitCount))
      }
      index = end
    }
    return fields
  }

  /// The elements; nil for unknown and damaged user data.
  private static func elements(in userData: RegisteredUserData) -> [SyntaxTrace.Element]? {
    let trace = SyntaxTrace()
    do throws(BitstreamError) {
      if userData.isHDR10Plus {
        _ = try HDR10PlusMetadata(userData, trace: trace)
      } else {
        guard try CaptionMessage(userData, trace: trace) != nil else { return nil }
      }
    } catch {
      return nil
    }
    return trace.elements
  }
}
