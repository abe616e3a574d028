import { Buffer } from "node:buffer"
import { AccessProblem } from "../../access/problem.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import type { AccountKind } from "../account-kind.ts"
import {
  isSame,
  type Message,
  provesByHeader,
  provesByTimedSignature,
  provesByWebhookSignature,
} from "../billing/proof.ts"
import { signedPayload } from "../billing/signed-payload.ts"
import type { WebhookKey } from "../credentials.ts"
import type { Look } from "../look.ts"
import { adaptyEvent, adaptyVerification } from "../sources/billing/adapty.ts"
import type { BillingMessage } from "../sources/billing/message-fields.ts"
import { notifiedApp, storeNotification } from "../sources/billing/notifications.ts"
import { revenueCatEvent } from "../sources/billing/revenuecat.ts"
import { superwallEvent } from "../sources/billing/superwall.ts"

const MIN_SECRET = 16

/** Shared by all services that push messages: no requests are sent to them, and the user names the app. */
const TOLD = {
  ids: {},
  part: {
    name: "app",
    option: "store-id",
    value: "ID",
    meaning: "The app whose purchases the service reports: its App Store id, or its package on Google Play.",
  },
  open: async () => null,
  look: async (_: null, storeId: string): Promise<Look> => ({
    rights: [],
    apps: [{ outsideId: storeId, sku: storeId, name: storeId, bundleId: storeId }],
    // A package name may also be the bundle id of an App Store app; here it always means the app on Google Play.
    ...(isStoreId("android", storeId) && { store: "android" as const }),
  }),
  begins: "nothing; it stores the messages that arrive at the address from now on, and earlier purchases stay unknown",
  needs: [],
} satisfies Partial<AccountKind<WebhookKey, null>>

export const revenueCat = billingService("revenuecat", "RevenueCat", {
  secretIs: "The value that RevenueCat sends in the Authorization header, or the secret that signs its messages",
  isTheirs: (secret, message) => {
    const bySignature = provesByTimedSignature(secret, message, "x-revenuecat-webhook-signature")
    return provesByHeader(secret, message) || bySignature
  },
  eventIn: revenueCatEvent,
})

export const adapty = billingService("adapty", "Adapty", {
  secretIs: "The value that Adapty sends in the Authorization header",
  isTheirs: provesByHeader,
  eventIn: adaptyEvent,
  verification: adaptyVerification,
})

export const superwall = billingService("superwall", "Superwall", {
  secretIs: "The secret that signs Superwall's messages (whsec_…)",
  isTheirs: provesByWebhookSignature,
  eventIn: superwallEvent,
})

interface BillingService {
  secretIs: string
  isTheirs(secret: string, message: Message): boolean
  eventIn(body: unknown): BillingMessage | null
  /** The response to the request with which the service verifies the address. Null if it is not such a request. */
  verification?(body: unknown): object | null
}

function billingService(
  name: "revenuecat" | "adapty" | "superwall",
  title: string,
  { secretIs, isTheirs, eventIn, verification }: BillingService,
): AccountKind<WebhookKey, null> {
  return {
    ...TOLD,
    name,
    title,
    summary: `Receive purchases from ${title} as they happen. Shows the address to enter there.`,
    examples: [[`account add ${name} --store-id 310633997 --secret-file secret.txt`, "prints the address /in/ac_…"]],
    secret: { name: "secret", option: "secret-file", value: "FILE", meaning: `${secretIs}.` },
    check({ secret }, storeId) {
      if (!isStoreId("android", storeId ?? ""))
        checkStoreId(storeId, ", or a package on Google Play, such as com.example.tea")
      if (!/^[\x21-\x7e]+$/.test(secret) || secret.length < MIN_SECRET)
        throw new AccessProblem(`a secret has at least ${MIN_SECRET} characters and no blanks`, "secret")
    },
    shown: () => "secret",
    receive({ secret }, _, message) {
      if (!isTheirs(secret, message)) return "not theirs"
      const body = parsed(message.body)
      const reply = verification?.(body)
      return reply ? { reply } : (eventIn(body) ?? "unreadable")
    },
  }
}

export const appStoreNotifications: AccountKind<Record<string, never>, null> = {
  ...TOLD,
  name: "app-store-notifications",
  part: { ...TOLD.part, meaning: "The app's id in the App Store." },
  title: "App Store Server Notifications",
  summary: "Receive purchases from the App Store itself (version 2). Shows the address to enter in App Store Connect.",
  examples: [
    ["account add app-store-notifications --store-id 310633997", "needs no secret, because Apple signs the messages"],
  ],
  secret: null,
  check: (_, storeId) => checkStoreId(storeId),
  shown: () => "Apple's signature",
  receive(_, storeId, { body, roots, at, bundleIds = [] }) {
    const { signedPayload: jws } = (parsed(body) ?? {}) as { signedPayload?: unknown }
    const payload = signedPayload(jws, roots, at)
    const { signedTransactionInfo } = (payload?.data ?? {}) as Record<string, unknown>
    // Apple may have signed the message for another app, so check the app too.
    if (!payload || !isOfApp(payload, storeId, bundleIds)) return "not theirs"
    const transaction = signedTransactionInfo === undefined ? {} : signedPayload(signedTransactionInfo, roots, at)
    return transaction ? (storeNotification(payload, transaction) ?? "unreadable") : "not theirs"
  },
}

/**
 * Compares the app's number, or its bundle id if the notification has no number, as in the sandbox. If the app's bundle
 * id is not stored, sandbox messages are accepted, because they affect no figures.
 */
function isOfApp(payload: object, storeId: string, bundleIds: readonly string[]): boolean {
  const { appAppleId, bundleId, environment } = notifiedApp(payload)
  if (appAppleId !== undefined && appAppleId !== null) return isSame(String(appAppleId), storeId)
  if (typeof bundleId !== "string") return false
  return bundleIds.includes(bundleId) || (bundleIds.length === 0 && environment === "Sandbox")
}

function checkStoreId(storeId: string | null, or = ""): void {
  if (!/^\d{5,20}$/.test(storeId ?? ""))
    throw new AccessProblem(`an app's id in the App Store is a number, such as 310633997${or}`, "part")
}

/** Undefined if the body is not JSON. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"))
  } catch {
    return undefined
  }
}
