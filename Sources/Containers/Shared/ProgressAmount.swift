// SPDX-License-Identifier: MPL-2.0
import GStreamer
import StreamReport

/// The completed amount of a task.
struct ProgressAmount: Sendable {
  /// The unit of the amount.
  enum Unit: String, Sendable {
    /// Seconds of the media.
    case seconds
    /// Bytes of the file.
    case bytes
  }

  var done: Double
  /// `nil` if it is not known.
  var total: Double?
  var unit: Unit

  /// The longest line that fits into a number of columns: completed amount, total, per cent, time left and rate.
  ///
  /// - Parameter spent: seconds since the start; `nil` if a rate means nothing.
  func line(spent: Double?, fitting width: Int) -> String {
    let rate = spent.map { $0 > 0 ? done / $0 : 0 } ?? 1
    let rateText =
      spent == nil ? "" : unit == .seconds ? ", speed \(Text.fixed(rate, 1))" : ", \(Text.fixed(rate / 1e6, 1)) MB/s"
    let place = text(done)
    var lines = [place + rateText, place]
    if let total, total > 0 {
      let share = "\(Int(min(done / total, 1) * 100)) %"
      let left = rate > 0 ? ", \(Text.clock(max(total - done, 0) / rate)) left" : ""
      let whole = "\(place) of \(text(total)), \(share)\(left)"
      lines = [whole + rateText, whole, "\(place), \(share)\(left)", "\(share)\(left)", share]
    }
    return lines.first { $0.count <= width } ?? String(lines.last?.prefix(max(width, 0)) ?? "")
  }

  private func text(_ amount: Double) -> String {
    switch unit {
    case .seconds: Text.time(ClockTime(nanoseconds: UInt64(min(max(amount, 0) * 1e9, 1e19))))
    case .bytes: "\(Text.fixed(amount / 1e6, 1)) MB"
    }
  }

  /// One line: an object with the members command, done, total, unit, rate and left. Unknown values are null.
  ///
  /// - Parameter spent: seconds since the start.
  func json(_ command: String, spent: Double) -> String {
    let rate = spent > 0 ? done / spent : nil
    var json = JSONText()
    json.open()
    json.member("command", string: command)
    Self.add(&json, "done", done, unit)
    Self.add(&json, "total", total, unit)
    json.member("unit", string: unit.rawValue)
    Self.add(&json, "rate", rate, unit)
    // The time left, whatever the unit is.
    Self.add(&json, "left", total.flatMap { total in rate.map { max(total - done, 0) / $0 } }, .seconds)
    json.close()
    json.endLine()
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private static func add(_ json: inout JSONText, _ name: StaticString, _ number: Double?, _ unit: Unit) {
    json.key(name)
    json.value(literal: number.flatMap { $0.isFinite ? Text.fixed($0, unit == .seconds ? 3 : 0) : nil } ?? "null")
  }
}
