import type { Sql, Tx } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import { type AccountHost, BILLING_SOURCES } from "../lib/upstreams.ts"
import type { RawBody } from "../measuring/source.ts"
import type { Message } from "./billing/proof.ts"
import type { ConsoleReach } from "./console.ts"
import type { AccountKey } from "./credentials.ts"
import type { Look } from "./look.ts"
import type { BillingMessage } from "./sources/billing/told.ts"

const ACCOUNT_KIND_NAMES = ["app-store-connect", "apple-ads", ...BILLING_SOURCES, "revenuecat-metrics"] as const
export type AccountKindName = (typeof ACCOUNT_KIND_NAMES)[number]

/** How the hosts of accounts are reached. */
export interface AccountReach {
  to(host: AccountHost): ConsoleReach
  now: () => Date
}

/** How a command takes what an account consists of. */
export interface AccountOption {
  option: string
  value: string
  meaning: string
}

/** One of the accounts that a key opens. */
export interface AccountPart {
  id: string
  name: string
}

/** A message that tells nothing and wants an answer: a service proves the address by it. */
export interface MessageReply {
  reply: object
}

/** Whose a message is, before anything else of it is looked at; then what it tells. */
type MessageReader<Key> = (
  key: Key,
  part: string,
  message: Message,
) => BillingMessage | MessageReply | "not theirs" | "unreadable"

/** A kind of account, declared once: what commands and the worker do with any follows from it. */
export interface AccountKind<Key extends AccountKey = AccountKey, Way = unknown> {
  name: AccountKindName
  title: string
  summary: string
  /** What is typed to add one, and what that does. */
  examples: [typed: string, does: string][]
  /** Of the key what is no secret, by its name; `fresh`: another key has another. */
  ids: Record<string, AccountOption & { fresh?: true }>
  /** Null: nothing of it is secret, for what is sent proves itself. */
  secret: (AccountOption & { name: string }) | null
  /** Which of what the key opens is read. */
  part: AccountOption & { name: string }
  /** What the key opens, where which of it is read need not be said. */
  listParts?(way: Way): Promise<AccountPart[]>
  /** Throws AccessProblem where something of it cannot be what the console gives. */
  check(key: Key, part: string | null): void
  /** As much of the key as may be shown. */
  shown(key: Key): string
  /** Throws AccessProblem where the key is none. */
  open(key: Key, part: string | null, reach: AccountReach): Promise<Way>
  /** Throws ConsoleProblem where nothing is known. */
  look(way: Way, part: string, now: Date): Promise<Look>
  /** Of a kind that sends messages to us, at /in/<account>. */
  receive?: MessageReader<Key>
  /** What is read once it is connected, as who connects it is told. */
  begins: string
  /** What somebody must ask the console for first, by the account and the app there. */
  needsAsking?(account: string, app: string): string
  /** Rights without which nothing is read. */
  needs: readonly string[]
  /**
   * Reads what is due. Returns how long the account is to be left alone; null = until something is due, an hour at most.
   * Left out: such an account says what it has by itself. Throws ConsoleProblem.
   */
  read?(way: Way, turn: AccountTurn): Promise<number | null>
}

/** One turn with an account's key. */
export interface AccountTurn {
  sql: Sql
  account: { id: string; part: string }
  now: () => Date
  /** Keeps a body as it came. */
  keep: (body: RawBody) => Promise<void>
  /** Throws where the lease is lost: then nothing is stored. */
  fence: (tx: Tx) => Promise<void>
  /** Notes that the console took the key. */
  noteAnswer(): Promise<void>
  /** Has the account's rights looked at anew before anything else is read. */
  noteDenied(): Promise<void>
  log: Log
  /** Ends reading after the question under way. */
  closing: AbortSignal
  signal: AbortSignal
  /** Between two questions. */
  gapMs: number
  /** Questions before another account has its turn. */
  atMost: number
}

/** Any kind; what it is given is of its own. */
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds calls each with its own key alone
export type AnyAccountKind = AccountKind<any, any>
