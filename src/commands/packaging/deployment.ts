/** What a file to be printed depends on. */
export interface Deployment {
  /** Names of secret settings. */
  secrets: readonly string[]
  /** The host name that callers use. */
  name: string
}
