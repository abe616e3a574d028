import { Fault } from "../faults.ts"

/** Platforms on which a workspace can connect accounts. */
export type PlatformName = "app-store-connect" | "google-play-console" | "apple-ads"

/** Opens the connected accounts of workspaces for write actions. */
export interface Platforms {
  /** Opens the account that has the app, with the key for writing. Throws the Fault that explains what is missing. */
  open(platform: PlatformName, app: { workspaceId: number; appId: string }): Promise<PlatformWay>
}

/** Access to one account on its platform. When it throws a Fault, nothing was applied. */
export interface PlatformWay {
  /** The account's id in this database, and the app's id on the platform. */
  account: string
  app: string
  /** The account's currency. Null if it has none. */
  currency: string | null
  /** Sends a read-only request and returns the response. Null if the platform has no such resource. */
  ask(question: PlatformQuestion, signal: AbortSignal): Promise<PlatformDocument | null>
  /** Sends a change once, without retries. Throws an error other than a Fault when the change may have been applied. */
  send(change: PlatformChange, signal: AbortSignal): Promise<PlatformDocument>
}

interface PlatformQuestion {
  path: string
  /** The body of a request that needs one. */
  body?: object
}

export interface PlatformChange {
  method: "POST" | "PUT" | "PATCH" | "DELETE"
  path: string
  body?: object
  /** Returns the fault for a resource that does not exist. */
  missing: () => Fault
}

/** Untyped: the platform may return anything, so every field is checked when it is read. */
export type PlatformDocument = Record<string, unknown>

/** Refuses to open any account. */
export const NO_PLATFORMS: Platforms = {
  async open(platform) {
    if (platform === "google-play-console") throw new Fault("ios_only")
    throw platform === "apple-ads"
      ? new Fault("not_connected", { detail: NONE })
      : new Fault("asc_required", { detail: NO_CONSOLE })
  },
}

const NONE = "No Apple Ads account is connected here."

/** How to fix asc_required. */
export const NO_CONSOLE =
  "No App Store Connect account of the workspace has this app; connect one with: " +
  "appmeter account add app-store-connect."
