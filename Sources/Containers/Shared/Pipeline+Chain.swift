// SPDX-License-Identifier: MPL-2.0
package import GStreamer

extension Pipeline {
  /// Adds elements, each linked to the next. The last element is added first, so an element that starts finds the
  /// next element ready.
  package func add(chain elements: PipelineElement...) throws(PipelineError) { try add(chain: elements) }

  /// Adds elements, each linked to the next. The last element is added first, so an element that starts finds the
  /// next element ready.
  package func add(chain elements: [PipelineElement]) throws(PipelineError) {
    for element in elements.reversed() { try add(element) }
    for (a, b) in zip(elements, elements.dropFirst()) { try link(a, b) }
  }
}
