/** A connection to an ordinary Redis (RESP), over the client of the runtime. */
export interface RedisWire {
  /** Rejects with the text of Redis's error ("NOSCRIPT …"). Rejects at once while there is no connection. */
  send(command: string, args: string[]): Promise<unknown>
  close(): void
}
