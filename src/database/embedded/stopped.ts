/**
 * The embedded database has ended. Callers get 503, because the error code is that of a server that is shutting down.
 */
export class DatabaseStopped extends Error {
  override name = "DatabaseStopped"
  readonly code = "57P01"

  constructor(reason: string) {
    super(`the embedded database stopped: ${reason}`)
  }
}

export class StatementStopped extends DatabaseStopped {
  constructor(limitMs: number) {
    super(`a statement ran for more than ${limitMs} ms`)
  }
}
