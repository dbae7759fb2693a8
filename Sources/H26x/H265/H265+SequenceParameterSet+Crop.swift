// SPDX-License-Identifier: MPL-2.0

extension H265.SequenceParameterSet {
  /// The cropping rectangle (7.4.3.2.1); the whole picture without a conformance window.
  public var cropRectangle: CropRectangle {
    rectangle(conformanceWindow, in: CropRectangle(left: 0, top: 0, width: codedSize.width, height: codedSize.height))
  }

  /// The default display window, within ``cropRectangle``; nil without one, and for an empty one. Players ignore it.
  public var defaultDisplayRectangle: CropRectangle? {
    guard let window = vui?.defaultDisplayWindow else { return nil }
    let part = rectangle(window, in: cropRectangle)
    return part.width > 0 && part.height > 0 ? part : nil
  }

  private func rectangle(_ window: Window?, in whole: CropRectangle) -> CropRectangle {
    guard let window else { return whole }
    // SubWidthC and SubHeightC (Table 6-1).
    let unitWidth = chromaFormat == .yuv420 || chromaFormat == .yuv422 ? 2 : 1
    let unitHeight = chromaFormat == .yuv420 ? 2 : 1
    let (left, top) = (Int(window.left) * unitWidth, Int(window.top) * unitHeight)
    return CropRectangle(
      left: whole.left + left, top: whole.top + top, width: whole.width - left - Int(window.right) * unitWidth,
      height: whole.height - top - Int(window.bottom) * unitHeight)
  }
}
