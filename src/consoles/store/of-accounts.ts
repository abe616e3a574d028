import { type AnyObservation, DEMO } from "../../core/observation/provenance.ts"
import type { Tx } from "../../database/types.ts"
import { type BestOptions, storeBest } from "../../measuring/record/best-rows.ts"

/** The best of each key, as `storeBest` has it, of what was said by accounts. Of an account that is not here nothing is held. */
export async function storeOfAccounts<Seen extends AnyObservation & { account: string }>(
  tx: Tx,
  options: BestOptions,
  seen: readonly Seen[],
  rowOf: (from: Seen) => Record<string, unknown>,
): Promise<Seen[]> {
  const held = await readOfAccounts(tx, seen)
  return await storeBest(
    tx,
    options,
    held.map((from) => ({ from, row: rowOf(from) })),
  )
}

/**
 * Those whose account is here, of the demo's own what the demo says and of others all else; one transaction at a time: what is
 * derived follows from all that was said of a day.
 */
async function readOfAccounts<Seen extends { account: string; origin: string }>(
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
  const known = new Map(here.map(({ id, isDemo }) => [id, isDemo]))
  return seen.filter(({ account, origin }) => known.get(account) === (origin === DEMO))
}
