import type { Sql, Tx } from "../../database/types.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { holdIdentities } from "../../measuring/record/identities.ts"
import { APP_TEXT_FORMULA, foldApp, foldedWords, gramsOf } from "../app-text.ts"
import { lockApps } from "./facts.ts"

/**
 * Writes the search text of these apps, after a name or developer was written. Requires the apps' lock (lockApps).
 * Idempotent. Returns the number of apps that changed.
 */
export async function deriveAppTexts(tx: Tx, apps: readonly number[]): Promise<number> {
  const ids = [...new Set(apps)].toSorted((a, b) => a - b)
  let written = 0
  for (let from = 0; from < ids.length; from += AT_ONCE) written += await derive(tx, ids.slice(from, from + AT_ONCE))
  return written
}

const AT_ONCE = 500

interface CalledApp {
  id: number
  storeId: string
  names: string[]
  developer: string | null
  storedText: string | null
  formula: number | null
}

async function derive(tx: Tx, apps: readonly number[]): Promise<number> {
  const rows = await tx<CalledApp[]>`
    select s.id, s.store_id as "storeId", s.developer, t.folded as "storedText", t.formula, array(
        select distinct n.name
        from store_app_name n
        where n.app_id = s.id and n.name is not null
      ) as names
    from unnest(${apps as number[]}::int[]) a (id)
    join store_app s on s.id = a.id
    left join app_text t on t.app_id = s.id
    order by s.id
    limit ${apps.length}`
  const changed = rows.flatMap(({ id, storeId, names, developer, storedText, formula }) => {
    // Invented demo apps are not searchable, because no store has them.
    const folded = isInventedId(storeId) ? null : foldApp(names, developer)
    return folded === storedText && (storedText === null || formula === APP_TEXT_FORMULA) ? [] : [{ id, folded }]
  })
  if (changed.length > 0) await write(tx, changed)
  return changed.length
}

async function write(tx: Tx, changed: readonly { id: number; folded: string | null }[]): Promise<void> {
  const gone = changed.filter(({ folded }) => folded === null).map(({ id }) => id)
  if (gone.length > 0) await tx`delete from app_text where app_id = any(${gone}::int[])`
  const texts = changed.flatMap(({ id, folded }) => (folded === null ? [] : [{ id, folded }]))
  if (texts.length === 0) return
  await tx`
    insert into app_text (app_id, formula, folded, grams)
    select id, ${APP_TEXT_FORMULA}, folded, grams::int[]
    from unnest(
      ${texts.map(({ id }) => id)}::int[], ${texts.map(({ folded }) => folded)}::text[],
      ${texts.map(({ folded }) => `{${gramsOf(foldedWords(folded)).join()}}`)}::text[]
    ) t (id, folded, grams)
    order by id
    on conflict (app_id) do update
    set formula = excluded.formula, folded = excluded.folded, grams = excluded.grams`
}

/** Derives the texts of all apps again and returns how many were wrong. Pauses between two batches. */
export async function rebuildAppTexts(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (let after = 0; ; ) {
    const rows = await sql<{ id: number }[]>`
      select id
      from store_app
      where id > ${after}
      order by id
      limit ${REBUILT_AT_ONCE}`
    const apps = rows.map(({ id }) => id)
    if (apps.length === 0) return mended
    mended += await sql.begin(async (tx) => {
      await holdIdentities(tx)
      await lockApps(tx, apps)
      return await deriveAppTexts(tx, apps)
    })
    after = apps.at(-1) as number
    await pause()
  }
}

/** Apps per transaction. It takes about 10 ms on the embedded database if all are new. */
const REBUILT_AT_ONCE = 100
