// SPDX-License-Identifier: MPL-2.0
import CodecPeers
import FuzzDriver

fuzz { input in
  do { try LyingApplication.run([UInt8](input, 0..<input.count)) } catch { fatalError("no descriptors: \(error)") }
}
