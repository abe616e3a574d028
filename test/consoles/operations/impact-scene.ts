import type { Sql } from "../../../src/database/types.ts"
import type { Observation } from "../../../src/kinds.ts"
import { addDays } from "../../../src/lib/days.ts"
import { IOS_ID } from "../../core/paged.ts"
import { listed, PAGE } from "../../measuring/record/listed.ts"
import { reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { downloadsIn } from "../impact/worlds.ts"
import { EXAMPLE_ACCOUNT, reported } from "../reported.ts"

export const TODAY = new Date("2026-06-20T12:00:00Z")
/**
 * us changed its screenshots between the readings of 8 and 9 June, and gb changed its name. The console's days begin 7
 * hours later than UTC days.
 */
export const CHANGED = "2026-06-09"
/** All storefronts changed their icon. */
export const EVERYWHERE = "2026-02-15"
/** de changed its screenshots two days before an event began there. */
export const DE_CHANGED = "2026-04-01"
const COUNTRIES = ["us", "de", "fr", "jp", "ca", "it", "gb"]
export const TERMS = ["oolong tea", "mate", "cocoa", "chai", "kettle"]
const DAYS = 220

export interface ImpactScene {
  sql: Sql
  service: Service
  workspaceId: number
  appId: string
  key: string
  clock: { now: Date }
}

/**
 * Stores 220 days of downloads in seven storefronts (us has 30 % more after the change), the store pages of all
 * storefronts, and ranks in gb.
 */
export async function impactScene(sql: Sql): Promise<ImpactScene> {
  const clock = { now: TODAY }
  const service = openService({ sql, now: () => clock.now })
  const workspaceId = await service.workspace({ plan: "enterprise", overrides: { ratePerSecond: 100_000 } })
  const tracked = { workspaceId, iosId: IOS_ID, countries: COUNTRIES, keywords: TERMS, origin: "own" }
  const appId = await trackOwn(sql, tracked)
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state)
    values (${EXAMPLE_ACCOUNT}, ${workspaceId}, 'app-store-connect', 'key …1', '85012345', 'v1.a.b.c', null, 'ok')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${EXAMPLE_ACCOUNT}, ${IOS_ID}, 'TEA01', 'Tea', 'com.example.tea', ${appId})`
  const result = await record(sql, [...salesDays(), ...pages(), ...ranks()], () => new Date("2026-12-31T00:00:00Z"))
  if (result.refused.length > 0) throw result.refused[0]?.problem
  const key = await service.key(workspaceId)
  return { sql, service, workspaceId, appId, key, clock }
}

function salesDays(): Observation[] {
  const { treated, controls } = downloadsIn({ seed: 5, days: DAYS, window: 10, effect: 0.3 })
  const first = addDays("2026-06-08", -DAYS)
  const [us, ...rest] = [...treated, ...controls].map(({ values }) => values as number[])
  const byCountry = [us, ...rest.slice(0, 5), rest[4]] as number[][]
  const euros = { type: "1F", price: "0", currency: "EUR", proceeds: "0", proceedsCurrency: "EUR" }
  return (us as number[]).map((_, place) => {
    const day = addDays(first, place)
    const rows = COUNTRIES.map((country, at) => {
      return { app: "TEA01", product: "TEA01", title: "Tea", country, units: byCountry[at]?.[place], ...euros }
    })
    const paid = { ...rows[0], product: "TEA01.pro", type: "IAY", units: 10, price: "9.99", proceeds: "7.00" }
    return reported("sales", {
      account: EXAMPLE_ACCOUNT,
      day,
      seenAt: new Date(`${addDays(day, 1)}T13:00:00Z`),
      rows: [...rows, paid],
    })
  })
}

function pages(): Observation[] {
  const screenshots = (name: string) => ({
    phone: [`https://is1-ssl.mzstatic.com/${name}.png/1290x2796bb.jpg`],
    pad: [],
  })
  const icon = "https://is1-ssl.mzstatic.com/image/b/AppIcon.png/512x512bb.jpg"
  const days = [
    "2025-10-20",
    "2026-02-14",
    EVERYWHERE,
    "2026-03-31",
    DE_CHANGED,
    "2026-04-02",
    "2026-04-03",
    "2026-06-08",
    CHANGED,
    "2026-06-19",
  ]
  return COUNTRIES.flatMap((storefront) =>
    days.map((day) => {
      const fields = {
        ...(day >= EVERYWHERE && { icon }),
        ...(storefront === "us" && day >= CHANGED && { screenshots: screenshots("us") }),
        ...(storefront === "us" && day > CHANGED && { version: "4.2" }),
        ...(storefront === "gb" && day >= CHANGED && { name: "Tea Timer Oolong" }),
        ...(storefront === "de" && day >= DE_CHANGED && { screenshots: screenshots("de") }),
        ...(storefront === "de" &&
          day >= "2026-04-03" && { events: [...(PAGE.events ?? []), { id: "6000002", title: "Mate" }] }),
      }
      return listed(`${day}T06:00:00Z`, fields as never, { storefront })
    }),
  )
}

/** Covers 120 days. The keyword whose word was added moves from 12 to 6; the other keywords stay about the same. */
function ranks(): Observation[] {
  const first = addDays(CHANGED, -110)
  return Array.from({ length: 120 }, (_, place) => addDays(first, place)).flatMap((day, place) =>
    TERMS.map((term, at) => {
      const steadyRank = 3 + 2 * at + ((place * (at + 3)) % 3)
      const rank = at > 0 ? steadyRank : (day > CHANGED ? 6 : 12) + (place % 2)
      const ids = Array.from({ length: 20 }, (_, n) => (n + 1 === rank ? IOS_ID : 1_700_000_000 + n))
      return reading(
        term,
        `${day}T05:00:00Z`,
        ids as never,
        { source: "apple-web-search", depth: 20, storefront: "gb" } as never,
      )
    }),
  )
}
