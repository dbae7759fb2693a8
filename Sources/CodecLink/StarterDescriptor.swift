// SPDX-License-Identifier: MPL-2.0

/// The descriptors that the application hands its starter, beside the first three, which are /dev/null.
package enum StarterDescriptor {
  /// The socket for requests. A session's process has its own under the same number.
  package static let link: Int32 = 3
  /// The end of a pipe in which nothing comes: the kernel kills the starter when the application's end closes, a stopped
  /// starter too.
  package static let lifeline: Int32 = 4
  /// The last one.
  package static let last = lifeline
}
