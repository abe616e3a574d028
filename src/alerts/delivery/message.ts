import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { Channel } from "../rules.ts"

/** A message in the forms that the kinds of channels need. */
export interface Message {
  /** The same for all attempts. */
  id: string
  /** "alert.rank_drop" or "channel.test", for example. */
  type: string
  /** Time of the event, ISO 8601. */
  at: string
  data: object
  text: string
}

export type ChannelAccess =
  | { kind: "webhook"; url: string; secrets: readonly string[] }
  | { kind: "telegram"; token: string; chat: string }
  | { kind: "slack"; url: string }

export type ChannelAccessOf<Kind extends Channel> = Extract<ChannelAccess, { kind: Kind }>

/** The result of an attempt. `failure` is a short text of our own, never the receiver's words. */
export type SendResult =
  | { result: "delivered" }
  /** Retried, not before `waitMs`. */
  | { result: "failed"; failure: string; waitMs?: number }
  /** The receiver asked to wait. Not counted as an attempt. */
  | { result: "throttled"; failure: string; waitMs?: number }
  /** The receiver will never accept anything. The channel is disabled. */
  | { result: "refused"; failure: string }

export interface SendPort {
  /** Sends requests to addresses that users entered. */
  outbound: SafeFetch
  /** The base URL of Telegram's bot API, without a trailing slash. Undefined for Telegram's own. */
  telegramApi: string | undefined
  signal: AbortSignal
  now: () => Date
  timeoutMs: number
}
