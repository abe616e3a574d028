import type { Sql } from "../../database/types.ts"
import { type NamePlace, nameIn } from "../../stores/store/app-names.ts"
import type { Movers } from "../formulas/chart-movers.ts"

/** Returns the first `limit` movers of each list, with names. */
export async function readMoverNames(
  sql: Sql,
  { climbed, fell, entered, left }: Movers,
  limit: number,
  place: NamePlace,
) {
  const [risers, fallers, entrants, dropouts] = [
    climbed.slice(0, limit),
    fell.slice(0, limit),
    entered.slice(0, limit),
    left.slice(0, limit),
  ]
  const apps = await readNames(
    sql,
    [...risers, ...fallers, ...entrants, ...dropouts].map(({ app }) => app),
    place,
  )
  const named = <Row extends { app: number }>(rows: readonly Row[]) =>
    rows.map(({ app, ...row }) => ({ ...(apps.get(app) as AppName), ...row }))
  return {
    risers: named(risers),
    fallers: named(fallers),
    entrants: named(entrants),
    dropouts: named(dropouts),
    counts: { risers: climbed.length, fallers: fell.length, entrants: entered.length, dropouts: left.length },
  }
}

interface AppName {
  id: string
  name: string
}

async function readNames(sql: Sql, apps: readonly number[], place: NamePlace): Promise<Map<number, AppName>> {
  const rows = await sql<(AppName & { app: number })[]>`
    select id as app, store_id as id, coalesce(${nameIn(sql, sql`store_app.id`, place)}, store_id) as name
    from store_app
    where id = any(${apps as number[]}::int[])
    order by store_app.id
    limit ${apps.length}`
  return new Map(rows.map(({ app, ...named }) => [app, named]))
}
