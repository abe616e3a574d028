import * as v from "valibot"
import { kind, type ObservationOf, type StoredRange } from "../../core/kind.ts"
import { checkIds, hold, isText } from "../../core/observation/invariants.ts"
import { Fact, list, Text } from "../../core/observation/line-parts.ts"
import { most, rule, ruleBy } from "../../core/observation/shape.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf } from "../../lib/days.ts"
import { type BestOptions, pagesOf, provenanceOf, storeBest } from "../../measuring/record/best-rows.ts"

/**
 * `no_file`: no file, or a file without records. `no_site`: the listing has no site. `unreachable`: cannot be
 * determined.
 */
export const APP_ADS_STATES = ["records", "no_file", "no_site", "unreachable"] as const
export type AppAdsState = (typeof APP_ADS_STATES)[number]

/** Variables that a file may declare. CONTACT and SUBDOMAIN belong to version 1.0, the others to 1.1. */
export const APP_ADS_VARIABLES = [
  "CONTACT",
  "SUBDOMAIN",
  "INVENTORYPARTNERDOMAIN",
  "OWNERDOMAIN",
  "MANAGERDOMAIN",
] as const
export type AppAdsVariables = Partial<Record<(typeof APP_ADS_VARIABLES)[number], string[]>>

const Record = v.pipe(
  v.strictObject({
    system: Text,
    /** The developer's id in the ad system, as written. */
    publisherId: Text,
    relation: v.picklist(["DIRECT", "RESELLER"], "must be DIRECT or RESELLER"),
    /** The system's id at an authority that certifies ad systems. */
    certId: Fact,
  }),
  ruleBy(({ system, publisherId, relation, certId }) => {
    const named = isText(system, 253) && isText(publisherId, 256) && (certId === undefined || isText(certId, 64))
    hold(named, "bad_text", "a record must name an ad system and the developer's id there")
    hold(relation === "DIRECT" || relation === "RESELLER", "bad_kind", "a relation must be DIRECT or RESELLER")
  }),
)
export type AppAdsRecord = v.InferOutput<typeof Record>

const Variables = v.pipe(
  v.strictObject(Object.fromEntries(APP_ADS_VARIABLES.map((name) => [name, v.optional(list(Text))]))),
  v.transform((variables) => variables as AppAdsVariables),
  ruleBy((variables) => {
    for (const [name, values] of Object.entries(variables)) checkVariable(name, values)
  }),
)

function checkVariable(name: string, values: readonly string[]): void {
  hold((APP_ADS_VARIABLES as readonly string[]).includes(name), "bad_kind", "a variable is not supported")
  hold(values.length <= MAX_VALUES, "too_many_results", `a variable has more than ${MAX_VALUES} values`)
  for (const value of values) hold(isText(value, 256), "bad_text", "a value must have 1 to 256 characters")
}

const MAX_VALUES = 1_000
// A high limit, because some files of ad networks list thousands of resellers.
const MAX_RECORDS = 100_000

const shape = v.pipe(
  v.strictObject({
    id: v.pipe(
      Text,
      ruleBy((id, { platform }) => checkIds(platform, [id], "apps")),
    ),
    /** The host that was requested. Null if the listing has no site. */
    domain: v.pipe(
      v.nullable(Text),
      rule("bad_text", "a domain must be a host name in lower case", (domain) => domain === null || isHost(domain)),
    ),
    state: v.pipe(
      v.picklist(APP_ADS_STATES, `must be one of ${APP_ADS_STATES.join(", ")}`),
      rule("bad_kind", `the state must be one of ${APP_ADS_STATES.join(", ")}`, (state) => {
        return APP_ADS_STATES.includes(state)
      }),
    ),
    /** Distinct records in file order. Empty unless the state is `records`. */
    records: v.pipe(list(Record), most(MAX_RECORDS, "records")),
    variables: Variables,
  }),
  rule("bad_text", "the domain must be null in the state no_site, and in no other", ({ domain, state }) => {
    return (domain === null) === (state === "no_site")
  }),
  rule("bad_kind", "there must be records in the state records, and in no other", ({ records, state }) => {
    return records.length > 0 === (state === "records")
  }),
)

function isHost(domain: string): boolean {
  return domain.length <= 253 && URL.parse(`https://${domain}/`)?.hostname === domain
}

export type AppAdsObservation = Omit<ObservationOf<"app_ads", "app-ads-txt", typeof shape>, "storefront">

/** The store id of the app whose developer's site is read. */
interface AppAdsQuestion {
  id: string
}

/**
 * Stores one reading per day. A conclusive reading takes precedence over an unreachable one; otherwise the latest
 * reading is stored.
 */
export const appAds = kind<AppAdsObservation, AppAdsQuestion>({
  name: "app_ads",
  sources: ["app-ads-txt"],
  private: false,
  everywhere: true,
  shape,
  distinguishesNull: true,
  question: {
    about: ({ id }) => id,
    checkSubject: (subject, platform) => checkIds(platform, [subject], "requested apps"),
  },
  names: ({ id }) => ({ apps: [id] }),
  async store(tx, looks, { appOf }) {
    const rows = looks.map((from) => {
      const { platform, id, seenAt, domain, state, records, variables } = from
      const about = { app_id: appOf(platform, id), day: dayOf(seenAt), ...provenanceOf(from) }
      return { from, row: { ...about, domain, state, records, variables } }
    })
    return { placed: await storeBest(tx, TABLE, rows) }
  },
  stored: readLooks,
  latest: (sql, { platform, subject }, since) => sql`
    select max(d.seen_at) as "seenAt"
    from store_app a
    join app_ads d on d.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${subject})
      and d.day >= (${since}::timestamptz at time zone 'utc')::date and d.seen_at >= ${since}`,
  example: {
    source: "app-ads-txt",
    platform: "ios",
    id: "897446215",
    seenAt: "2025-10-25T03:25:01Z",
    domain: "canva.com",
    state: "records",
    records: [{ system: "google.com", publisherId: "pub-1", relation: "DIRECT" }],
    variables: { OWNERDOMAIN: ["canva.com"] },
  },
})

const TABLE: BestOptions = {
  table: "app_ads",
  key: ["app_id", "day"],
  first: (tx, row) => tx`${tx(`${row}.state`)} <> 'unreachable'`,
}

const PAGE = 50

type StoredLookRow = AppAdsObservation & { appId: number; day: string }

async function* readLooks(sql: Sql, { since, sources }: StoredRange): AsyncGenerator<AppAdsObservation[]> {
  const pages = pagesOf(
    (after: StoredLookRow | null) => sql<StoredLookRow[]>`
      select d.app_id as "appId", d.day, 'app_ads' as kind, a.platform, a.store_id as id, d.source,
        d.seen_at as "seenAt", d.parser, d.origin, d.sha256, d.domain, d.state, d.records, d.variables
      from app_ads d
      join store_app a on a.id = d.app_id
      where d.day >= ${since ?? "0001-01-01"} and d.source = any(${sources as string[]}::text[])
        and (d.app_id, d.day) > (${after?.appId ?? 0}, ${after?.day ?? "0001-01-01"}::date)
      order by d.app_id, d.day
      limit ${PAGE}`,
  )
  for await (const rows of pages) yield rows.map(({ appId: _appId, day: _day, ...look }) => look)
}
