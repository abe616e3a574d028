/** A message of one clear sentence without secrets. */
export class AccessProblem extends Error {
  override name = "AccessProblem"
  /** The value that is wrong, so that a form can show the message at its field. */
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}
