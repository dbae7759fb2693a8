// SPDX-License-Identifier: MPL-2.0

extension H264.SequenceParameterSet {
  /// The cropping rectangle (7.4.2.1.1); the whole frame without cropping.
  public var cropRectangle: CropRectangle {
    let size = codedSize
    guard let cropping else { return CropRectangle(left: 0, top: 0, width: size.width, height: size.height) }
    let unitWidth = chromaArrayType == .yuv420 || chromaArrayType == .yuv422 ? 2 : 1
    let unitHeight = (chromaArrayType == .yuv420 ? 2 : 1) * (isFrameOnly ? 1 : 2)
    let left = Int(cropping.left) * unitWidth
    let top = Int(cropping.top) * unitHeight
    return CropRectangle(
      left: left, top: top, width: size.width - left - Int(cropping.right) * unitWidth,
      height: size.height - top - Int(cropping.bottom) * unitHeight)
  }
}
