// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Testing

/// Values that are written down in Swift, because the importer does not bring them, are those of GStreamer's headers.
@Suite struct HeaderValueTests {
  @Test func coreErrorsEqualTheHeaders() {
    let values: [(ElementError.CoreCode, GstCoreError)] = [
      (.failed, GST_CORE_ERROR_FAILED),
      (.tooLazy, GST_CORE_ERROR_TOO_LAZY),
      (.notImplemented, GST_CORE_ERROR_NOT_IMPLEMENTED),
      (.stateChange, GST_CORE_ERROR_STATE_CHANGE),
      (.pad, GST_CORE_ERROR_PAD),
      (.thread, GST_CORE_ERROR_THREAD),
      (.negotiation, GST_CORE_ERROR_NEGOTIATION),
      (.event, GST_CORE_ERROR_EVENT),
      (.seek, GST_CORE_ERROR_SEEK),
      (.caps, GST_CORE_ERROR_CAPS),
      (.tag, GST_CORE_ERROR_TAG),
      (.missingPlugin, GST_CORE_ERROR_MISSING_PLUGIN),
      (.clock, GST_CORE_ERROR_CLOCK),
      (.disabled, GST_CORE_ERROR_DISABLED),
    ]
    for (code, header) in values { #expect(code.rawValue == Int32(header.rawValue)) }
  }

  @Test func libraryErrorsEqualTheHeaders() {
    let values: [(ElementError.LibraryCode, GstLibraryError)] = [
      (.failed, GST_LIBRARY_ERROR_FAILED),
      (.tooLazy, GST_LIBRARY_ERROR_TOO_LAZY),
      (.initialise, GST_LIBRARY_ERROR_INIT),
      (.shutdown, GST_LIBRARY_ERROR_SHUTDOWN),
      (.settings, GST_LIBRARY_ERROR_SETTINGS),
      (.encode, GST_LIBRARY_ERROR_ENCODE),
    ]
    for (code, header) in values { #expect(code.rawValue == Int32(header.rawValue)) }
  }

  @Test func resourceErrorsEqualTheHeaders() {
    let values: [(ElementError.ResourceCode, GstResourceError)] = [
      (.failed, GST_RESOURCE_ERROR_FAILED),
      (.tooLazy, GST_RESOURCE_ERROR_TOO_LAZY),
      (.notFound, GST_RESOURCE_ERROR_NOT_FOUND),
      (.busy, GST_RESOURCE_ERROR_BUSY),
      (.openRead, GST_RESOURCE_ERROR_OPEN_READ),
      (.openWrite, GST_RESOURCE_ERROR_OPEN_WRITE),
      (.openReadWrite, GST_RESOURCE_ERROR_OPEN_READ_WRITE),
      (.close, GST_RESOURCE_ERROR_CLOSE),
      (.read, GST_RESOURCE_ERROR_READ),
      (.write, GST_RESOURCE_ERROR_WRITE),
      (.seek, GST_RESOURCE_ERROR_SEEK),
      (.sync, GST_RESOURCE_ERROR_SYNC),
      (.settings, GST_RESOURCE_ERROR_SETTINGS),
      (.noSpaceLeft, GST_RESOURCE_ERROR_NO_SPACE_LEFT),
      (.notAuthorized, GST_RESOURCE_ERROR_NOT_AUTHORIZED),
    ]
    for (code, header) in values { #expect(code.rawValue == Int32(header.rawValue)) }
  }

  @Test func streamErrorsEqualTheHeaders() {
    let values: [(ElementError.StreamCode, GstStreamError)] = [
      (.failed, GST_STREAM_ERROR_FAILED),
      (.tooLazy, GST_STREAM_ERROR_TOO_LAZY),
      (.notImplemented, GST_STREAM_ERROR_NOT_IMPLEMENTED),
      (.typeNotFound, GST_STREAM_ERROR_TYPE_NOT_FOUND),
      (.wrongType, GST_STREAM_ERROR_WRONG_TYPE),
      (.codecNotFound, GST_STREAM_ERROR_CODEC_NOT_FOUND),
      (.decode, GST_STREAM_ERROR_DECODE),
      (.encode, GST_STREAM_ERROR_ENCODE),
      (.demux, GST_STREAM_ERROR_DEMUX),
      (.mux, GST_STREAM_ERROR_MUX),
      (.format, GST_STREAM_ERROR_FORMAT),
    ]
    for (code, header) in values { #expect(code.rawValue == Int32(header.rawValue)) }
  }

  @Test func ranksEqualTheHeaders() {
    let values: [(Rank, GstRank)] = [
      (.none, GST_RANK_NONE), (.marginal, GST_RANK_MARGINAL), (.secondary, GST_RANK_SECONDARY),
      (.primary, GST_RANK_PRIMARY),
    ]
    for (rank, header) in values { #expect(rank.rawValue == UInt32(header.rawValue)) }
  }

  @Test func flowReturnsEqualTheHeaders() {
    let values: [(FlowError, GstFlowReturn)] = [
      (.notLinked, GST_FLOW_NOT_LINKED), (.flushing, GST_FLOW_FLUSHING), (.endOfStream, GST_FLOW_EOS),
      (.notNegotiated, GST_FLOW_NOT_NEGOTIATED), (.error, GST_FLOW_ERROR), (.notSupported, GST_FLOW_NOT_SUPPORTED),
      (.dropped, GST_FLOW_CUSTOM_SUCCESS),
    ]
    for (flow, header) in values { #expect(flow.rawValue == header.rawValue) }
  }

  @Test func logLevelsEqualTheHeaders() {
    let values: [(Log.Level, GstDebugLevel)] = [
      (.error, GST_LEVEL_ERROR), (.warning, GST_LEVEL_WARNING), (.fixme, GST_LEVEL_FIXME), (.info, GST_LEVEL_INFO),
      (.debug, GST_LEVEL_DEBUG), (.log, GST_LEVEL_LOG), (.trace, GST_LEVEL_TRACE),
    ]
    for (level, header) in values { #expect(level.rawValue == UInt32(header.rawValue)) }
  }

  @Test func captionFormatsEqualTheHeaders() {
    let values: [(Buffer.CaptionFormat, GstVideoCaptionType)] = [
      (.cea608Raw, GST_VIDEO_CAPTION_TYPE_CEA608_RAW), (.cea608S334, GST_VIDEO_CAPTION_TYPE_CEA608_S334_1A),
      (.cea708Raw, GST_VIDEO_CAPTION_TYPE_CEA708_RAW), (.cea708Packet, GST_VIDEO_CAPTION_TYPE_CEA708_CDP),
    ]
    for (format, header) in values { #expect(format.rawValue == UInt32(header.rawValue)) }
  }
}
