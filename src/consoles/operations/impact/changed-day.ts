import type { Platform } from "../../../core/observation/provenance.ts"
import type { TrackedApp } from "../../../core/tracked-app.ts"
import type { Sql } from "../../../database/types.ts"
import { addDays, type Days, dayOf, earlier, later } from "../../../lib/days.ts"
import { Fault } from "../../../lib/faults.ts"
import type { PAGE_CHANGES } from "../../../listings/changes.ts"
import { readChanges, type StoredChange } from "../../../listings/read/changes.ts"
import { PAGE_SOURCES, readPageStates } from "../../../listings/read/store-pages.ts"

type PageChange = (typeof PAGE_CHANGES)[number]

/** Changes that owners make to sell more, in the order in which they decide the primary outcome. */
export const TREATMENTS = [
  "price",
  "name",
  "subtitle",
  "screenshots",
  "icon",
  "promotional_text",
  "description",
] as const satisfies PageChange[]
export type Treatment = (typeof TREATMENTS)[number]

/** Other changes of the app, seen in one storefront, that affect the figures there. */
const BESIDE = ["event_started", "event_ended", "featured", "unfeatured"] as const satisfies PageChange[]
/** A new version appears in all storefronts at once, including the controls. */
const EVERYWHERE = ["version"] as const satisfies PageChange[]
const OF_RIVALS = ["event_started", "featured", "name", "price"] as const satisfies PageChange[]

/** Number of days for which control storefronts must have been unchanged. */
const UNCHANGED_DAYS = 56
const MAX_CHANGES = 1_000
const MAX_OVERLAPS = 50

interface Overlap {
  kind: PageChange
  country: string
  day: string
  own: boolean
  confounds: boolean
}

export interface ChangedPage {
  day: string
  changes: (StoredChange & { kind: Treatment })[]
  /** The storefronts that changed, in the app's order, and those that certainly did not change. */
  treated: string[]
  unchanged: string[]
  /** Times of the last reading without the change and of the first with it. */
  notYetAt: Date
  at: Date
  /** Days of other changes in the changed storefronts, except new versions. */
  ownDays: string[]
  overlaps: Overlap[]
  /** Changes of name and subtitle, from UNCHANGED_DAYS before the day to the end of the window. */
  texts: StoredChange[]
}

interface ChangeQuery {
  platform: Platform
  day?: string
  country: string | null
  window: number
  /** Number of days before the change to read. */
  back: number
  plan: Days
}

/**
 * Returns the changes of the requested day, or of the latest day with a change. Throws not_measured and bad_day when
 * there is none.
 */
export async function readChangedPage(sql: Sql, app: TrackedApp, query: ChangeQuery): Promise<ChangedPage> {
  const storeApp = storeAppOf(app, query.platform)
  const apps = storeApp === null ? [] : [storeApp]
  const only = query.country === null ? {} : { storefront: query.country }
  const day = query.day ?? (await findLatestDay(sql, apps, { ...only, ...query.plan }))
  if (day === null) throw new Fault("not_measured", { detail: await describeReadings(sql, app, query) })
  const to = earlier(addDays(day, query.window), query.plan.to)
  const kinds = [...TREATMENTS, ...BESIDE, ...EVERYWHERE]
  const all = await readChanges(sql, { apps, kinds, from: addDays(day, -query.back), to, limit: MAX_CHANGES })
  const isOf = (change: StoredChange) =>
    change.day === day && (query.country ?? change.storefront) === change.storefront
  const changes = all.filter((change): change is ChangedPage["changes"][number] => isOf(change) && isTreatment(change))
  if (changes.length === 0) throw new Fault("bad_day", { field: "day", detail: noChangeOn(day, all) })
  const isTreated = new Set(changes.map(({ storefront }) => storefront))
  const treated = app.countries.filter((country) => isTreated.has(country))
  const otherChanges = all.filter(
    (change) => isTreated.has(change.storefront) && !(change.day === day && isTreatment(change)),
  )
  return {
    day,
    changes,
    treated,
    unchanged: await readUnchanged(sql, app, all, { ...query, day, to: addDays(day, query.window) }),
    notYetAt: new Date(Math.min(...changes.map(({ beforeSeenAt }) => beforeSeenAt.getTime()))),
    at: new Date(Math.max(...changes.map(({ at }) => at.getTime()))),
    ownDays: otherChanges.filter(({ kind }) => kind !== "version").map((change) => change.day),
    overlaps: [
      ...ownOverlaps(otherChanges, day, query.window),
      ...(await readRivalOverlaps(sql, app, treated, { ...query, from: addDays(day, -query.window), to })),
    ].slice(0, MAX_OVERLAPS),
    texts: all.filter(({ kind, day: other }) => {
      return (kind === "name" || kind === "subtitle") && other >= addDays(day, -UNCHANGED_DAYS)
    }),
  }
}

function storeAppOf({ iosApp, androidApp }: TrackedApp, platform: Platform): number | null {
  return platform === "ios" ? iosApp : androidApp
}

function isTreatment({ kind }: StoredChange): boolean {
  return TREATMENTS.includes(kind as Treatment)
}

async function findLatestDay(
  sql: Sql,
  apps: readonly number[],
  query: Days & { storefront?: string },
): Promise<string | null> {
  const [latest] = await readChanges(sql, { apps, ...query, kinds: TREATMENTS, limit: 1 })
  return latest?.day ?? null
}

async function describeReadings(sql: Sql, app: TrackedApp, { country, plan, platform }: ChangeQuery): Promise<string> {
  const storefronts = country === null ? app.countries : [country]
  const storeApp = storeAppOf(app, platform)
  const pages = storeApp === null ? null : await readPageStates(sql, storeApp, storefronts, PAGE_SOURCES[platform])
  const first = [...(pages?.values() ?? [])].map(({ firstReadAt }) => dayOf(firstReadAt)).sort()[0]
  if (first === undefined) return "The app's page was never read there, so its changes are unknown."
  return `No change of price, name, subtitle, pictures or texts of its page was seen since ${later(first, plan.from)}.`
}

function noChangeOn(day: string, all: readonly StoredChange[]): string {
  const days = [...new Set(all.filter(isTreatment).map((change) => change.day))].slice(0, 5)
  const nearest = days.length > 0 ? `nearby days with a change: ${days.join(", ")}` : "no nearby day has a change"
  return (
    `No change of price, name, subtitle, pictures or texts was seen on ${day}; ${nearest}. get_timeline lists ` +
    "changes."
  )
}

/**
 * Returns the tracked storefronts whose page was read throughout, from UNCHANGED_DAYS before the change to the window's
 * end, and did not change in that time.
 */
async function readUnchanged(
  sql: Sql,
  app: TrackedApp,
  all: readonly StoredChange[],
  { day, to, platform }: { day: string; to: string; platform: Platform },
): Promise<string[]> {
  const since = addDays(day, -UNCHANGED_DAYS)
  const changed = new Set(
    all.filter((change) => change.kind !== "version" && change.day >= since).map(({ storefront }) => storefront),
  )
  const candidates = app.countries.filter((country) => !changed.has(country))
  const storeApp = storeAppOf(app, platform)
  if (candidates.length === 0 || storeApp === null) return []
  const pages = await readPageStates(sql, storeApp, candidates, PAGE_SOURCES[platform])
  return candidates.filter((country) => {
    const page = pages.get(country)
    return page !== undefined && dayOf(page.firstReadAt) <= since && dayOf(page.seenAt) >= to
  })
}

function ownOverlaps(ownChanges: readonly StoredChange[], day: string, window: number): Overlap[] {
  const from = addDays(day, -window)
  return ownChanges
    .filter((change) => change.day >= from && change.day <= addDays(day, window))
    .map(({ kind, storefront, day }) => {
      return { kind: kind as PageChange, country: storefront, day, own: true, confounds: kind !== "version" }
    })
}

async function readRivalOverlaps(
  sql: Sql,
  app: TrackedApp,
  treated: readonly string[],
  { platform, from, to }: Days & { platform: Platform },
): Promise<Overlap[]> {
  const apps = sql`
      select distinct rival as id
      from app_rival
      where app_id = ${app.id} and platform = ${platform} and storefront = any(${treated as string[]}::text[])
      order by id
      limit 200`
  const found = await readChanges(sql, { apps, kinds: OF_RIVALS, from, to, limit: MAX_OVERLAPS })
  return found
    .filter(({ storefront }) => treated.includes(storefront))
    .map(({ kind, storefront, day }) => {
      return { kind: kind as PageChange, country: storefront, day, own: false, confounds: false }
    })
}
