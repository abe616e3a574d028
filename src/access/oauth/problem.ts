/** A refusal with an error code of RFC 6749. */
export class OAuthProblem extends Error {
  override name = "OAuthProblem"
  readonly code: string
  readonly status: number

  constructor(code: string, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}
