// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

@Suite struct MetaTests {
  private let temperature: CustomMeta
  private let place: CustomMeta

  init() throws {
    Harness.initialise()
    temperature = try CustomMeta(registering: "SwiftTestTemperature")
    place = try CustomMeta(registering: "SwiftTestPlace", tags: ["size", "video"])
  }

  @Test func setsReadsAndReplacesFields() {
    var buffer = Buffer()
    #expect(buffer.fields(of: temperature) == nil)
    buffer.set(temperature, ["celsius": 21.5, "sensor": "roof"])
    buffer.set(temperature, ["celsius": 22])
    let fields = buffer.fields(of: temperature)
    #expect(fields?["celsius"] == .int(22) && fields?["sensor"] == "roof")
    #expect(fields?.name == "SwiftTestTemperature")
    #expect(buffer.metas.count == 1 && buffer.fields(of: place) == nil)
  }

  /// One who has the buffer too does not see a change.
  @Test func otherOwnersKeepTheirMetas() {
    var buffer = Buffer()
    buffer.set(temperature, ["celsius": 1])
    let other = buffer.share()
    buffer.set(temperature, ["celsius": 2])
    #expect(other.fields(of: temperature)?["celsius"] == .int(1))
    #expect(buffer.fields(of: temperature)?["celsius"] == .int(2))
  }

  @Test func metasAreListedByTheirInterface() throws {
    var buffer = Buffer()
    buffer.addCaptions([1, 2, 3].span, format: .cea708Raw)
    buffer.set(place, ["x": 3])
    #expect(buffer.metas.map(\.interface) == [.captions, Buffer.MetaInterface(place)])
    let captions = try #require(buffer.metas(with: .captions).first)
    #expect(captions.name == "GstVideoCaptionMeta" && captions.fields == nil)
    let own = try #require(buffer.metas(with: Buffer.MetaInterface(place)).first)
    #expect(own.name == "SwiftTestPlace" && own.fields?["x"] == .int(3))
    #expect(Set(own.tags) == ["size", "video"])
    #expect(buffer.metas(with: .timeCode).isEmpty)
    #expect(buffer.metas(with: Buffer.MetaInterface(rawValue: "NoSuchType")).isEmpty)
  }

  @Test func closedCaptionsComeBack() throws {
    var buffer = Buffer()
    #expect(buffer.closedCaptions.isEmpty)
    buffer.addCaptions([1, 2, 3].span, format: .cea708Raw)
    buffer.addCaptions([4, 5].span, format: .cea608Raw)
    let captions = [
      Buffer.ClosedCaptions([1, 2, 3], format: .cea708Raw), Buffer.ClosedCaptions([4, 5], format: .cea608Raw),
    ]
    #expect(buffer.closedCaptions == captions)
    let meta = try unsafe #require(gst_buffer_get_meta(buffer.raw, gst_video_caption_meta_api_get_type()))
    unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCaptionMeta.self).pointee.caption_type =
      GstVideoCaptionType(rawValue: 99)
    #expect(buffer.closedCaptions.map(\.format) == [nil, .cea608Raw])
  }

  /// Metadata that elements in C add.
  @Test func findsMetasThatAreDefinedInC() throws {
    var buffer = Buffer()
    let time = Caps(mediaType: "timestamp/x-unix")
    unsafe gst_buffer_add_video_region_of_interest_meta(buffer.raw, "face", 1, 2, 3, 4)
    unsafe gst_buffer_add_meta(buffer.raw, gst_video_crop_meta_get_info(), nil)
    unsafe gst_buffer_add_reference_timestamp_meta(buffer.raw, time.raw, 5, .max)
    let names = [.regionOfInterest, .videoCrop, .referenceTimestamp].map { (kind: Buffer.MetaInterface) in
      buffer.metas(with: kind).map(\.name)
    }
    #expect(names == [["GstVideoRegionOfInterestMeta"], ["GstVideoCropMeta"], ["GstReferenceTimestampMeta"]])
    #expect(buffer.removeMetas(with: .videoCrop) == 1)
    #expect(buffer.metas.map(\.interface) == [.regionOfInterest, .referenceTimestamp])
  }

  @Test func metasAreRemovedUnlessTheyAreLocked() {
    var buffer = Buffer()
    buffer.set(temperature, ["celsius": 1])
    buffer.addCaptions([1].span, format: .cea708Raw)
    buffer.addCaptions([2].span, format: .cea708Raw)
    buffer.set(place, ["x": 1])
    let locked = unsafe gst_buffer_get_custom_meta(buffer.raw, place.name)!
    unsafe locked.pointee.meta.flags.rawValue |= GST_META_FLAG_LOCKED.rawValue
    #expect(buffer.removeMetas(with: .captions) == 2)
    #expect(buffer.metas.map(\.name) == ["SwiftTestTemperature", "SwiftTestPlace"])
    #expect(buffer.removeMetas { _ in true } == 1)
    #expect(buffer.metas.map(\.name) == ["SwiftTestPlace"] && buffer.metas.allSatisfy(\.isLocked))
    unsafe locked.pointee.meta.flags.rawValue &= ~GST_META_FLAG_LOCKED.rawValue
  }

  @Test func elementsCopyMetasWithTheirBuffers() async throws {
    let pipeline = try Pipeline("appsrc name=in caps=application/x-test ! identity ! appsink name=out sync=false")
    let (source, sink) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
    try await pipeline.play()
    var buffer = Buffer()
    buffer.set(temperature, ["celsius": 5])
    let copy = buffer.share()
    var changed = copy.share()
    changed.pts = .zero
    try await source.send(changed)
    try source.finish()
    var fields: [FieldValue?] = []
    for try await sample in sink { fields.append(sample.buffer.fields(of: temperature)?["celsius"]) }
    #expect(fields == [.int(5)])
    await pipeline.stop()
  }

  @Test func aNameIsRegisteredOnce() throws {
    #expect(try CustomMeta(registering: "SwiftTestPlace") == place)
    #expect(throws: RegistrationError.typeNameTaken("GstVideoMeta")) { try CustomMeta(registering: "GstVideoMeta") }
    #expect(throws: RegistrationError.typeNameTaken("GstElement")) { try CustomMeta(registering: "GstElement") }
    for name in ["", "ab", "1abc", "_abc", "a b c", "Größe"] {
      #expect(throws: RegistrationError.invalidTypeName(name)) { try CustomMeta(registering: name) }
    }
  }
}
