// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import Glibc
import H26x
import SystemPackage

/// The program `h26x`: its subcommands, and how it ends.
@main
struct H26xCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "h26x",
    abstract: "Inspects, checks, decodes, repackages, edits and plays H.264 and H.265 streams.",
    discussion: """
      Every FILE may be an Annex B byte stream or a container: MP4, MOV, Matroska, MPEG-TS, FLV, AVI. - is \
      standard input or output. Results go to standard output, everything else to standard error.

      Exit status: 0 success; 1 failure; 2 the stream is damaged, differs or violates the standard; 64 wrong usage; \
      129, 130 and 143 after SIGHUP, SIGINT and SIGTERM.
      """,
    version: "h26x \(ReleaseVersion.text)",
    subcommands: [
      InfoCommand.self, DecodeCommand.self, HashCommand.self, RepackCommand.self, CutCommand.self,
      JoinCommand.self, EditCommand.self, ExtractCommand.self, SnapshotCommand.self, CompareCommand.self,
      PlayCommand.self, ReceiveCommand.self, DemoCommand.self,
      InspectCommand.self, CheckCommand.self, ReportCommand.self,
    ])

  /// Runs the subcommand. An error is one line on standard error.
  static func main() async {
    holdStandardDescriptors()
    _ = OpenFile.inherited
    do throws(Failure) { try ThreadTrial.check() } catch { end(error) }
    Interruption.watch()
    // A file that reaches the size limit (ulimit -f) is a write error, not the end of the program.
    signal(SIGXFSZ, SIG_IGN)
    do {
      let arguments = ArgumentText.all
      if arguments == ["--version", "--verbose"] {
        print(([configuration.version] + PluginDecoder.protection).joined(separator: "\n"))
        end(nil)
      }
      try CommandLineCheck.check(arguments)
      let command = try parseAsRoot(arguments)
      if let command = command as? any DecodesPictures { PluginDecoder.configure(command.isolation) }
      if let command = command as? any ShowsProgress {
        Progress.configure(command.progress.progress, command: type(of: command).configuration.commandName ?? "")
      }
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        var command = command
        try command.run()
      }
    } catch {
      end(error)
    }
    end(nil)
  }

  /// Opens /dev/null, for reading only, as each standard descriptor that is closed, so that no other file gets its
  /// number.
  private static func holdStandardDescriptors() {
    for descriptor in [.standardInput, .standardOutput, .standardError] as [FileDescriptor] where !descriptor.isOpen {
      _ = try? unsafe FileDescriptor.open("/dev/null", .readOnly)
    }
  }

  /// Prints the error's message and exits with its status.
  private static func end(_ error: (any Error)?) -> Never {
    let isWritten = fflush(nil) == 0
    let error = error ?? (isWritten ? nil : Failure("standard output: cannot be written: \(Errno.last)"))
    Ending.perform()
    if let signal = Interruption.signal {
      if let failure = error as? Failure { Terminal.say(failure.message) }
      Glibc.exit(ExitStatus.ended(by: signal))
    }
    guard let error else { Glibc.exit(0) }
    if let failure = error as? Failure {
      Terminal.say(failure.message)
      Glibc.exit(failure.status.rawValue)
    }
    let code = exitCode(for: error)
    if code == .validationFailure {
      Terminal.say("\(message(for: error).split(separator: "\n").joined(separator: " ")); \(usage(for: error))")
      Glibc.exit(ExitStatus.usage.rawValue)
    }
    if code == .success {
      print(
        fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false).map(wrapped).joined(
          separator: "\n"))
      guard fflush(nil) == 0 else {
        Terminal.say("standard output: cannot be written: \(Errno.last)")
        Glibc.exit(ExitStatus.failed.rawValue)
      }
      Glibc.exit(0)
    }
    Terminal.say(message(for: error))
    Glibc.exit(ExitStatus.failed.rawValue)
  }

  /// Wraps a line of help. The parser wraps all lines but the usage.
  private static func wrapped(_ line: Substring) -> String {
    let start = "USAGE: "
    guard line.hasPrefix(start) else { return String(line) }
    return Text.wrapped(String(line), width: Terminal.width, indent: start.count + 2)
  }

  /// `see h26x SUBCOMMAND --help`, taken from the parser's own message.
  private static func usage(for error: any Error) -> String {
    let full = fullMessage(for: error)
    guard let line = full.split(separator: "\n").last(where: { $0.contains("--help") }),
      let start = line.firstIndex(of: "'"), let end = line.lastIndex(of: "'"), start < end
    else { return "see h26x --help" }
    return "see \(line[line.index(after: start)..<end])"
  }
}
