// SPDX-License-Identifier: MPL-2.0
import VideoDecoding
import VideoFiles

// The code of the module's page and of README, checked by ArticleTests.

/// How many pictures an MP4 shows from a time on.
func pictureCount(inMP4At path: String, from time: Duration) async throws -> Int {
  let accessUnits = try MP4AccessUnits(fileAt: path).part(from: time)
  var count = 0
  for try await _ in DecodedPictures(of: accessUnits) { count += 1 }
  return count
}

/// The darkest picture of an MP4, and when it is shown.
func darkestPicture(inMP4At path: String) async throws -> (luma: Int, time: Duration)? {
  var darkest: (luma: Int, time: Duration)?
  for try await picture in DecodedPictures(of: try MP4AccessUnits(fileAt: path)) {
    let luma = picture.plane(0)
    var sum = 0
    for number in 0..<luma.rowCount {
      let row = luma.row(number)
      for column in row.indices { sum += Int(row[column]) }
    }
    guard let time = picture.time, sum < darkest?.luma ?? .max else { continue }
    darkest = (sum, time)
  }
  return darkest
}

/// The picture that an MP4 shows at a time: the last one that has begun by then.
func picture(inMP4At path: String, at time: Duration) async throws -> DecodedPicture? {
  // Pictures of this file last two seconds at most. Of a slide show they would last longer.
  let accessUnits = try MP4AccessUnits(fileAt: path).part(from: time - .seconds(2))
  var shown: DecodedPicture?
  for try await picture in DecodedPictures(of: accessUnits) {
    guard let start = picture.time, start <= time else { break }
    shown = picture
  }
  return shown
}
