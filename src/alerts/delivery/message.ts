import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { Channel } from "../rules.ts"

/** What is told, in the forms that the kinds of channels take. */
export interface Message {
  /** The same for every attempt. */
  id: string
  /** "alert.rank_drop"; "channel.test". */
  type: string
  /** When it happened, ISO 8601. */
  at: string
  data: object
  text: string
}

export type ChannelAccess =
  | { kind: "webhook"; url: string; secrets: readonly string[] }
  | { kind: "telegram"; token: string; chat: string }
  | { kind: "slack"; url: string }

export type ChannelAccessOf<Kind extends Channel> = Extract<ChannelAccess, { kind: Kind }>

/** How an attempt ended. `failure` is a few words of our own: nothing that a receiver said. */
export type SendResult =
  | { result: "delivered" }
  /** Tried again, not before `waitMs`. */
  | { result: "failed"; failure: string; waitMs?: number }
  /** Asked to wait: no attempt. */
  | { result: "throttled"; failure: string; waitMs?: number }
  /** Nothing will ever be taken there. */
  | { result: "refused"; failure: string }

export interface SendPort {
  /** Asks addresses that somebody else named. */
  outbound: SafeFetch
  /** Where Telegram's bot API is, without a slash at the end; undefined = its own. */
  telegramApi: string | undefined
  signal: AbortSignal
  now: () => Date
  timeoutMs: number
}
