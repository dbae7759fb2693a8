// SPDX-License-Identifier: MPL-2.0

/// An item of a report. They come in this order: the stream; access units, each after the parameter sets that are new
/// in it and before its findings; the summary.
public enum ReportItem: Sendable {
  /// The stream. Comes first.
  case stream(StreamRecord)
  /// A parameter set that is new, or has other content than the set before of its type and id.
  case parameterSet(ParameterSetRecord)
  /// An access unit.
  case accessUnit(AccessUnitRecord)
  /// A broken rule.
  case finding(Finding)
  /// The summary. Comes last.
  case summary(SummaryRecord)
}
