import type { Fragment } from "postgres"
import type { Db, Sql } from "../database/types.ts"
import type { Caller } from "./caller.ts"
import {
  areOneOfEach,
  type ChargedGroup,
  type ChargeResult,
  chargeAll,
  type Due,
  numbers,
  restOf,
  resultsOf,
} from "./credits.ts"

/** What an answer that was given before was made of. */
export interface Basis {
  /** Of what is asked: what has one name is asked once. */
  name: string
  asked: Asker
  /** As it was then. */
  digest: string
  /** As it is: of each, by its place (1 is the first), `caller` and `digest`. */
  digestsOf: (sql: Db, asked: readonly Asker[]) => Fragment
}

type Asker = Pick<Caller, "workspaceId" | "appList">

/** Charged only where the answer's basis is as it was, in the same statement. */
export interface KeptDue extends Due {
  basis: Basis
}

/**
 * As chargeAll where answers were kept: whose basis has changed are null, and not charged. The others are then charged in a
 * statement of their own, so that nothing is said twice in the one that finds nothing changed, which is nearly always.
 */
export async function chargeWhereKept(
  sql: Sql,
  dues: readonly (Due | KeptDue)[],
  waits: boolean,
): Promise<(ChargeResult | null | undefined)[]> {
  const bases = new Map<string, Basis>()
  for (const due of dues) if ("basis" in due) bases.set(nameOf(due.basis), due.basis)
  const [group] = await sql<[ChargedGroup & { changed: string[] | null }]>`
    select c.names as changed, g.paid, g.decided
    from (${changedBases(sql, bases)}) c
    cross join lateral ${areOneOfEach(dues) ? sql`charge_each` : sql`charge_many`}(
      -- of nobody nothing is charged
      case when c.names is null then ${numbers(dues, ({ workspaceId }) => workspaceId)}::int[] end,
      case when c.names is null then ${numbers(dues, ({ keyId }) => keyId)}::int[] end,
      ${restOf(sql, dues)},
      ${waits}
    ) g`
  if (!group.changed) return resultsOf(dues, group)
  const changed = new Set(group.changed)
  const isChanged = (due: Due | KeptDue) => "basis" in due && changed.has(nameOf(due.basis))
  const others = dues.filter((due) => !isChanged(due))
  const results = others.length > 0 ? await chargeAll(sql, others, waits) : []
  return dues.map((due) => (isChanged(due) ? null : results.shift()))
}

/** Two answers of one name may have been made of what stood at two times. */
const nameOf = ({ name, digest }: Basis) => `${digest} ${name}`

/** Null where nothing has changed. */
function changedBases(sql: Sql, bases: ReadonlyMap<string, Basis>): Fragment {
  const kinds = [...Map.groupBy(bases.values(), ({ digestsOf }) => digestsOf)].map(
    ([digestsOf, some]) => sql`
      select was.name
      from unnest(${some.map(nameOf)}::text[], ${some.map(({ digest }) => digest)}::text[])
        with ordinality was (name, digest, caller)
      join (${digestsOf(sql, some.map(({ asked }) => asked))}) now using (caller)
      where was.digest <> now.digest`,
  ) // biome-ignore format: one statement
  return sql`
    select array_agg(name) as names
    from (${kinds.reduce((all, one) => sql`${all} union all ${one}`)}) k`
}
