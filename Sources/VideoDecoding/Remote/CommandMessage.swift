// SPDX-License-Identifier: MPL-2.0
import CodecLink

/// Commands that are collected for the next message to a codec's process.
struct CommandMessage {
  private(set) var writer = MessageWriter()
  private(set) var descriptors: [Int32] = []
  /// The number of commands that decode.
  private(set) var accessUnitCount = 0
  /// Whether the process answers the message.
  private(set) var isAnswered = false

  /// Appends a command, and the descriptors that come with it.
  mutating func append(_ command: CodecCommand, descriptors: [Int32] = []) {
    command.write(to: &writer)
    self.descriptors += descriptors
    if case .decode = command { accessUnitCount += 1 }
    if command.isAnswered { isAnswered = true }
  }

  mutating func removeAll() {
    writer.removeAll()
    descriptors.removeAll()
    (accessUnitCount, isAnswered) = (0, false)
  }
}
