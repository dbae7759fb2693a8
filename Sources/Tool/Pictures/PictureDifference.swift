// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import Glibc

/// The difference of two pictures, or the sum of several such differences, plane by plane.
struct PictureDifference {
  /// The sum of squared differences of a plane, and the number of samples.
  private struct Plane {
    var squares = 0.0
    var samples = 0.0
  }

  private var planes: [Plane] = []
  private var peak = 255.0
  private var isRGB = false

  /// Nothing compared yet.
  init() {}

  /// Compares two pictures.
  ///
  /// - Parameter number: the picture's number, for the error message.
  /// - Throws: a `Failure` when size or format differ.
  init(_ a: Sample, _ b: Sample, number: Int) throws(Failure) {
    guard let first = a.videoInfo, let second = b.videoInfo, first.format == second.format,
      first.width == second.width, first.height == second.height
    else {
      throw Failure("picture \(number): \(Self.name(a)) in the first, \(Self.name(b)) in the second", .unsoundStream)
    }
    let one = try a.picture()
    let other = try b.picture()
    let bits = first.format.bitDepth
    // In formats such as P010 the lowest bits are padding.
    peak = Double(((1 << bits) - 1) << first.format.paddingBits)
    isRGB = first.format.kind == .rgb
    for plane in 0..<one.planeCount {
      var (sum, count) = (0.0, 0)
      for row in 0..<one.rowCount(ofPlane: plane) {
        let x = one.row(row, ofPlane: plane)
        let y = other.row(row, ofPlane: plane)
        let length = min(x.count, y.count)
        var rowSum = 0
        if bits > 8 {
          for index in stride(from: 0, to: length - 1, by: 2) {
            let difference = (Int(x[index]) | Int(x[index + 1]) << 8) - (Int(y[index]) | Int(y[index + 1]) << 8)
            rowSum += difference * difference
          }
          count += length / 2
        } else {
          for index in 0..<length {
            let difference = Int(x[index]) - Int(y[index])
            rowSum += difference * difference
          }
          count += length
        }
        sum += Double(rowSum)
      }
      planes.append(Plane(squares: sum, samples: Double(count)))
    }
  }

  var isNone: Bool { planes.allSatisfy { $0.squares == 0 } }

  /// Adds the difference of another picture.
  mutating func add(_ other: PictureDifference) {
    (peak, isRGB) = (other.peak, other.isRGB)
    if planes.isEmpty {
      planes = other.planes
    } else {
      planes = zip(planes, other.planes).map { sum, plane in
        Plane(squares: sum.squares + plane.squares, samples: sum.samples + plane.samples)
      }
    }
  }

  /// `Y 42.10 dB, U 44.00 dB, V 43.75 dB`.
  var summary: String {
    let names = planes.count == 3 ? isRGB ? ["G", "B", "R"] : ["Y", "U", "V"] : planes.indices.map { "plane \($0)" }
    return zip(names, planes).map { name, plane in
      let psnr = plane.squares == 0 ? "inf" : Text.fixed(10 * log10(peak * peak * plane.samples / plane.squares), 2)
      return "\(name) \(psnr) dB"
    }.joined(separator: ", ")
  }

  private static func name(_ sample: Sample) -> String {
    sample.videoInfo.map { "\($0.width)x\($0.height) \($0.format.name)" } ?? "no raw video"
  }
}
