/** Why a line cannot be read, in one sentence that names the field and quotes nothing of the line. */
export class LineProblem extends Error {
  override name = "LineProblem"
}
