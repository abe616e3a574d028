/**
 * Thrown if an import line cannot be read. The message is one sentence that names the field and contains nothing of the
 * line.
 */
export class LineProblem extends Error {
  override name = "LineProblem"
}
