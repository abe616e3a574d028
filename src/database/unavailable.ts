/** The database did not answer in time, or too much work is waiting. The caller gets 503. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable"
  /** "deadline": abandoned, and it is unknown whether the work was done. "crowded": never started. */
  readonly why: "deadline" | "crowded"

  constructor(why: "deadline" | "crowded", message: string) {
    super(message)
    this.why = why
  }
}
