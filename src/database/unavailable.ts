/** The database does not answer in time, or too much is waiting for it already: 503 to the caller. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable"
  /** "deadline": given up on; whether the work was done is not known. "crowded": never begun. */
  readonly why: "deadline" | "crowded"

  constructor(why: "deadline" | "crowded", message: string) {
    super(message)
    this.why = why
  }
}
