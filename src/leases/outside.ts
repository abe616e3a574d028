/** How one kind of write is done on an outside platform. Neither part is ever run inside a transaction. */
export interface OutsideWrite {
  /** The target now, as the preview stored it. May run several times. A Fault of a status below 500 is final. */
  read?(args: Record<string, unknown>, port: Port): Promise<unknown>
  /** Runs once. A Fault means that nothing was applied; anything else thrown, that the write may have been applied. */
  send(args: Record<string, unknown>, port: Port): Promise<Record<string, unknown>>
}

export interface Port {
  /** Aborted when the time is up, the server stops or the job is another process's. Hand it to every fetch. */
  signal: AbortSignal
  /** The job's id: the same for every attempt, for platforms that refuse a second write under one key. */
  idempotencyKey: string
  workspaceId: number
  appId: string | null
}

export type OutsideWrites = ReadonlyMap<string, OutsideWrite>
