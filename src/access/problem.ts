/** Its message is one clear sentence and holds no secret. */
export class AccessProblem extends Error {
  override name = "AccessProblem"
}
