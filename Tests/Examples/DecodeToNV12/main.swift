// SPDX-License-Identifier: MPL-2.0
// The program of docs/embedding.md; DocumentationExampleTests compares the two and runs this one.
// BEGIN
import Foundation
import VideoDecoding
import VideoFiles

// INPUT (.h264 or .h265, Annex B) to OUTPUT, picture after picture as NV12.
let (input, output) = (CommandLine.arguments[1], URL(filePath: CommandLine.arguments[2]))
var configuration = SessionConfiguration()
configuration.outputLayout = .semiPlanar
try Data().write(to: output)
let file = try FileHandle(forWritingTo: output)
for try await picture in DecodedPictures(of: try AccessUnits(fileAt: input), configuration: configuration) {
  for index in 0..<picture.planeCount {
    let plane = picture.plane(index)
    for row in 0..<plane.rowCount {
      try plane.row(row).withUnsafeBytes { try file.write(contentsOf: $0) }
    }
  }
}
// END
