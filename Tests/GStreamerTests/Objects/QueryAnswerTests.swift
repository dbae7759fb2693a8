// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Queries as C makes them, answered and read by C's functions; events read that C made.
@Suite struct QueryAnswerTests {
  init() { Harness.initialise() }

  @Test func answersADurationInItsFormat() {
    let time = unsafe Query(owning: gst_query_new_duration(GST_FORMAT_TIME))
    let taken = [time.setDuration(bytes: 5), time.setPosition(.second), time.setDuration(.second)]
    #expect(taken == [false, false, true])
    var duration: gint64 = 0
    unsafe gst_query_parse_duration(time.raw, nil, &duration)
    #expect(duration == 1_000_000_000)
    let bytes = unsafe Query(owning: gst_query_new_duration(GST_FORMAT_BYTES))
    let takenInBytes = [bytes.setDuration(.second), bytes.setDuration(bytes: 5)]
    #expect(takenInBytes == [false, true])
  }

  @Test func answersAPositionInItsFormat() {
    let query = unsafe Query(owning: gst_query_new_position(GST_FORMAT_BYTES))
    let taken = [query.setPosition(.second), query.setPosition(bytes: .max)]
    #expect(taken == [false, true])
    var position: gint64 = 0
    unsafe gst_query_parse_position(query.raw, nil, &position)
    #expect(position == .max)
  }

  @Test(arguments: [true, false]) func answersSeekingQueries(isSeekable: Bool) {
    let query = unsafe Query(owning: gst_query_new_seeking(GST_FORMAT_TIME))
    let taken = query.setSeeking(isSeekable ? .second ..< .seconds(9) : nil)
    #expect(taken)
    var (answer, start, end): (gboolean, gint64, gint64) = (0, 0, 0)
    unsafe gst_query_parse_seeking(query.raw, nil, &answer, &start, &end)
    #expect((answer != 0) == isSeekable)
    #expect(end == (isSeekable ? 9_000_000_000 : -1) && start == (isSeekable ? 1_000_000_000 : 0))
  }

  @Test func answersCapsAndConversionQueries() throws {
    let caps = unsafe Query(owning: gst_query_new_caps(nil))
    caps.setCapsResult(Caps(mediaType: "video/x-test"))
    var result: UnsafeMutablePointer<GstCaps>?
    unsafe gst_query_parse_caps_result(caps.raw, &result)
    #expect(unsafe gst_caps_get_size(result) == 1)
    let (noFilter, notAsked) = (caps.capsFilter == nil, Query.latency().capsFilter == nil)
    #expect(noFilter && notAsked)
    let wanted = Caps(mediaType: "video/x-wanted")
    let filtered = unsafe Query(owning: gst_query_new_caps(wanted.raw))
    let filter = try unwrap(filtered.capsFilter).description
    #expect(filter == "video/x-wanted")
    let convert = unsafe Query(owning: gst_query_new_convert(GST_FORMAT_BYTES, 7, GST_FORMAT_TIME))
    let asked = convert.conversion
    #expect(asked?.value == 7 && asked?.from == .bytes && asked?.to == .time)
    let isConverted = convert.setConversion(99)
    #expect(isConverted)
    var value: gint64 = 0
    unsafe gst_query_parse_convert(convert.raw, nil, nil, nil, &value)
    #expect(value == 99)
  }

  @Test func readsFieldsOfEvents() {
    let seek = unsafe Event(
      owning: gst_event_new_seek(
        -2, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 3, GST_SEEK_TYPE_NONE, -1)
    ).seek
    #expect(seek?.rate == -2 && seek?.isFlushing == true && seek?.isTime == true)
    #expect(seek?.start == 3 && seek?.stop == nil)
    let quality = unsafe Event(owning: gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, -7, 9)).qualityOfService
    #expect(quality?.proportion == 1.5 && quality?.lateness == -7)
    #expect(quality?.runningTime == ClockTime(nanoseconds: 9))
    let gap = Event.gap(at: .second, duration: nil).gap
    #expect(gap?.start == .second && gap?.duration == nil)
    let latency = unsafe Event(owning: gst_event_new_latency(5)).latency
    let identifier = Event.streamStart("one").streamIdentifier
    #expect(latency == ClockTime(nanoseconds: 5) && identifier == "one")
    var list = TagList()
    list.set("video-codec", "Test")
    var codec: FieldValue?
    if let tags = Event.tags(list).tags { codec = Tags(tags)["video-codec"] }
    #expect(codec == "Test")
    let custom = Event.custom(Structure("test-request"), isDownstream: false)
    let (kind, name) = (custom.kind, custom.withStructure { $0.name })
    #expect(kind == .customUpstream && name == "test-request")
    let pointer = Event.custom(Structure("test-request"), isDownstream: true).kind
    let keys = unsafe Event(owning: gst_event_new_navigation(gst_structure_new_empty("test-key"))).kind
    #expect(pointer == .customDownstream && keys == .navigation)
    let (noSeek, noLatency) = (Event.endOfStream().seek, Event.endOfStream().latency)
    #expect(noSeek == nil && noLatency == nil)
  }
}
