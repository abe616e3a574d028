/** The message is one clear sentence without secrets. */
export class AccessProblem extends Error {
  override name = "AccessProblem"
}
