// SPDX-License-Identifier: MPL-2.0
import H26x

/// The value of the property `edit`.
struct RepackEdit: Sendable, Equatable {
  /// As it was set.
  private(set) var text = ""
  private(set) var list = StreamEditList()

  /// The list follows from the text.
  static func == (a: RepackEdit, b: RepackEdit) -> Bool { a.text == b.text }

  /// Reads the property's string.
  static func read(_ text: String) -> Result<RepackEdit, StreamEditTextError> {
    do throws(StreamEditTextError) {
      return .success(RepackEdit(text: text, list: try StreamEditList(text)))
    } catch {
      return .failure(error)
    }
  }

  /// The caps fields that depend on the edits.
  var capsFields: [EditedCapsField] { EditedCapsField.list(list) }
}

extension StreamEditList {
  /// The edits of parameter sets, with an edit in the place of `latency`, and without `level=auto`.
  func headerEdits(_ reordering: StreamEdit?) -> [StreamEdit] {
    edits(at: nil, reordering: reordering).filter { !$0.keepsParameterSets }
  }

  /// The edits of SEI alone.
  var messageEdits: [StreamEdit] { edits.filter(\.keepsParameterSets) }
}
