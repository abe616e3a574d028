/** A connection to an ordinary Redis (RESP): whatever client the runtime has, behind two functions. */
export interface RedisWire {
  /** Rejects with Redis's own text when it refuses ("NOSCRIPT …"), and at once while there is no connection. */
  send(command: string, args: string[]): Promise<unknown>
  close(): void
}
