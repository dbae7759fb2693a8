// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport
import SystemPackage

/// The HDR10+ messages of a file. If there are too few, the last one is repeated.
struct HDR10PlusMessages: PictureMessages {
  private let messages: PictureMessageStore

  var count: Int { messages.count }

  /// - Parameter path: of a file in JSON; `-` for standard input.
  init(_ path: FilePath) throws(Failure) {
    let input = try InputFile(path, spoolsMP4: false)
    let (format, bytes) = (HDR10PlusFile(fileName: path.lastComponentBytes), try InputBytes(input))
    do throws(MetadataFileError) { messages = try format.messages(bytes) } catch {
      throw Failure("\(input.name): \(InspectText.string(error.text))")
    }
  }

  func message(at rank: Int) -> [UInt8]? { messages.message(at: min(rank, count - 1)) }
}

/// The RPUs of a file. If there are too few, the last one is repeated. They stay in the file until they are inserted.
struct DolbyVisionMessages: PictureMessages {
  private let places: DolbyVisionFile
  private let file: OpenFile
  private let name: String
  private let header: [UInt8]

  var count: Int { places.count }

  /// - Parameter codec: of the stream that gets them.
  init(_ path: FilePath, _ codec: FormatDescription.Codec) throws(Failure) {
    let input = try InputFile(path, spoolsMP4: false)
    guard input.size != nil else {
      throw Failure("\(input.name): a pipe; expected a file, because pictures are decoded in another order")
    }
    (file, name, header) = (try input.open(), input.name, DolbyVisionFile.header(codec))
    let bytes = try InputBytes(input)
    do throws(MetadataFileError) { places = try DolbyVisionFile(bytes) } catch {
      throw Failure("\(input.name): \(InspectText.string(error.text))")
    }
  }

  func message(at rank: Int) throws(Failure) -> [UInt8]? {
    guard let range = places[min(rank, count - 1)] else { return nil }
    let count = Int(range.upperBound - range.lowerBound)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
      filled = (try? unsafe file.descriptor.read(fromAbsoluteOffset: Int64(range.lowerBound), into: room)) ?? 0
    }
    guard bytes.count == count else { throw Failure("\(name): has changed while it was read") }
    return header + bytes
  }
}
