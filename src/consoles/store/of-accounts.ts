import { type AnyObservation, DEMO } from "../../core/observation/provenance.ts"
import type { Tx } from "../../database/types.ts"
import { type BestOptions, storeBest } from "../../measuring/record/best-rows.ts"

/**
 * Stores the best row of each key, like `storeBest`, for observations of accounts. Ignores observations of accounts
 * that do not exist.
 */
export async function storeOfAccounts<Seen extends AnyObservation & { account: string }>(
  tx: Tx,
  options: BestOptions,
  seen: readonly Seen[],
  rowOf: (from: Seen) => Record<string, unknown>,
): Promise<Seen[]> {
  const accepted = await readOfAccounts(tx, seen)
  return await storeBest(
    tx,
    options,
    accepted.map((from) => ({ from, row: rowOf(from) })),
  )
}

/**
 * Returns the observations whose account exists. Demo accounts accept only demo observations, and other accounts only
 * real ones. Locks the accounts, because derived rows depend on every report of a day.
 */
export async function readOfAccounts<Seen extends { account: string; origin: string }>(
  tx: Tx,
  seen: readonly Seen[],
): Promise<Seen[]> {
  const accounts = [...new Set(seen.map(({ account }) => account))]
  const here = await tx<{ id: string; isDemo: boolean }[]>`
    select id, state = 'demo' as "isDemo"
    from connected_account
    where id = any(${accounts})
    order by id
    for no key update`
  const isDemoById = new Map(here.map(({ id, isDemo }) => [id, isDemo]))
  return seen.filter(({ account, origin }) => isDemoById.get(account) === (origin === DEMO))
}
