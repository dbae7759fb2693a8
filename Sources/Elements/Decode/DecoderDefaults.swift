// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Defaults of properties that come from the environment, for applications that cannot be edited. Read once.
struct DecoderDefaults: Sendable {
  /// The variable for `isolation`.
  static let isolationVariable = "H26X_ISOLATION"
  /// The variable for `hardware`.
  static let hardwareVariable = "H26X_HARDWARE"

  /// The defaults of this process.
  static let current = DecoderDefaults(ApplicationEnvironment.value)

  var isolation = DecoderSettings.Isolation.none
  var hardware = DecoderSettings.Hardware.off
  /// Describes an invalid value; `nil` if all are valid.
  private(set) var fault: String?

  /// Reads the variables' values, which are spelled like the properties' values; other values change nothing.
  init(_ value: (String) -> String?) {
    take(value(Self.isolationVariable), of: Self.isolationVariable, into: \.isolation)
    take(value(Self.hardwareVariable), of: Self.hardwareVariable, into: \.hardware)
  }

  private mutating func take<Choice: PropertyEnumeration & CaseIterable>(
    _ value: String?, of variable: String, into field: WritableKeyPath<Self, Choice>
  ) {
    guard let value, !value.isEmpty else { return }
    if let choice = Choice.allCases.first(where: { "\($0.nick.nick)" == value }) {
      self[keyPath: field] = choice
    } else {
      let choices = Choice.allCases.map { "\($0.nick.nick)" }.joined(separator: ", ")
      fault = "\(variable)=\(value) is ignored: use \(choices)"
    }
  }
}
