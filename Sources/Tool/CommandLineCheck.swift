// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers

/// Finds arguments that the argument parser would misread. It takes an argument with one dash for a cluster of short
/// options: `-dash.mp4` for a request for help, because there is an h in it.
enum CommandLineCheck {
  /// Ends with status 64 if the subcommand or a short option does not exist.
  static func check(_ arguments: [String]) throws(Failure) {
    let subcommands = H26xCommand.configuration.subcommands
    let names = subcommands.map { $0.configuration.commandName ?? "" }
    guard let first = arguments.first else {
      throw Failure("expected a subcommand: \(Text.list(names, "or")); see h26x --help", .usage)
    }
    guard ["help", "-h", "--help"].contains(first) else {
      if !first.hasPrefix("-"), !names.contains(first) { throw unknownSubcommand(first, names) }
      let subcommand = subcommands.first { $0.configuration.commandName == first } ?? H26xCommand.self
      return try checkOptions(arguments, H26xCommand.helpMessage(for: subcommand, columns: 500))
    }
    let wanted = arguments.dropFirst().filter { !["-h", "--help"].contains($0) }
    if let name = wanted.first(where: { !names.contains($0) }) { throw unknownSubcommand(name, names) }
    if wanted.count > 1 {
      throw Failure("help takes one subcommand, not \(Text.list(wanted)); see h26x --help", .usage)
    }
  }

  /// - Parameter help: the subcommand's help, which has the names of its options.
  private static func checkOptions(_ arguments: [String], _ help: String) throws(Failure) {
    var previous = ""
    for argument in arguments.prefix(while: { $0 != "--" }) {
      defer { previous = argument }
      guard argument.hasPrefix("-"), !argument.hasPrefix("--"), !["-", "-h", "-o"].contains(argument),
        // A negative number behind an option is its value, and so is a range that only has an end.
        !isValue(argument) || !previous.hasPrefix("--")
      else { continue }
      throw Failure("unknown option \(argument): \(remedy(for: argument, help))", .usage)
    }
  }

  private static func isValue(_ argument: String) -> Bool {
    Double(argument) != nil || argument.dropFirst().first.map { $0.isNumber || $0 == "#" } ?? false
  }

  private static func remedy(for argument: String, _ help: String) -> String {
    let words = help.split { !($0.isLetter || $0 == "-") }
    if words.contains("-\(argument)") { return "write -\(argument)" }
    if argument.hasPrefix("-o"), words.contains("-o") { return "write -o \(argument.dropFirst(2))" }
    return "to name a file, write ./\(argument), or put it after --"
  }

  private static func unknownSubcommand(_ name: String, _ names: [String]) -> Failure {
    let nearest = names.map { (name: $0, distance: $0.hasPrefix(name) ? 1 : distance(name, $0)) }
      .min { $0.distance < $1.distance }
    let hint =
      if let nearest, name.count > 1, nearest.distance <= 2 {
        "did you mean \(nearest.name)?"
      } else {
        "expected \(Text.list(names, "or"));"
      }
    return Failure("unknown subcommand \(name): \(hint) see h26x --help", .usage)
  }

  /// The least number of characters to insert, remove, replace or swap with the next that make one word the other.
  static func distance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one), Array(other))
    // The distances of the beginnings of `a`, two rows back, to all beginnings of `b`.
    var (before, last) = ([Int](), Array(0...b.count))
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var least = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[b.count]
  }
}
