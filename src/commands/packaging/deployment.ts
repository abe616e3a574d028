import type { Settings } from "../../settings/settings.ts"

/** What a file to be printed depends on. */
export interface Deployment {
  /** Names of secret settings. */
  secrets: readonly string[]
  /** The host name that callers use; undefined when none was given. */
  name: string | undefined
  /** An image of this program that was pushed to a registry. */
  image: string | undefined
  /** Addresses of the processes behind a proxy, as "host:port"; at least one. */
  upstreams: readonly string[]
  settings: Settings
}

/** Stands where the operator's own belongs. */
export const SAMPLE_NAME = "ranks.example.com"

/** Where a server listens by default. */
export const DEFAULT_UPSTREAM = "127.0.0.1:8787"
