// SPDX-License-Identifier: MPL-2.0
import Elements
import HarnessSupport

/// Registers the element classes in this process, once.
enum Registration {
  static let succeeded: Bool = {
    Harness.initialise()
    return Elements.register(in: nil)
  }()
}
