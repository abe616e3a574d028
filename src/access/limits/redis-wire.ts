/** A connection to an ordinary Redis (RESP): whatever client the runtime has, behind two functions. */
export interface RedisWire {
  /**
   * Sends one command; resolves to its reply (string, number, null or an array of them). Rejects with the server's own
   * text when Redis refuses it ("NOSCRIPT …"), and at once, without queueing, while there is no connection.
   */
  send(command: string, args: string[]): Promise<unknown>
  /** Ends the connection and every command still waiting. */
  close(): void
}
