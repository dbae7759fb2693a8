// SPDX-License-Identifier: MPL-2.0
import CodecPeers
import FuzzDriver

fuzz { input in
  if let fault = LyingProcessSession.run([UInt8](input, 0..<input.count)) { fatalError(fault) }
}
