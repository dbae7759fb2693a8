// SPDX-License-Identifier: MPL-2.0
import Glibc

@testable import VideoDecoding

/// The process of sessions that no test makes fail: this process, or with `TEST_ISOLATION=process` in the environment a
/// process of their own for each.
enum TestIsolation {
  /// Codecs are in processes of their own.
  static let isTested = unsafe getenv("TEST_ISOLATION").map { unsafe strcmp($0, "process") == 0 } ?? false

  /// The value of `SessionConfiguration.isolation`.
  static var tested: SessionConfiguration.Isolation { isTested ? .process(ProcessLimits()) : .none }
}
