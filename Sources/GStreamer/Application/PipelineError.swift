// SPDX-License-Identifier: MPL-2.0
package import CGStreamer

/// The reason a pipeline could not be made, or failed.
public enum PipelineError: Error, Sendable {
  /// The description of a pipeline is invalid.
  case invalidDescription(String)
  /// There is no element of this name, installed or in the pipeline.
  case noSuchElement(String)
  /// The element is of another kind than the call is for.
  case wrongKind(element: String, kind: String, expected: String)
  /// The element has no such property.
  case noSuchProperty(element: String, property: String)
  /// The property can only be read.
  case notWritable(element: String, property: String)
  /// The property can only be written, or has no value in a form that `FieldValue` has.
  case notReadable(element: String, property: String)
  /// The value has another type than the property, or is out of range. `expected` is what fits.
  case invalidValue(element: String, property: String, value: FieldValue, expected: String)
  /// The element has no signal of this name.
  case noSuchSignal(element: String, signal: String)
  /// The pipeline has an element of this name already, or the element is in a pipeline already.
  case notAdded(String)
  /// The element is not in this pipeline.
  case notInPipeline(String)
  /// The pipeline has no elements: it would never end.
  case empty
  /// The arguments do not match the signal's, whose types are `expected`.
  case invalidArguments(element: String, signal: String, expected: String)
  /// Two elements have no unlinked pads with caps in common.
  case notLinkable(from: String, to: String)
  /// A plugin could not be loaded, with GStreamer's reason.
  case notLoaded(String)
  /// An element posted an error.
  case element(ElementFailure)
  /// A state change failed without an element's error.
  case stateChange(Pipeline.State)
  /// The pipeline cannot seek, or not to this position.
  case notSeekable
  /// No element takes this choice of streams.
  case notSelected([String])
  /// The pipeline does not play.
  case notPlaying
  /// The stream has ended: there is no further picture.
  case endOfStream
  /// Data was not accepted.
  case flow(FlowError)
  /// The pipeline was stopped while a task waited for it.
  case stopped
  /// The task was cancelled, which stopped the pipeline.
  case cancelled
}

extension PipelineError: CustomStringConvertible {
  /// One sentence for users.
  public var description: String {
    switch self {
    case .invalidDescription(let reason): "the pipeline cannot be made: \(reason)"
    case .noSuchElement(let name): "there is no element “\(name)”"
    case .wrongKind(let element, let kind, let expected): "“\(element)” is of the kind \(kind), not \(expected)"
    case .noSuchProperty(let element, let property): "\(element) has no property “\(property)”"
    case .notWritable(let element, let property): "the property “\(property)” of \(element) can only be read"
    case .notReadable(let element, let property): "the property “\(property)” of \(element) cannot be read"
    case .invalidValue(let element, let property, let value, let expected):
      "\(element) does not accept \(value) as “\(property)”, which is \(expected)"
    case .noSuchSignal(let element, let signal): "\(element) has no signal “\(signal)”"
    case .invalidArguments(let element, let signal, let expected):
      "the signal “\(signal)” of \(element) takes \(expected)"
    case .notAdded(let name): "“\(name)” cannot be added: it is in a pipeline, or its name is taken"
    case .notInPipeline(let name): "“\(name)” is not in this pipeline"
    case .empty: "the pipeline has no elements"
    case .notLinkable(let from, let to): "\(from) cannot be linked to \(to)"
    case .notLoaded(let reason): "the plugin cannot be loaded: \(reason)"
    case .element(let failure): failure.description
    case .notPlaying: "the pipeline is not playing"
    case .stateChange(let state): "the pipeline cannot reach the state \(state)"
    case .notSeekable: "the pipeline cannot seek there"
    case .notSelected(let ids):
      ids.isEmpty ? "no streams are selected" : "no element offers the streams \(ids.joined(separator: ", "))"
    case .endOfStream: "the stream has ended"
    case .flow(let error): "data was refused: \(error)"
    case .stopped: "the pipeline was stopped"
    case .cancelled: "cancelled"
    }
  }
}

extension ElementError {
  /// Reads the error of a message.
  @unsafe package init(_ error: UnsafePointer<GError>, debug: UnsafePointer<CChar>?) {
    unsafe self.init(
      Code(domain: error.pointee.domain, code: error.pointee.code), String(cString: error.pointee.message),
      debug: debug.map { unsafe String(cString: $0) } ?? "")
  }
}

extension ElementError.Code {
  init(domain: GQuark, code: Int32) {
    let known: Self? =
      switch domain {
      case gst_stream_error_quark(): ElementError.StreamCode(rawValue: code).map(Self.stream)
      case gst_resource_error_quark(): ElementError.ResourceCode(rawValue: code).map(Self.resource)
      case gst_core_error_quark(): ElementError.CoreCode(rawValue: code).map(Self.core)
      case gst_library_error_quark(): ElementError.LibraryCode(rawValue: code).map(Self.library)
      default: nil
      }
    let name = unsafe g_quark_to_string(domain).map { unsafe String(cString: $0) } ?? ""
    self = known ?? .other(domain: name, code: code)
  }
}
