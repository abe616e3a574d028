import type { Sql } from "../../database/types.ts"
import { nameIn } from "../../observations/app-names.ts"
import type { KeptApp, KeptMarket, ShownApp } from "./market-news.ts"

/** Some 15 MB. */
const MOST_KEPT = 60_000

/** What is shown of each place, as the app is called in its storefront; what is not kept yet is read in one statement. */
export async function readShownPlaces(
  sql: Sql,
  kept: KeptMarket,
  places: readonly { app: number; country: string }[],
): Promise<ShownApp[]> {
  const { changes } = kept
  const held = places.map(({ app }) => kept.shown.get(app))
  const missing = places.filter((_, at) => held[at] === undefined)
  if (missing.length === 0) return places.map(({ country }, at) => calledIn(held[at]!, country))
  const read = await readApps(sql, missing)
  const isLatest = kept.changes === changes
  let next = 0
  return places.map(({ app, country }, at) => {
    if (held[at]) return calledIn(held[at], country)
    const { isReady, ...one } = read[next++]!
    if (isReady && isLatest) keep(kept, app, one)
    return calledIn(one, country)
  })
}

function keep({ shown }: KeptMarket, app: number, one: KeptApp): void {
  const [oldest] = shown.size < MOST_KEPT ? [] : shown.keys()
  if (oldest !== undefined) shown.delete(oldest)
  shown.set(app, one)
}

function calledIn(app: KeptApp, country: string): ShownApp {
  if (app.others === "") return app
  const other = (JSON.parse(app.others) as Record<string, string>)[country]
  return other === undefined ? app : { ...app, name: JSON.stringify(other) }
}

/** As one row: a row an app takes longer to send than to find. No JSON holds a tab or the end of a line. */
async function readApps(
  sql: Sql,
  places: readonly { app: number; country: string }[],
): Promise<(KeptApp & { isReady: boolean })[]> {
  const [apps, at] = [places.map(({ app }) => app), places.map(({ country }) => country)]
  const [row] = await sql<[{ shown: string }]>`
    select string_agg(
        -- what was not derived yet is looked up where it stands
        case when h.name is null then coalesce(
          to_json(${nameIn(sql, sql`u.app`, { storefront: sql`u.country`, countries: [] })})::text, 'null'
        ) || chr(9) || (
          select coalesce(to_json(developer)::text, 'null') || chr(9) || coalesce(to_json(developer_id)::text, 'null')
          from store_app
          where id = u.app
        ) || chr(9) || chr(9) else concat_ws(chr(9), h.name, h.publisher, coalesce(h.others::text, ''), 'ready') end,
        chr(10)
        order by u.place
      ) as shown
    from unnest(${apps}::int[], ${at}::text[]) with ordinality u (app, country, place)
    left join lateral (
      select name, publisher, others
      from app_shown
      where app_id = u.app
      -- looked up for each: a plan for many reads all that there are
      offset 0
    ) h on true`
  return row.shown.split("\n").map((line) => {
    const [name, publisher, publisherId, others, ready] = line.split("\t") as [string, string, string, string, string]
    return { name, publisher, publisherId, others, isReady: ready !== "" }
  })
}
