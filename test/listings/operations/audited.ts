import type { Sql } from "../../../src/database/types.ts"
import type { Measure } from "../../../src/lib/live-read.ts"
import { STOREFRONTS } from "../../../src/lib/storefronts.ts"
import type { Listing } from "../../../src/stores/kinds/listing-shape.ts"
import { listed } from "../../measuring/record/listed.ts"
import { record } from "../../record.ts"
import { type Answer, openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

export const OWN_APP = "1600000101"

export const TEXTS = {
  en:
    "Steep your tea to the minute. Choose what you drink, and the timer tells you when it is done. " +
    "It is made for those who like to sit down and wait for the cup, and nothing else.",
  de:
    "Der Tee zieht auf die Minute genau. Wähle aus, was du trinkst, und die Uhr sagt dir, wann er fertig ist. " +
    "Sie ist für alle gemacht, die sich gerne hinsetzen und nicht auf etwas anderes warten.",
  ja:
    "お茶を一分もたがえずに淹れるためのタイマーです。飲みたいお茶を選ぶだけで、できあがったときにお知らせします。" +
    "ゆっくりと座って待つのが好きな人のために作りました。それだけのアプリですが、毎日のお茶がもっとおいしくなります。どうぞお試しください。",
}

/** Returns the parts of a page. Its name and subtitle are long enough to cause no findings. */
export function page(rest: Partial<Listing> = {}): Partial<Listing> {
  const texts = { name: "Tea Timer: Steep It Right", subtitle: "A quiet clock for your cup", description: TEXTS.en }
  const three = ["p1", "p2", "p3"].map((name) => `https://is1-ssl.mzstatic.com/${name}.png/1290x2796bb.jpg`)
  return { ...texts, screenshots: { phone: three }, similar: [], moreByDeveloper: [], ratings: 10, ...rest }
}

/** A workspace with an app in the US, on a database without scans. */
export interface Audited {
  sql: Sql
  service: Service
  workspaceId: number
  key: string
  appId: string
  ask(query?: string, by?: string): Promise<Answer>
  /** Records pages of storefronts, read this many minutes ago. */
  says(pages: Record<string, Partial<Listing>>, minutesAgo?: number): Promise<void>
  /** Records failed reads of storefronts, missing pages by default. */
  fails(storefronts: readonly string[], outcome?: string, minutesAgo?: number): Promise<void>
  /** Makes the running scan and all earlier readings older by an interval. */
  ages(by: string): Promise<void>
  scans(): Promise<{ running: boolean; failed: boolean }[]>
  /** Returns the storefronts whose page is due. */
  due(): Promise<string[]>
}

export async function audited(sql: Sql, measure?: Measure): Promise<Audited> {
  for (const table of ["due", "tracked_app", "storefront_audit", "listing_run", "attempt", "rating_count"])
    await sql`delete from ${sql(table)}`
  await sql`delete from app_storefront`
  await sql`delete from pace`
  const service = openService({ sql, measure: measure ?? (async () => ({ state: "pending", eta: 1 })) })
  const workspaceId = await service.workspace()
  const key = await service.key(workspaceId)
  const appId = await trackOwn(sql, { workspaceId, iosId: OWN_APP })
  await sql`delete from due`
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  return {
    sql,
    service,
    workspaceId,
    key,
    appId,
    ask: (query = "", by = key) => service.call(`/v1/apps/${appId}/storefront-audit${query}`, { key: by }),
    async says(pages, minutesAgo = 0) {
      const all = Object.entries(pages).map(([storefront, rest]) =>
        listed(ago(minutesAgo), page(rest), { storefront, id: OWN_APP }),
      )
      await record(sql, all)
    },
    async fails(storefronts, outcome = "not_found", minutesAgo = 0) {
      await sql`
        insert into attempt (kind, at, subject, storefront, platform, source, outcome)
        select 'listing', ${ago(minutesAgo)}::timestamptz, ${OWN_APP}, c.storefront, 'ios', 'apple-app-page', ${outcome}
        from unnest(${storefronts as string[]}::text[]) c (storefront)`
    },
    async ages(by) {
      await sql`
        update storefront_audit
        set started_at = started_at - ${by}::interval, finished_at = finished_at - ${by}::interval`
      await sql`update attempt set at = at - ${by}::interval`
      await sql`
        update listing_run
        set seen_at = seen_at - ${by}::interval, first_seen_at = first_seen_at - ${by}::interval,
          moments = array(select m - ${by}::interval from unnest(moments) m)`
    },
    async scans() {
      const rows = await sql<{ running: boolean; failed: boolean }[]>`
        select finished_at is null as running, failed
        from storefront_audit
        order by started_at`
      return [...rows]
    },
    async due() {
      const rows = await sql<{ storefront: string }[]>`
        select storefront
        from due
        where kind = 'listing' and subject = ${OWN_APP}
        order by storefront`
      return rows.map(({ storefront }) => storefront)
    },
  }
}

/** Returns all storefronts except these. */
export function otherStorefronts(...storefronts: string[]): string[] {
  return STOREFRONTS.filter((storefront) => !storefronts.includes(storefront))
}
