// SPDX-License-Identifier: MPL-2.0
import Slices

/// Holds statistics apart from a record: most records have none, and all are copied.
final class StatisticsBox: Sendable {
  let value: PictureStatistics

  init(_ value: PictureStatistics) { self.value = value }
}
