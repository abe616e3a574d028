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
    why: "Held around a first start, on a separate connection that takes no other lock meanwhile.",
  },
  {
    name: "migration",
    number: 4_726_313_901,
    why: "One process at a time migrates; open_month may be taken while it is held.",
  },
  {
    name: "retention",
    number: 4_726_313_907,
    why: "One process at a time deletes what is old. Tried, never waited for.",
  },
  {
    name: "nightly backup",
    why: "One process at a time makes a backup, on a separate connection. Tried, never waited for.",
  },
  { name: "jobs swept", why: "Two sweeps could deadlock on each other's accounts. Tried, never waited for." },
  {
    name: "open_month",
    why: "Attaching a month waits for writers of lists and charts, so no transaction that holds any of those takes it.",
    functions: ["open_month"],
  },
  {
    name: "allowance",
    why: "One per allowance of a workspace, so that it is counted exactly. Taken in a statement of its own.",
    functions: ["give_back_allowance", "take_allowance"],
  },
  { name: "write", why: "One per target in a workspace, before the action locks anything. Tried, never waited for." },
  {
    name: "identities removed",
    why: "Taken shared by every transaction that looks up ids to store them: ids inside app_ids have no foreign key.",
  },
  { name: "identities made", why: "Taken before any row lock to add lists, charts or apps, or to track something." },
  {
    name: "new apps",
    why: "One per storefront, right after the rows of its charts: its new apps follow from all of them.",
  },
  {
    name: "estimates",
    why:
      "Gives estimates their versions in the order in which they become visible. Writers of charts take it " +
      "shared; exclusively it is only tried, never waited for.",
  },
  { name: "listing", why: "One per sixty-fourth of all apps: the changes from one reading of them to the next." },
  {
    name: "reviews",
    why: "One per feed of an app: versions of a review are compared with each other, and exports count them.",
  },
  { name: "genres", why: "One per genre tree of a store, which is replaced as a whole." },
  {
    name: "share links",
    why: "One per workspace, taken after the report is read, so that other links are read meanwhile.",
  },
  {
    name: "findings",
    why: "One per tracked app and storefront, after the row of the app.",
    functions: ["unfollow_left"],
  },
  {
    name: "tracking followed",
    why:
      "Taken shared by writers that make rows of `due`. Exclusively it is only tried, and its holder waits for " +
      "nothing, so it may come earlier.",
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

/** Takes the lock for several subjects, once for each, in an order that is the same for every caller. */
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
  const [row] = await tx<[{ isHeld: boolean }]>`select ${tryingLock(tx, name, ...subject)} as "isHeld"`
  return row.isHeld
}

/** SQL that tries to take the lock, for a statement that is its own transaction. */
export function tryingLock(sql: Db, name: LockName, ...subject: Subject) {
  return sql`(select pg_try_advisory_xact_lock(${keyOf(sql, name, subject)}))`
}

/**
 * Takes a lock that lasts longer than one transaction's statements, and returns a function that releases it. Null if
 * another process holds the lock. An open transaction holds it, so that it ends with the process through any pooler.
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
