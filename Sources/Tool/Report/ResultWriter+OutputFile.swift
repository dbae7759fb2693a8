// SPDX-License-Identifier: MPL-2.0
import Containers

extension ResultWriter {
  init(_ output: OutputFile) throws(Failure) { self.init(try output.open(), name: output.name) }
}
