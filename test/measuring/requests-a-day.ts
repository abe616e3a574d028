import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import type { Upstream } from "../../src/lib/upstreams.ts"
import { readBudget } from "../../src/measuring/budget.ts"
import { BASE_GAPS_MS } from "../../src/measuring/pace.ts"
import { record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"
import { appsReading, newWorkspace } from "./record/measured.ts"

export interface Tracked {
  platform: "ios" | "android"
  /** Storefronts. The first is the country of the egress address. */
  countries: readonly string[]
  keywords: number
  rivals: number
  /** Number of such apps, of one genre, each with its own keywords and rivals. Default: 1. */
  apps?: number
}

/**
 * Returns the requests per day to each upstream after the first readings, from the rows that tracking the apps creates.
 */
export async function requestsADay(sql: Sql, tracked: Tracked): Promise<Partial<Record<Upstream, number>>> {
  await sql`delete from tracked_app`
  await sql`delete from due`
  for (let place = 0; place < (tracked.apps ?? 1); place++) await track(sql, tracked, place)
  // both come with the first results
  await sql`
    insert into due (kind, platform, storefront, subject)
    select kind, platform, storefront, subject from tracked_subject where kind = 'difficulty'`
  const { countries } = tracked
  const kinds = kindsOf({ egressCountry: countries[0] })
  const budgets = await readBudget(sql, { kinds, egress: "main", gapsMs: BASE_GAPS_MS })
  return Object.fromEntries(
    budgets.flatMap(({ upstream, asked: requests }) => (requests > 0 ? [[upstream, requests]] : [])),
  )
}

async function track(sql: Sql, { platform, countries, keywords, rivals }: Tracked, place: number): Promise<void> {
  const [ownId, ...otherIds] = storeIds(platform, rivals + 1, place * 1_000) as [string, ...string[]]
  const facts = platform === "ios" ? { genre: "6013", developerId: String(1_500_000_011 + place) } : {}
  const source = platform === "ios" ? "itunes-lookup" : "play-details"
  const apps = [ownId, ...otherIds].map((id) => ({ id, name: id, ...facts }))
  await record(sql, [appsReading(new Date().toISOString(), apps, { platform, source })])
  const app = { workspaceId: await newWorkspace(sql), origin: "own", countries: [...countries] }
  const terms = Array.from({ length: keywords }, (_, i) => `term ${place} ${i}`)
  const store = platform === "ios" ? { iosId: ownId } : { androidPkg: ownId }
  const id = await trackOwn(sql, { ...app, ...store, keywords: terms })
  await sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms)
    select ${id}, ${platform}, c.storefront, s.id, false, 1
    from store_app s
    cross join unnest(${countries}::text[]) c (storefront)
    where s.store_id = any(${otherIds}::text[])`
}

function storeIds(platform: Tracked["platform"], count: number, first: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    platform === "ios" ? String(900_000_000 + first + i) : `com.example.app${first + i}`,
  )
}
