import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import type { MailPort } from "./mail-port.ts"

/** The values of a channel that are stored encrypted, by name: its address and secrets. */
export type ChannelSecret = Readonly<Record<string, string>>

/** A message in the forms that the kinds of channels need. */
export interface Message {
  /** The id is the same for all attempts. */
  id: string
  /** "alert.rank_drop" or "channel.test", for example. */
  type: string
  /** Time of the event, ISO 8601. */
  at: string
  data: object
  text: string
}

/** The result of an attempt. `failure` is a short text of our own, never the receiver's words. */
export type SendResult =
  | { result: "delivered" }
  /** Retried, not before `waitMs`. */
  | { result: "failed"; failure: string; waitMs?: number }
  /** The receiver asked to wait. Not counted as an attempt. */
  | { result: "throttled"; failure: string; waitMs?: number }
  /** The receiver will never accept anything. The channel is disabled. */
  | { result: "refused"; failure: string }
  /** This message is never sent again: it may have arrived, or must not. The channel stays on. */
  | { result: "ended"; failure: string }
  | MovedResult

/** The receiver has another address from now on. The message was not accepted. */
export interface MovedResult {
  result: "moved"
  failure: string
  /** The part of the new address that may be shown. */
  shown: string
  secret: ChannelSecret
}

/** The result of an attempt that followed the receiver to its new address. */
export type FinalResult = Exclude<SendResult, MovedResult>

export interface SendPort {
  /** Sends requests to addresses that users entered. */
  outbound: SafeFetch
  /** The base URL of Telegram's bot API, without a trailing slash. Undefined for Telegram's own. */
  telegramApi: string | undefined
  /** Sends mail. Null without a mail server. */
  mail: MailPort | null
  /** The channel that the message goes to. */
  channelId: string
  signal: AbortSignal
  now: () => Date
  timeoutMs: number
}
