// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Glibc

/// The program: what it is called, and what it can do.
@main
struct H26xCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "h26x",
    abstract: "Looks into H.264 and H.265 streams, decodes, repackages and plays them.",
    discussion: """
      Every FILE may be an Annex B byte stream or what GStreamer can take apart: MP4, MOV, Matroska, MPEG-TS, FLV, AVI. \
      - is standard input or output. Results go to standard output, everything else to standard error.

      Exit status: 0 done; 1 it could not be done; 2 the stream is not what it should be; 64 wrong usage; 130 and 143 \
      after an interrupt or a request to end.
      """,
    version: Release.text,
    subcommands: [
      InfoCommand.self, DecodeCommand.self, RepackCommand.self, SnapshotCommand.self, CompareCommand.self,
      PlayCommand.self, ReceiveCommand.self, DemoCommand.self,
      InspectCommand.self, CheckCommand.self, ReportCommand.self,
    ])

  /// Runs what the command line says. An error ends in one line on standard error.
  static func main() async {
    holdStandardDescriptors()
    Interruption.watch()
    // A file that may not grow any more is an error of writing, not the end of the program.
    signal(SIGXFSZ, SIG_IGN)
    do {
      let command = try parseAsRoot()
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

  /// Of the three standard descriptors, what was closed is opened, so that no file gets its number: there is nothing to
  /// read then, and nothing can be written.
  private static func holdStandardDescriptors() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Leaves with the status that the error has, after its message.
  private static func end(_ error: (any Error)?) -> Never {
    let isWritten = fflush(nil) == 0
    let error = error ?? (isWritten ? nil : Failure("standard output: cannot be written: \(systemError())"))
    OutputFile.removeUnfinished()
    if let signal = Interruption.signal {
      if let failure = error as? Failure { Terminal.say(failure.message) }
      Glibc.exit(128 + signal)
    }
    guard let error else { Glibc.exit(0) }
    if let failure = error as? Failure {
      Terminal.say(failure.message)
      Glibc.exit(failure.status.rawValue)
    }
    let code = exitCode(for: error)
    if code == .validationFailure {
      Terminal.say("\(message(for: error).split(separator: "\n").joined(separator: " ")); \(usage(for: error))")
      Glibc.exit(Failure.Status.usage.rawValue)
    }
    if code == .success {
      print(fullMessage(for: error))
      fflush(nil)
      Glibc.exit(0)
    }
    Terminal.say(message(for: error))
    Glibc.exit(Failure.Status.failed.rawValue)
  }

  /// Where to read more: the subcommand's help, as the parser names it.
  private static func usage(for error: any Error) -> String {
    let full = fullMessage(for: error)
    guard let line = full.split(separator: "\n").last(where: { $0.contains("--help") }),
      let start = line.firstIndex(of: "'"), let end = line.lastIndex(of: "'"), start < end
    else { return "see h26x --help" }
    return "see \(line[line.index(after: start)..<end])"
  }
}
