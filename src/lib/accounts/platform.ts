import { Fault } from "../faults.ts"

/** Platforms on which a workspace has accounts of its own. */
export type PlatformName = "app-store-connect" | "apple-ads"

/** Ways to the accounts of workspaces, for what writes there. */
export interface Platforms {
  /** The account that has the app, with the key that writes. Throws the Fault of what is missing. */
  open(platform: PlatformName, app: { workspaceId: number; appId: string }): Promise<PlatformWay>
}

/** One account's way to its platform. Whatever it throws that is a Fault means that nothing was applied. */
export interface PlatformWay {
  /** The account's id here, and the app's at the platform. */
  account: string
  app: string
  /** What the account pays in; null = it has no money. */
  currency: string | null
  /** What a question that changes nothing is answered; null = there is no such thing. */
  ask(question: PlatformQuestion, signal: AbortSignal): Promise<PlatformDocument | null>
  /** Sends a change once, whatever comes. Throws anything but a Fault where it may have been applied. */
  send(change: PlatformChange, signal: AbortSignal): Promise<PlatformDocument>
}

interface PlatformQuestion {
  path: string
  /** Of a question that is asked with one. */
  body?: object
}

export interface PlatformChange {
  method: "POST" | "PUT" | "PATCH" | "DELETE"
  path: string
  body?: object
  /** What it means that the thing to be changed is not there. */
  missing: () => Fault
}

/** Read field by field: what a platform says is nobody's type. */
export type PlatformDocument = Record<string, unknown>

/** Where no account can be opened. */
export const NO_PLATFORMS: Platforms = {
  async open(platform) {
    throw platform === "apple-ads"
      ? new Fault("not_connected", { detail: NONE })
      : new Fault("asc_required", { detail: NO_CONSOLE })
  },
}

const NONE = "No Apple Ads account is connected here."

/** How to cure asc_required. */
export const NO_CONSOLE =
  "No App Store Connect account of the workspace has this app; connect one with: appmeter account add app-store-connect."
