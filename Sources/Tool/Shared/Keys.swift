// SPDX-License-Identifier: MPL-2.0
import Containers
import Glibc
import SystemPackage

/// The keys of `h26x play`, read from the terminal without waiting for the end of a line.
final class Keys: Sendable {
  /// The action of a key.
  enum Key: Sendable {
    case pause, step, back, forward, quit
  }

  /// Restores the terminal's settings.
  private let restoration: Ending.Key
  let pressed: AsyncStream<Key>

  /// `nil` if standard input is not a terminal.
  init?() {
    var settings = termios()
    guard FileDescriptor.standardInput.isTerminal, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
    restoration = Ending.add { [settings] in
      var settings = settings
      unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    let (stream, continuation) = AsyncStream.makeStream(of: Key.self)
    pressed = stream
    let listener = Listener(continuation)
    var thread = pthread_t()
    // The thread waits in read() until the program ends.
    let started = unsafe pthread_create(
      &thread, nil,
      { data in
        guard let data = unsafe data else { return nil }
        let listener = unsafe Unmanaged<Listener>.fromOpaque(data).takeRetainedValue()
        listener.listen()
        return nil
      }, Unmanaged.passRetained(listener).toOpaque())
    if started != 0 { continuation.finish() }
  }

  /// Restores the terminal's settings.
  func restore() { Ending.perform(restoration) }
}

private final class Listener: Sendable {
  private let continuation: AsyncStream<Keys.Key>.Continuation
  init(_ continuation: AsyncStream<Keys.Key>.Continuation) { self.continuation = continuation }

  func listen() {
    var escape = 0
    while let byte = FileDescriptor.standardInput.readAvailable(1).first {
      switch (byte, escape) {
      case (0x1B, _): escape = 1
      case (UInt8(ascii: "["), 1): escape = 2
      case (UInt8(ascii: "C"), 2): press(.forward)
      case (UInt8(ascii: "D"), 2): press(.back)
      case (UInt8(ascii: " "), _): press(.pause)
      case (UInt8(ascii: "."), _): press(.step)
      case (UInt8(ascii: "q"), _): press(.quit)
      default: escape = 0
      }
      if byte != 0x1B, byte != UInt8(ascii: "[") { escape = 0 }
    }
    continuation.finish()
  }

  private func press(_ key: Keys.Key) { continuation.yield(key) }
}
