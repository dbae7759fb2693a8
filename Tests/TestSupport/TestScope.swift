// SPDX-License-Identifier: MPL-2.0
import Glibc

/// The extent of a test run. `make test` sets `TEST_SCOPE=usual`; all other runs are exhaustive.
public enum TestScope {
  /// Whether the run includes long loops and whole tables.
  public static let isExhaustive = unsafe getenv("TEST_SCOPE").map { unsafe String(cString: $0) } != "usual"
  /// The reason for which a usual run skips a test.
  public static let reason = "make test-all"

  /// All rows of a table; in a usual run, only some that are spread evenly, the first and the last among them.
  public static func rows<Row>(_ all: [Row], usually count: Int) -> [Row] {
    guard !isExhaustive, count < all.count else { return all }
    return (0..<count).map { all[count == 1 ? 0 : $0 * (all.count - 1) / (count - 1)] }
  }
}
