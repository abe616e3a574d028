import type { Settings } from "../../settings/settings.ts"

/** The values that printed files depend on. */
export interface Deployment {
  /** Names of secret settings. */
  secrets: readonly string[]
  /** The host name that callers use. Undefined if none was given. */
  name: string | undefined
  /** An image of this program that was pushed to a registry. */
  image: string | undefined
  /** Addresses of the processes behind a proxy, as "host:port"; at least one. */
  upstreams: readonly string[]
  settings: Settings
}

/** A placeholder for the operator's host name. */
export const SAMPLE_NAME = "ranks.example.com"

/** The default address of a server. */
export const DEFAULT_UPSTREAM = "127.0.0.1:8787"
