/** How one kind of write is done on an outside platform. Neither part is ever run inside a transaction. */
export interface OutsideWrite {
  /**
   * The target as it is now, in the form that the preview stored as `before`; when it differs, nothing is sent. May run
   * several times. Throws a Fault when it cannot be read: one of a status below 500 is final, any other is tried again.
   */
  read?(args: Record<string, unknown>, port: Port): Promise<unknown>
  /**
   * The one request that writes; it runs at most once, and its answer becomes the job's result. Throws a Fault only when
   * the platform has answered that it did not apply the write, or was certainly not reached. Anything else thrown, a
   * time-out included, means that the write may have been applied.
   */
  send(args: Record<string, unknown>, port: Port): Promise<Record<string, unknown>>
}

/** What a write is given besides its arguments. */
export interface Port {
  /**
   * Aborted when the time is up or the server stops, and during a read when the job is no longer this process's. Hand it
   * to every fetch.
   */
  signal: AbortSignal
  /** The job's id: the same for every attempt, for platforms that refuse a second write under one key. */
  idempotencyKey: string
  workspaceId: number
  appId: string | null
}

/** Action → how its write is done. */
export type OutsideWrites = ReadonlyMap<string, OutsideWrite>
