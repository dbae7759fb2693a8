// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Children that an application is left with.
@Suite struct ChildTests {
  /// Has these system calls fail with ENOSYS, as in a container whose filter does not know them.
  private static func denying(_ numbers: String) -> [String] { [Host.program.path, "deny", "38", numbers] }

  @Test("where the kernel has no pidfd_open, failed starts leave no child")
  func failedStartsWithoutPidfdLeaveNoChild() throws {
    #expect(try Host.lines(["fail"], before: Self.denying("434")) == ["after failures: 0 running, 0 ended"])
  }

  @Test("where a program cannot be executed, failed starts leave no child")
  func failedExecutionsLeaveNoChild() throws {
    #expect(
      try Host.lines(["fail"], environment: ["H26X_CODEC_SERVICE": "/bin/false"]) == [
        "after failures: 0 running, 0 ended"
      ])
  }

  private static let expected = ["starter killed: 1 running, 0 ended", "starter stopped: 1 running, 0 ended"]

  @Test("an application that is the parent of orphans reaps the children that a starter leaves")
  func parentOfOrphansReapsThem() throws { #expect(try Host.lines(["lose"]) == Self.expected) }

  /// Whether this kernel lets the test make a process the first of a namespace.
  private static let container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
  private static let hasContainers = (try? Host.run((container + ["true"]).joined(separator: " "))) == true

  @Test("an application that is the first process of a container reaps them too", .enabled(if: hasContainers))
  func firstProcessOfAContainerReapsOrphans() throws {
    #expect(try Host.lines(["lose"], before: Self.container) == Self.expected)
  }
}
