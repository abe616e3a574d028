import { rootOf } from "../../database/scheduled-sql.ts"
import { createStatementGroups, type OfWorkspace } from "../../database/statement-groups.ts"
import type { Sql } from "../../database/types.ts"
import { nameIn } from "../../observations/app-names.ts"
import type { KeptMarket } from "./market-news.ts"

interface FoundPlace {
  app: number
  storeId: number
  country: string
}

/** What is shown of each place, as members of JSON, the app called as in its storefront; what is not kept yet is read. */
export async function readShownPlaces(
  sql: Sql,
  kept: KeptMarket,
  workspaceId: number,
  places: readonly FoundPlace[],
): Promise<string[]> {
  const held = places.map(({ app }) => kept.shown.get(app))
  const missing = places.filter((_, at) => held[at] === undefined)
  if (missing.length === 0) return places.map((place, at) => calledIn(held[at]!, place))
  const read = await readTogether(sql, kept, { workspaceId, apps: missing.map(({ app }) => app) })
  const underived = await readUnderived(
    sql,
    missing.filter(({ app }) => !read.has(app)),
  )
  return places.map((place, at) => calledIn(held[at] ?? read.get(place.app) ?? underived.get(place)!, place))
}

interface AppsQuestion extends OfWorkspace {
  apps: readonly number[]
}

const groups = new WeakMap<KeptMarket, (question: AppsQuestion) => Promise<Map<number, string>>>()

/** What several calls miss, in one statement; who is not derived yet is missing there too. */
async function readTogether(sql: Sql, kept: KeptMarket, question: AppsQuestion): Promise<Map<number, string>> {
  const database = rootOf(sql)
  const group =
    groups.get(kept) ??
    createStatementGroups<AppsQuestion, Map<number, string>>(async (questions) => {
      const { changes } = kept
      const read = await readApps(database, [...new Set(questions.flatMap(({ apps }) => apps))])
      if (kept.changes === changes) for (const [app, text] of read) kept.shown.set(app, text)
      return questions.map(() => read)
    })
  groups.set(kept, group)
  return await group(question)
}

/** As one row: a row an app takes longer to send than to find. No JSON holds a tab or the end of a line. */
async function readApps(sql: Sql, apps: readonly number[]): Promise<Map<number, string>> {
  const [row] = await sql<[{ shown: string | null }]>`
    select string_agg(concat_ws(chr(9), app_id, name, publisher, others), chr(10)) as shown
    from app_shown
    where app_id = any(${apps as number[]}::int[])`
  const read = new Map<number, string>()
  for (const line of row.shown?.split("\n") ?? []) {
    const [app, name, publisher, publisherId, ...others] = line.split("\t")
    read.set(Number(app), [shownText(name!, publisher!, publisherId!), ...others].join("\t"))
  }
  return read
}

function shownText(name: string, publisher: string, publisherId: string): string {
  return `"name":${name},"publisher":${publisher},"publisherId":${publisherId}`
}

/** Looked up where it stands, as it is called in each storefront. */
async function readUnderived<P extends FoundPlace>(sql: Sql, places: readonly P[]): Promise<Map<P, string>> {
  if (places.length === 0) return new Map()
  const [apps, countries] = [places.map(({ app }) => app), places.map(({ country }) => country)]
  const rows = await sql<{ name: string; publisher: string; publisherId: string }[]>`
    select coalesce(to_json(${nameIn(sql, sql`s.id`, { storefront: sql`u.country`, countries: [] })})::text, 'null') as name,
      coalesce(to_json(s.developer)::text, 'null') as publisher,
      coalesce(to_json(s.developer_id)::text, 'null') as "publisherId"
    from unnest(${apps}::int[], ${countries}::text[]) with ordinality u (app, country, place)
    join store_app s on s.id = u.app
    order by u.place
    limit ${places.length}`
  return new Map(
    rows.map(({ name, publisher, publisherId }, at) => [places[at]!, shownText(name, publisher, publisherId)]),
  )
}

const TEXT = /"(?:[^"\\]|\\.)*"/y
const NAME = '"name":'

/** Behind a tab stand the names of storefronts that have another, as PostgreSQL writes them: `"de": "Tee"`. */
function calledIn(text: string, { storeId, country }: FoundPlace): string {
  const tab = text.indexOf("\t")
  const own = tab < 0 ? text : text.slice(0, tab)
  const name = textAt(text, tab < 0 ? -1 : text.indexOf(`"${country}": `, tab), `"${country}": `.length)
  if (name !== null) return NAME + name + own.slice(NAME.length + (textAt(own, 0, NAME.length) ?? "null").length)
  const none = `${NAME}null`
  return own.startsWith(none) ? `${NAME}"${storeId}"${own.slice(none.length)}` : own
}

/** The JSON string so far behind where a key stands; null = it stands nowhere, or there is none. */
function textAt(text: string, key: number, behind: number): string | null {
  if (key < 0) return null
  TEXT.lastIndex = key + behind
  return TEXT.exec(text)?.[0] ?? null
}
