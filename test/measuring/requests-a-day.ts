import { trackApp } from "../../src/actions/tracking.ts"
import type { Sql } from "../../src/database/types.ts"
import { budgetOf } from "../../src/measuring/budget.ts"
import { kindsOf } from "../../src/measuring/kinds.ts"
import { BASE_GAPS_MS } from "../../src/measuring/pace.ts"
import { record } from "../../src/observations/record.ts"
import type { Upstream } from "../../src/upstreams.ts"
import { newWorkspace, said } from "../observations/measured.ts"

export interface Tracked {
  platform: "ios" | "android"
  /** The first is the country of the address that reads. */
  countries: readonly string[]
  keywords: number
  rivals: number
}

/** Requests a day to each upstream once an app was read for the first time: what the rows that tracking it makes ask for. */
export async function requestsADay(sql: Sql, tracked: Tracked): Promise<Partial<Record<Upstream, number>>> {
  await sql`delete from tracked_app`
  await sql`delete from due`
  const { platform, countries, keywords, rivals } = tracked
  const [own, ...others] = storeIds(platform, rivals + 1) as [string, ...string[]]
  const facts = platform === "ios" ? { genre: "6013", developerId: "1500000011" } : {}
  const source = platform === "ios" ? "itunes-lookup" : "play-details"
  const apps = [own, ...others].map((id) => ({ id, name: id, ...facts }))
  await record(sql, [said(new Date().toISOString(), apps, { platform, source })])
  const app = { workspaceId: await newWorkspace(sql), origin: "own", countries: [...countries] }
  const terms = Array.from({ length: keywords }, (_, i) => `term ${i}`)
  const store = platform === "ios" ? { iosId: own } : { androidPkg: own }
  const id = (await sql.begin((tx) => trackApp(tx, { ...app, ...store, keywords: terms }))) as string
  // both come with the first results
  await sql`
    insert into due (kind, platform, storefront, subject)
    select kind, platform, storefront, subject from tracked_subject where kind = 'difficulty'`
  await sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms)
    select ${id}, ${platform}, c.storefront, s.id, false, 1
    from store_app s
    cross join unnest(${countries}::text[]) c (storefront)
    where s.store_id = any(${others}::text[])`
  const kinds = kindsOf({ egressCountry: countries[0] })
  const budgets = await budgetOf(sql, { kinds, egress: "main", gapsMs: BASE_GAPS_MS })
  return Object.fromEntries(budgets.flatMap(({ upstream, asked }) => (asked > 0 ? [[upstream, asked]] : [])))
}

function storeIds(platform: Tracked["platform"], count: number): string[] {
  return Array.from({ length: count }, (_, i) => (platform === "ios" ? String(900_000_000 + i) : `com.example.app${i}`))
}
