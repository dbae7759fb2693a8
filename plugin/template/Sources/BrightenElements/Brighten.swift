import GStreamer

/// Makes pictures brighter or darker.
public final class Brighten: VideoFilter {
  struct Settings: Sendable {
    var amount: Int32 = 16
  }
  let settings = Locked(Settings())

  public override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Brighten", classification: "Filter/Effect/Video", description: "Makes pictures brighter or darker",
      author: "You <you@example.org>")
  }

  public override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format={ I420, NV12, GRAY8 }"), .source("video/x-raw, format={ I420, NV12, GRAY8 }")]
  }

  public override class var properties: [Property] {
    Property.settings(
      { (element: Brighten) in element.settings }, defaults: Settings(),
      [.int("amount", \.amount, in: -255...255, "What is added to every luma sample")])
  }

  public override func changePicture(_ picture: inout VideoFrameMap) throws(FlowError) {
    // Any thread may set properties at any time: one snapshot a picture.
    let amount = Int(settings.snapshot.amount)
    for row in 0..<picture.rowCount(ofPlane: 0) {
      var luma = picture.mutableRow(row, ofPlane: 0)
      for column in luma.indices { luma[column] = UInt8(clamping: Int(luma[column]) + amount) }
    }
  }
}
