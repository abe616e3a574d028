import type { RecordObservations } from "../core/recording.ts"
import type { Sql, Tx } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import { type AccountHost, BILLING_SOURCES } from "../lib/upstreams.ts"
import type { RawBody } from "../measuring/source.ts"
import type { KeyPair } from "./ads/key-pair.ts"
import type { Message } from "./billing/proof.ts"
import type { ConsoleReach } from "./console.ts"
import type { AccountKey } from "./credentials.ts"
import type { Look } from "./look.ts"
import type { BillingMessage } from "./sources/billing/message-fields.ts"

const ACCOUNT_KIND_NAMES = [
  "app-store-connect",
  "google-play-console",
  "apple-ads",
  ...BILLING_SOURCES,
  "revenuecat-metrics",
] as const
export type AccountKindName = (typeof ACCOUNT_KIND_NAMES)[number]

/** How to reach the host of each kind of account. */
export interface AccountReach {
  to(host: AccountHost): ConsoleReach
  now: () => Date
}

/** A command-line option that supplies one part of an account's key. */
export interface AccountOption {
  option: string
  value: string
  meaning: string
}

/** One of the accounts that a key can open. */
export interface AccountPart {
  id: string
  name: string
}

/** The message carries no data but must be answered: the service uses it to verify the address. */
export interface MessageReply {
  reply: object
}

/** Checks that the message belongs to the account before it reads anything else, then parses it. */
type MessageReader<Key> = (
  key: Key,
  part: string,
  message: Message,
) => BillingMessage | MessageReply | "not theirs" | "unreadable"

/** A kind of account, declared once. The commands and the worker are built from these values. */
export interface AccountKind<Key extends AccountKey = AccountKey, Way = unknown> {
  name: AccountKindName
  title: string
  summary: string
  /** The store of the account's apps. Default: ios. */
  store?: "android"
  /** Example command lines for adding an account, each with its effect. */
  examples: [typed: string, does: string][]
  /** The public ids of the key, by name. `fresh` is true if rotating the key changes this id too. */
  ids: Record<string, AccountOption & { fresh?: true }>
  /** The secret part of the key. Null if there is none because each message carries its own proof. */
  secret: (AccountOption & { name: string }) | null
  /** Creates a key pair, for a console that takes a public key. */
  createKeyPair?(): KeyPair
  /** The option that selects which of the accounts opened by the key is read. */
  part: AccountOption & { name: string }
  /** Converts a selection, as a person may copy it from the console, to the stored form. */
  toPart?(given: string): string
  /** Lists the accounts that the key opens. If there is only one, the caller need not select it. */
  listParts?(way: Way): Promise<AccountPart[]>
  /** Throws AccessProblem when the key or the selection has an impossible format. */
  check(key: Key, part: string | null): void
  /** The part of the key that is safe to display. */
  shown(key: Key): string
  /** Opens a connection with the key. Throws AccessProblem when the key is not valid. */
  open(key: Key, part: string | null, reach: AccountReach): Promise<Way>
  /** Tests the rights of the key. Throws ConsoleProblem when they cannot be determined. */
  look(way: Way, part: string, now: Date): Promise<Look>
  /** Only for kinds that send messages to us, at /in/<account>. */
  receive?: MessageReader<Key>
  /** Text for the person who connects the account: the data that is read first. */
  begins: string
  /** Returns a text about the request that a person must first make at the console for this account and app. */
  needsAsking?(account: string, app: string): string
  /** The rights without which nothing is read from the account. */
  needs: readonly string[]
  /**
   * Reads what is due. Returns how long to wait before the account is read again. Null: until its next task is due, but
   * at most an hour. Omitted for kinds whose services push data to us. Throws ConsoleProblem.
   */
  read?(way: Way, turn: AccountTurn): Promise<number | null>
}

/** One session with an account's key. */
export interface AccountTurn {
  sql: Sql
  record: RecordObservations
  account: { id: string; part: string }
  now: () => Date
  /** Stores a response body unchanged. */
  keep: (body: RawBody) => Promise<void>
  /** Throws when the lease is lost, so that the transaction stores nothing. */
  fence: (tx: Tx) => Promise<void>
  /** Records that the console accepted the key. */
  noteAnswer(): Promise<void>
  /** Makes the worker check the account's rights before it reads anything else. */
  noteDenied(): Promise<void>
  log: Log
  /** Signals that reading must stop after the current request. */
  closing: AbortSignal
  signal: AbortSignal
  /** Pause between two requests. */
  gapMs: number
  /** Maximum number of requests before another account gets its turn. */
  atMost: number
}

/** A kind of account with any type of key. Callers pass each kind only keys of its own type. */
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds calls each with its own key alone
export type AnyAccountKind = AccountKind<any, any>
