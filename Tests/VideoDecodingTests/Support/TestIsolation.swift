// SPDX-License-Identifier: MPL-2.0
import Glibc

@testable import VideoDecoding

/// Where sessions decode that no test makes fail: in this process, or each in one of its own where the environment has
/// `TEST_ISOLATION=process`.
enum TestIsolation {
  /// Codecs are in processes of their own.
  static let isTested = unsafe getenv("TEST_ISOLATION").map { unsafe strcmp($0, "process") == 0 } ?? false

  /// What `SessionConfiguration.isolation` is to be.
  static var tested: SessionConfiguration.Isolation { isTested ? .process(ProcessLimits()) : .none }
}
