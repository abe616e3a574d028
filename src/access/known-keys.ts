import type { Buffer } from "node:buffer"
import type { Sql } from "../database/types.ts"
import { Cache } from "../lib/cache.ts"
import type { FaultCode } from "../lib/faults.ts"
import { type AddressList, parseAddressList } from "./addresses.ts"
import type { Caller } from "./caller.ts"
import { type BalanceRow, balanceColumns, type ChargeResult, toBalance, toBudget } from "./credits.ts"
import type { CallerKind } from "./keys.ts"
import { type Entitlements, entitlementsOf, type Plan } from "./plans.ts"
import type { Right } from "./scopes.ts"

/** A key as last read from the database: its caller, and the reason to refuse it, if any. */
export interface KnownKey {
  caller: Caller
  refused: FaultCode | null
  addresses: AddressList | null
}

/** Identifies the caller: the digest of a key's secret or of an access token, or a grant whose owner has signed in. */
export type Proof = { by: "key" | "token"; digest: Buffer } | { by: "grant"; id: number }

interface KnownKeys {
  /** Returns the key as it was in the database at most `ttlMs` before this call. Null if there is none. */
  find(proof: Proof): Promise<KnownKey | null>
  /** Like `find`, but from the cache only. Null also if the database must be read. */
  atHand(proof: Proof): KnownKey | null
  has(proof: Proof): boolean
  /** Copies the figures after a charge to the cache, so that calls before the next look-up use them. */
  charged(caller: Caller, paid: ChargeResult): void
  /** Looks the caller up again and updates it. If a look-up started in the last 100 ms, uses its result instead. */
  renew(caller: Caller): Promise<void>
}

const RENEW_MS = 100

interface KnownKeysOptions {
  sql: Sql
  /** The URL that access tokens must have been issued for. */
  resource?: string | undefined
  ttlMs: number
  /** Milliseconds of a monotonic clock. */
  elapsedMs: () => number
  maxKeys?: number
}

/**
 * Caches keys. Sends one query per key and `ttlMs`, shared by concurrent calls. The age of an entry is counted from the
 * start of its query, so that a slow query does not make an entry older than `ttlMs`.
 */
export function createKnownKeys(options: KnownKeysOptions): KnownKeys {
  const { sql, resource = "", ttlMs, elapsedMs, maxKeys = 10_000 } = options
  // An entry is stale after `ttlMs`. An entry whose key was not found is evicted at once.
  const entries = new Cache<string, Entry>(maxKeys)
  const proofs = new WeakMap<Caller, { proof: Proof; name: string }>()

  const heldOf = (name: string, sinceMs = ttlMs): Entry | null => {
    const cached = entries.get(name)
    return cached && elapsedMs() - cached.askedAtMs < sinceMs ? cached : null
  }
  const ask = (proof: Proof, name: string): Entry => {
    const entry: Entry = {
      askedAtMs: elapsedMs(),
      isAnswered: false,
      found: entries.get(name)?.found ?? null,
      answer: lookUp(sql, proof, resource),
    }
    entries.set(name, entry)
    entry.answer.then(
      (found) => {
        entry.found = found
        entry.isAnswered = true
        if (found) proofs.set(found.caller, { proof, name })
        // Unknown keys are not cached: a flood of them must not evict the known ones.
        else if (entries.get(name) === entry) entries.delete(name)
      },
      () => {
        entry.askedAtMs = Number.NEGATIVE_INFINITY
        if (!entry.found && entries.get(name) === entry) entries.delete(name)
      },
    )
    return entry
  }

  return {
    find(proof) {
      const name = nameOf(proof)
      return (heldOf(name) ?? ask(proof, name)).answer
    },
    atHand(proof) {
      const cached = heldOf(nameOf(proof))
      return cached?.isAnswered ? cached.found : null
    },
    has: (proof) => Boolean(entries.get(nameOf(proof))?.found),
    charged(caller, paid) {
      update(caller, paid)
      const source = proofs.get(caller)
      const latest = source && entries.get(source.name)?.found?.caller
      if (latest && latest !== caller) update(latest, paid)
    },
    async renew(caller) {
      const source = proofs.get(caller)
      if (!source) return
      const { proof, name } = source
      const found = await (heldOf(name, RENEW_MS) ?? ask(proof, name)).answer
      if (found) Object.assign(caller, found.caller)
    },
  }
}

/**
 * SQL: the number of the workspace's live keys older than key k that count against its limit. Revoked, leaked and
 * expired keys do not count.
 */
export function olderLiveKeys(sql: Sql) {
  return sql`
    (
      select count(*)
      from api_key o
      where o.workspace_id = k.workspace_id and o.id < k.id and o.kind = 'live'
        and o.revoked_at is null and o.leaked_at is null
        and (o.expires_at is null or o.expires_at > now())
    )`
}

function nameOf(proof: Proof): string {
  return proof.by === "grant" ? `grant ${proof.id}` : proof.digest.toString("latin1")
}

interface Entry {
  askedAtMs: number
  answer: Promise<KnownKey | null>
  isAnswered: boolean
  /** The result of the previous query, until the new query has a result. */
  found: KnownKey | null
}

// Results of concurrent charges can arrive in any order. Within a month the higher count is the later one.
function update(caller: Caller, { credits, budget }: ChargeResult): void {
  if (credits.resetsAt === caller.credits.resetsAt && credits.used < caller.credits.used) return
  const { used, limit, remaining, resetsAt, packCredits } = credits
  caller.credits = { used, limit, remaining, resetsAt }
  caller.hasPack = packCredits > 0
  caller.budget = budget
}

interface KeyRow extends BalanceRow {
  keyId: number
  workspaceId: number
  kind: CallerKind
  scopes: Right[]
  ipAllowList: string[] | null
  appList: string[] | null
  /** Null if the key belongs to no person. */
  personId: number | null
  personName: string | null
  isOperator: boolean
  /** The rights of the key's person in the workspace. Null if they are no member, or the key belongs to nobody. */
  member: { keyId: number; scopes: Right[]; appList: string[] | null; isRevoked: boolean } | null
  expired: boolean
  paused: boolean
  revoked: boolean
  leaked: boolean
  plan: Plan
  explorer: boolean
  ipListRequired: boolean
  overrides: Partial<Entitlements>
  boughtPack: boolean
  suspended: boolean
  deleted: boolean
  olderLiveKeys: number
  /** Whether an access token has expired or was issued for another resource. */
  over: boolean
}

async function lookUp(sql: Sql, proof: Proof, resource: string): Promise<KnownKey | null> {
  const selection = shownBy(sql, proof, resource)
  const [row] = await sql<KeyRow[]>`
    select k.id as "keyId", k.workspace_id as "workspaceId", k.kind, ${selection.scopes} as scopes,
      k.ip_allow_list as "ipAllowList", k.app_list as "appList",
      k.person_id as "personId", p.name as "personName", coalesce(p.is_operator, false) as "isOperator",
      case when r.id is not null then json_build_object(
        'keyId', r.id, 'scopes', r.scopes, 'appList', r.app_list, 'isRevoked', r.revoked_at is not null
      ) end as member,
      coalesce(k.expires_at <= now(), false) as expired, k.paused_at is not null as paused,
      k.revoked_at is not null as revoked, k.leaked_at is not null as leaked,
      w.plan, w.explorer, w.ip_list_required as "ipListRequired", w.overrides,
      w.suspended_at is not null as suspended, w.deleted_at is not null as deleted,
      ${balanceColumns(sql)},
      coalesce(a.pack_bought_at > now() - interval '12 months', false) as "boughtPack",
      ${olderLiveKeys(sql)} as "olderLiveKeys", ${selection.over} as over
    ${selection.key}
    join workspace w on w.id = k.workspace_id
    join account a on a.workspace_id = k.workspace_id
    join key_month m on m.key_id = k.id
    left join person p on p.id = k.person_id
    left join membership s on s.person_id = k.person_id and s.workspace_id = k.workspace_id
    left join api_key r on r.id = s.key_id
    cross join lateral balance(a, m) b
    where ${selection.is}`
  return row ? knownKey(row) : null
}

/** SQL: the row of api_key that a proof identifies. For a token, its scopes limit those of the key. */
function shownBy(sql: Sql, proof: Proof, resource: string) {
  const itself = { key: sql`from api_key k`, scopes: sql`k.scopes`, over: sql`false` }
  if (proof.by === "grant") return { ...itself, is: sql`k.id = ${proof.id} and k.kind = 'grant'` }
  if (proof.by === "key") return { ...itself, is: sql`k.secret_sha256 = ${proof.digest}` }
  return {
    key: sql`from access_token t join api_key k on k.id = t.key_id`,
    scopes: sql`t.scopes`,
    over: sql`t.expires_at <= now() or t.resource <> ${resource}`,
    is: sql`t.sha256 = ${proof.digest}`,
  }
}

function knownKey(row: KeyRow): KnownKey {
  const { packCredits, ...credits } = toBalance(row)
  const entitlements = entitlementsOf(row.plan, row.overrides)
  const { workspaceId, keyId, kind, plan, explorer, boughtPack } = row
  return {
    caller: {
      workspaceId,
      keyId,
      kind,
      person: row.personId === null ? null : { id: row.personId, name: row.personName ?? "" },
      plan,
      explorer,
      hasPack: packCredits > 0,
      boughtPack,
      entitlements,
      scopes: scopesOf(row),
      appList: appListOf(row),
      credits,
      budget: toBudget(row),
    },
    refused: refusalOf(row, entitlements.liveKeys),
    addresses: row.ipAllowList && parseAddressList(row.ipAllowList),
  }
}

/**
 * Returns the rights of a key, which never has more than its person. The operator's right belongs to the grant of the
 * person's pages only.
 */
function scopesOf({ keyId, scopes, member, isOperator }: KeyRow): Right[] {
  if (!member) return scopes
  const rights = scopes.filter((scope) => member.scopes.includes(scope))
  return isOperator && member.keyId === keyId ? [...rights, "server:operate"] : rights
}

function appListOf({ appList, member }: KeyRow): string[] | null {
  if (!member?.appList || appList === null) return member?.appList ?? appList
  return appList.filter((id) => member.appList?.includes(id))
}

/** Whether the key belongs to a person who is no longer a member of the workspace. */
function isOrphaned({ personId, member }: KeyRow): boolean {
  return personId !== null && (member === null || member.isRevoked)
}

/**
 * Returns the first condition that refuses a key, in the documented order. Above the limit of live keys, the newest
 * keys are on hold.
 */
function refusalOf(row: KeyRow, liveKeys: number): FaultCode | null {
  const conditions: [boolean, FaultCode][] = [
    [row.over, "invalid_token"],
    [row.deleted, "account_deleted"],
    [row.expired, "key_expired"],
    // A leaked key is also revoked, so the more specific code comes first.
    [row.leaked, "key_leaked"],
    [row.revoked || isOrphaned(row), "key_revoked"],
    [row.paused, "key_paused"],
    [row.kind === "live" && row.olderLiveKeys >= liveKeys, "key_limit"],
    [row.suspended, "workspace_suspended"],
    [row.ipListRequired && !row.ipAllowList?.length, "ip_list_required"],
  ]
  return conditions.find(([refuses]) => refuses)?.[1] ?? null
}
