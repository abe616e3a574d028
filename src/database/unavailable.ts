/** The database did not answer in time, or too much work is waiting. The caller gets 503. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable"
  /**
   * "deadline": the work was abandoned, and it is unknown whether it was done. "crowded": the work was never started.
   */
  readonly why: "deadline" | "crowded"

  constructor(why: "deadline" | "crowded", message: string) {
    super(message)
    this.why = why
  }
}
