// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// Actions that remain when the program ends, whether its subcommand has returned or a signal ends it immediately.
/// Temporary files are removed, and the terminal gets its settings back.
package enum Ending {
  /// Identifies an action.
  package struct Key: Sendable, Hashable { fileprivate let number: Int }

  private static let actions = Mutex<(all: [Key: @Sendable () -> Void], next: Int)>(([:], 0))

  /// Adds an action, which may be performed on any thread. It must not add or perform actions itself.
  package static func add(_ action: @escaping @Sendable () -> Void) -> Key {
    actions.withLock { actions in
      let key = Key(number: actions.next)
      actions.next += 1
      actions.all[key] = action
      return key
    }
  }

  /// Performs an action now, if it is still to be done.
  package static func perform(_ key: Key) { actions.withLock { $0.all.removeValue(forKey: key)?() } }

  /// Removes an action that is not needed any more.
  static func forget(_ key: Key) { actions.withLock { _ = $0.all.removeValue(forKey: key) } }

  /// Performs all actions. They are performed under the lock: a second thread that ends the program waits for them.
  package static func perform() {
    actions.withLock { actions in
      for action in actions.all.values { action() }
      actions.all = [:]
    }
  }
}
