/** The embedded database ended. Callers are answered 503 for it: the code is the one of a server that shuts down. */
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
