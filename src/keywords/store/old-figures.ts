import type { Tx } from "../../database/types.ts"
import { holdIdentities, lockLists } from "../../measuring/record/identities.ts"
import type { Sweep } from "../../measuring/retention/tables.ts"
import { SHOWN_DAYS } from "./keyword-figures.ts"
import { deriveKeywordNow } from "./now.ts"

/** Histories show SHOWN_DAYS. The margin keeps rows while a caller pages through a history over midnight. */
const KEPT_DAYS = SHOWN_DAYS + 10

export const figureSweep: Sweep = {
  table: "keyword_metric",
  async sweep(tx, { chunk }) {
    const { removed, more } = await removeOldFigures(tx, chunk)
    return { removed, next: more ? 0 : null }
  },
}

/**
 * Removes calculated figures that no answer shows any more, and derives the current figures of their keywords.
 * Published popularities are kept. Removes at most `chunk` rows.
 */
async function removeOldFigures(tx: Tx, chunk: number): Promise<{ removed: number; more: boolean }> {
  await holdIdentities(tx)
  const old = await tx<{ listId: number; metric: string; day: string; source: string }[]>`
    select list_id as "listId", metric, day, source
    from keyword_metric
    where formula > 0 and day < (now() at time zone 'utc')::date - ${KEPT_DAYS}::int
    order by day
    limit ${chunk}`
  if (old.length === 0) return { removed: 0, more: false }
  const lists = [...new Set(old.map(({ listId }) => listId))]
  await lockLists(tx, lists)
  await tx`
    delete from keyword_metric m
    using unnest(
      ${old.map(({ listId }) => listId)}::int[],
      ${old.map(({ metric }) => metric)}::text[],
      ${old.map(({ day }) => day)}::date[],
      ${old.map(({ source }) => source)}::text[]
    ) o (list_id, metric, day, source)
    where (m.list_id, m.metric, m.day, m.source) = (o.list_id, o.metric, o.day, o.source)`
  await deriveKeywordNow(tx, lists)
  return { removed: old.length, more: old.length === chunk }
}
