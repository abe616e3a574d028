import { expect } from "bun:test"
import type { Sql, Tx } from "../../src/database/types.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import type { Answer, Service } from "../service.ts"

/** A separate workspace with one app and a key that can write. */
export interface Writer {
  workspace: number
  key: string
  app: string
  /** Previews a write and returns its token. */
  token(action: string, args: object): Promise<string>
  confirm(token: string): Promise<Answer>
}

export interface WriterOptions {
  /** Keywords that the app tracks from the start, in every storefront. */
  keywords?: string[]
  countries?: string[]
  overrides?: Record<string, number>
}

export async function someWriter(
  service: Service,
  { keywords = [], countries = ["us"], overrides = {} }: WriterOptions = {},
): Promise<Writer> {
  const workspace = await service.workspace({ overrides: { ratePerSecond: 100_000, ...overrides } })
  const key = await service.key(workspace)
  const app = await anApp(service.sql, workspace, keywords, countries)
  // a server analyses its tables a minute later; until then, plans made for empty tables scan them completely
  if (process.env.DATABASE_URL && ++writers % ANALYSED_EVERY === 0)
    await service.sql`analyze workspace, store_app, tracked_app, tracked_term, due`
  return {
    workspace,
    key,
    app,
    token: (action, args) => tokenOf(service, key, action, args),
    confirm: (confirmToken) => service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } }),
  }
}

const ANALYSED_EVERY = 32
let writers = 0
let stores = 0

/** Tracks another app in the workspace, with a new store id. */
export function anApp(sql: Sql, workspaceId: number, keywords: string[] = [], countries = ["us"]): Promise<string> {
  const iosId = String(100_000_000 + ++stores)
  return sql.begin((tx) =>
    trackApp(tx as Tx, { workspaceId, iosId, name: "Kettle", countries, keywords, origin: "own" }),
  )
}

async function tokenOf(service: Service, key: string, action: string, args: object): Promise<string> {
  const { status, body } = await service.call("/v1/actions", { key, method: "POST", body: { action, args } })
  expect([status, body.error]).toEqual([200, undefined])
  return body.confirmToken
}

/** Returns "us tea", one per storefront and keyword. */
export async function termsOf(sql: Sql, app: string): Promise<string[]> {
  const rows = await sql<{ at: string }[]>`
    select country || ' ' || term as at
    from tracked_term
    where app_id = ${app}
    order by 1`
  return rows.map(({ at }) => at)
}

/** Records of a workspace's writes in each place. The numbers must agree. */
export interface Books {
  /** Number of used tokens. */
  tokens: number
  ledger: number
  audit: number
  /** Credits according to the account, the ledger, the keys and the audit. */
  credits: [account: number, ledger: number, keys: number, audit: number]
}

export async function booksOf(sql: Sql, workspace: number): Promise<Books> {
  const [row] = await sql<(Omit<Books, "credits"> & Record<"used" | "paid" | "keys" | "audited", number>)[]>`
    select
      (select count(*) from confirm_token where workspace_id = ${workspace} and used_at is not null) as tokens,
      (select count(*) from ledger where workspace_id = ${workspace}) as ledger,
      (select count(*) from audit where workspace_id = ${workspace}) as audit,
      (select used from account where workspace_id = ${workspace}) as used,
      (select coalesce(sum(cost), 0) from ledger where workspace_id = ${workspace}) as paid,
      (select coalesce(sum(used), 0)::bigint from key_month where workspace_id = ${workspace}) as keys,
      (select coalesce(sum(credits), 0) from audit where workspace_id = ${workspace}) as audited`
  const { tokens, ledger, audit, used, paid, keys, audited } = row!
  return { tokens, ledger, audit, credits: [used, Number(paid), Number(keys), audited] }
}

/** Returns the expected books after a number of writes with this many credits. */
export function booksAt(writes: number, credits = writes): Books {
  return { tokens: writes, ledger: writes, audit: writes, credits: [credits, credits, credits, credits] }
}

/** Returns "200" or "409 confirm_token_mismatch", for example. */
export function outcomeOf({ status, body }: Pick<Answer, "status" | "body">): string {
  return body.error ? `${status} ${body.error}` : `${status}`
}

/** Counts equal answers. */
export function tally(answers: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const answer of answers.toSorted()) counts[answer] = (counts[answer] ?? 0) + 1
  return counts
}
