// SPDX-License-Identifier: MPL-2.0
// Writes pictures of an MP4 or MOV file as PNG, evenly spaced: frames-to-png INPUT FOLDER [COUNT]
import Foundation
import H26x
import VideoDecoding
import VideoFiles

let arguments = CommandLine.arguments
guard arguments.count >= 3, let count = Int(arguments.count > 3 ? arguments[3] : "4"), count > 0 else {
  FileHandle.standardError.write(Data("usage: frames-to-png INPUT FOLDER [COUNT]\n".utf8))
  exit(64)
}
let folder = URL(filePath: arguments[2])
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

let file = try MP4AccessUnits(fileAt: arguments[1])
let duration = file.duration ?? .zero
for number in 0..<count {
  // Reading begins at the keyframe before; only what is shown from this time on comes out.
  var pictures = DecodedPictures(of: file.part(from: duration * number / count)).makeAsyncIterator()
  guard let picture = try await pictures.next() else { continue }
  // On square pixels, 320 wide at most.
  let size = picture.presentationSize
  let width = min(size.width, 320)
  let converter = PictureConverter(
    to: .rgba, size: VideoSize(width: width, height: max(1, size.height * width / max(1, size.width))))
  let image = converter.convert(picture)
  let name = folder.appending(path: "frame-\(number).png")
  try Data(png(image)).write(to: name)
  print("\(name.path()): \(image.width) × \(image.height), shown at \(picture.time ?? .zero)")
}
