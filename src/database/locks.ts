import type { Db, Sql, Tx } from "./types.ts"

interface AdvisoryLock {
  name: string
  /** The key of the lock. Default: the hash of the name and the subject, separated by spaces. */
  number?: number
  why: string
  functions?: readonly string[]
}

/**
 * Every advisory lock, in the order in which they must be taken to avoid deadlocks. Rows of `list`, `chart` and
 * `workspace` come after the identities, rows of `due` last. A key never changes, because several versions may run at
 * the same time.
 */
export const LOCKS = [
  {
    name: "first start",
    number: 4_726_313_902,
    why: "A connection of its own holds it around a first start, and takes no other lock meanwhile.",
  },
  { name: "migration", number: 4_726_313_901, why: "One process migrates; months are opened in it." },
  { name: "retention", number: 4_726_313_907, why: "One process at a time deletes what is old; only ever tried." },
  { name: "nightly backup", why: "One process at a time takes it, on a connection of its own; only ever tried." },
  { name: "jobs swept", why: "Two sweeps would wait for each other's accounts in a circle; only ever tried." },
  {
    name: "open_month",
    why: "Attaching a month waits for writers of lists and charts, so no transaction that holds any of those takes it.",
    functions: ["open_month"],
  },
  {
    name: "allowance",
    why: "Of one allowance of a workspace, so that it is counted exactly; in a statement of its own.",
    functions: ["give_back_allowance", "take_allowance"],
  },
  { name: "write", why: "Of a workspace's target, before the confirmed action locks anything; only ever tried." },
  {
    name: "identities removed",
    why: "Shared by everybody who looks ids up to store them: ids inside app_ids have no foreign key.",
  },
  { name: "identities made", why: "Before any row lock, by whoever adds lists, charts or apps or tracks something." },
  {
    name: "new apps",
    why: "Of a storefront, right behind the rows of its charts: who is new there follows from all of them.",
  },
  {
    name: "estimates",
    why:
      "Versions of estimates are given in the order in which they become visible; alone it is only tried. " +
      "Shared by writers of charts.",
  },
  { name: "listing", why: "Of a sixty-fourth of all apps: what follows from one reading of them to the next." },
  {
    name: "reviews",
    why: "Of an app's feed: forms of one review are weighed against each other, and exports count them.",
  },
  { name: "genres", why: "Of a store's genre tree, which is replaced as a whole." },
  { name: "share links", why: "Of a workspace, behind the report it shows, so that other links are read meanwhile." },
  {
    name: "findings",
    why: "Of a tracked app in a storefront, behind the row of the app.",
    functions: ["unfollow_left"],
  },
  {
    name: "tracking followed",
    why:
      "Shared by what makes rows of `due`. Alone it is only tried, and its holder waits for nothing, " +
      "so it may come earlier.",
    functions: [
      "follow_changed_app",
      "follow_charted",
      "follow_known_app",
      "follow_market",
      "follow_rivals",
      "follow_tracked_apps",
      "follow_tracked_terms",
      "follow_workspace",
      "forget_scanned",
      "forget_untracked",
      "scan_storefronts",
    ],
  },
] as const satisfies readonly AdvisoryLock[]

type LockName = (typeof LOCKS)[number]["name"]
type Subject = readonly (string | number)[]

export async function takeLock(tx: Tx, name: LockName, ...subject: Subject): Promise<void> {
  await tx`select pg_advisory_xact_lock(${keyOf(tx, name, subject)})`
}

/** Takes the lock for several subjects, each once, in an order that is the same for every caller. */
export async function takeLocks(tx: Tx, name: LockName, subjects: Iterable<Subject>): Promise<void> {
  const texts = [...subjects].map((subject) => textOf(name, subject))
  if (texts.length === 0) return
  await tx`
    select pg_advisory_xact_lock(hashtextextended(subject, 0))
    from (select distinct unnest(${texts}::text[]) as subject order by 1) s`
}

export async function takeSharedLock(tx: Tx, name: LockName): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(${keyOf(tx, name, [])})`
}

/** Tries to take the lock until the end of the transaction, without waiting. */
export async function tryLock(tx: Tx, name: LockName, ...subject: Subject): Promise<boolean> {
  const [row] = await tx<[{ held: boolean }]>`select ${tryingLock(tx, name, ...subject)} as held`
  return row.held
}

/** The same as part of a statement that is its own transaction. */
export function tryingLock(sql: Db, name: LockName, ...subject: Subject) {
  return sql`(select pg_try_advisory_xact_lock(${keyOf(sql, name, subject)}))`
}

/**
 * Takes a lock for longer than a transaction's statements and returns a function that releases it. Null if another
 * process holds it. An open transaction holds the lock, so that it ends with the process through any pooler.
 */
export async function holdLock(sql: Sql, name: LockName): Promise<(() => Promise<void>) | null> {
  const taken = Promise.withResolvers<boolean>()
  const released = Promise.withResolvers<void>()
  const holding = sql.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`
    const isHeld = await tryLock(tx, name)
    taken.resolve(isHeld)
    if (isHeld) await released.promise
  })
  // If the connection dies later, the lock is already released.
  holding.catch(taken.reject)
  const release = async () => {
    released.resolve()
    await holding.catch(() => {})
  }
  if (await taken.promise) return release
  await release()
  return null
}

function keyOf(sql: Db, name: LockName, subject: Subject) {
  const { number }: AdvisoryLock = LOCKS.find((lock) => lock.name === name)!
  if (number !== undefined) return sql`${number}::bigint`
  return sql`hashtextextended(${textOf(name, subject)}, 0)`
}

function textOf(name: LockName, subject: Subject): string {
  return [name, ...subject].join(" ")
}
