import * as v from "valibot"
import type { Platform } from "../../core/observation/provenance.ts"
import { type Context, nothing, operation } from "../../core/operation.ts"
import { NOT_THERE, READING_DEADLINE_MS, READING_FAULTS, throwUnlessAnswer } from "../../core/read-on-request.ts"
import { Fault } from "../../lib/faults.ts"
import { wholeNumber } from "../../lib/fields.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { Count, Origin, Source, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { type NamedApp, type NameSearch, readNamedApps, readNameSearch } from "../read/named-apps.ts"
import { findAppsByText, MAX_COMPARED, NEARNESS, type Nearness } from "../read/texts.ts"
import { MarketCountry, platformOf, refuseOtherLink, storeIdIn } from "./inputs.ts"
import { findBundle, findStoreApp, marketAppFields } from "./market-apps.ts"
import { whyUnread } from "./read-now.ts"

/** Followed apps are looked up daily. The results of a name search change less often. */
const KEPT_DAYS = 1
const NAMES_KEPT_DAYS = 7
const MAX_QUERY_LENGTH = 120

const MATCHES = ["link", "id", "package", ...NEARNESS, "store"] as const

const Query = coded(
  v.pipe(
    v.string(),
    v.minLength(1),
    // JSON Schema counts code points, valibot's maxLength counts UTF-16 units
    v.metadata({ maxLength: MAX_QUERY_LENGTH }),
    v.check((text) => {
      const length = [...text.trim()].length
      return length >= 1 && length <= MAX_QUERY_LENGTH
    }),
    v.description(
      "Name of an app or publisher, without regard to case and accents; or a link to a store page, an App Store " +
        "id or a package name.",
    ),
  ),
  "bad_query",
)

const Resolved = named(
  "ResolvedApp",
  v.strictObject({
    ...marketAppFields,
    platform: Store,
    ratings: described(v.nullable(Count), "Number of ratings in that storefront. Null if not measured."),
    ratingsAt: described(v.nullable(Time), "Time of that reading. Null if ratings is null."),
    matchedBy: described(
      v.picklist(MATCHES),
      "link, id, package: exact match; a package also matches the bundle id of an App Store app. name: equal to a " +
        "name; prefix: start of a name; words: every word occurs in its names; publisher: some words occur only in " +
        "its publisher's name, in any storefront. store: found by the store's search.",
    ),
    source: described(v.nullable(Source), "Source of the app's identity. Null if only the id is known."),
    origin: Origin,
    seenAt: described(v.nullable(Time), "Time of that reading."),
  }),
)

export const hiveResolveApp = operation({
  id: "hive_resolve_app",
  method: "GET",
  path: "/hive/resolve",
  group: "Hive",
  toolset: "hive",
  summary: "Finds the store id of any app by name, publisher or link.",
  description:
    "Closest names first, then by ratings in that storefront. If fewer than limit are known, the App Store search " +
    `is used too and its response cached for ${NAMES_KEPT_DAYS} days.`,
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  appInput: "q",
  input: v.strictObject({
    q: Query,
    limit: v.optional(wholeNumber(1, 25, "Maximum number of apps.", "invalid_arguments"), 10),
    country: MarketCountry,
  }),
  refine(input) {
    refuseOtherLink(input.q, { code: "bad_query", field: "q" })
    return input
  },
  table: "apps",
  output: v.strictObject({
    q: v.string(),
    country: Storefront,
    apps: described(v.array(Resolved), "Best match first."),
    complete: described(
      v.boolean(),
      `False if over ${MAX_COMPARED.toLocaleString("en")} apps match equally; only those known first were ` +
        "compared. Use more of the name.",
    ),
    storeAsked: described(
      v.nullable(v.boolean()),
      "Whether the App Store search was used. False if it failed (see why). Null if it was not needed.",
    ),
    storeAskedAt: described(v.nullable(Time), "Time of the search response used. Null if none was used."),
    why: described(v.nullable(v.string()), "Why the search failed. Null unless storeAsked is false."),
  }),
}).run(async ({ q, limit, country }, ctx) => {
  const query = { q, text: q.trim(), limit, country }
  const form = formOf(query.text)
  const lookedUp = form && (await readByForm(ctx, form, country))
  const byForm = [
    lookedUp?.app ?? [],
    form?.matchedBy === "package" ? await readByBundle(ctx, form.id, query) : [],
  ].flat()
  if (form && byForm.length > 0)
    return answerOf(query, { apps: byForm.slice(0, limit).map((app) => ({ app, matchedBy: form.matchedBy })) })
  const isLink = form?.matchedBy === "link"
  const found: AppMatches = isLink ? { apps: [] } : await findByText(ctx, query)
  if (found.apps.length > 0) return answerOf(query, found)
  // the id in the query is returned even if the store could not be queried
  if (form && lookedUp?.isUnread) return nothing(answerOf(query, { ...found, apps: [bare(form)] }))
  if (isLink) return nothing(new Fault("not_measured", { detail: NOT_THERE }))
  throwUnlessAnswer(found.why)
  return nothing(found.why ?? answerOf(query, found))
})

interface Question {
  q: string
  text: string
  limit: number
  country: string
}

interface Form {
  platform: Platform
  id: string
  matchedBy: "link" | "id" | "package"
}

interface AppMatch {
  app: Omit<NamedApp, "app">
  matchedBy: (typeof MATCHES)[number]
}

interface AppMatches {
  apps: AppMatch[]
  isCut?: boolean
  /** The reason why the store's search could not be used. Null if it was used, undefined if it was not needed. */
  why?: Fault | null
  storeAskedAt?: Date | undefined
}

/** Returns the app whose link or id the text is. */
function formOf(text: string): Form | null {
  const id = storeIdIn(text)
  const platform = id === null ? null : platformOf(id)
  if (id === null || platform === null) return null
  return { id, platform, matchedBy: text.includes("/") ? "link" : platform === "ios" ? "id" : "package" }
}

/** Identifies the app, with a look-up if its name is not stored. */
async function readByForm(ctx: Context, { platform, id }: Form, storefront: string) {
  const stored = await readStoredApp(ctx, { platform, id }, storefront)
  if (stored) return { app: stored, isUnread: false }
  const wanted = { kind: "app", platform, storefront, subject: id } as const
  const why = await whyUnread(ctx, { wanted, keptDays: KEPT_DAYS })
  const app = await readStoredApp(ctx, { platform, id }, storefront)
  return { app, isUnread: why !== null && why.extra.detail !== NOT_THERE }
}

/** Returns the App Store apps whose bundle id equals a package name: many publishers use one id in both stores. */
async function readByBundle({ sql }: Context, bundleId: string, { country: storefront, limit }: Question) {
  const apps = await findBundle(sql, bundleId, limit)
  const places = apps.map(({ app }, place) => ({ app, place }))
  return (await readNamedApps(sql, places, { storefront, limit })).filter(({ name }) => name !== null)
}

async function readStoredApp({ sql }: Context, { platform, id }: Pick<Form, "platform" | "id">, storefront: string) {
  const app = await findStoreApp(sql, { platform, id })
  if (app === null) return null
  const [row] = await readNamedApps(sql, [{ app, place: 0 }], { storefront, limit: 1 })
  return row && row.name !== null ? row : null
}

/** Searches the index. If it has fewer apps than requested, the store's own search adds its results. */
async function findByText(ctx: Context, question: Question): Promise<AppMatches> {
  const indexed = await readIndex(ctx, question)
  const { country: storefront, limit } = question
  if (indexed.apps.length === limit) return indexed
  const term = normaliseTerm(question.text)
  const why = await whyNotSearched(ctx, term, storefront)
  // the index now also finds apps from the store's results whose names contain the words
  const { apps, isCut } = why ? indexed : await readIndex(ctx, question)
  const search = await readNameSearch(ctx.sql, term, storefront)
  const storeMatches = await readMoreApps(ctx, search, apps, { storefront, limit: limit - apps.length })
  return { apps: [...apps, ...storeMatches], isCut, why, storeAskedAt: search?.seenAt }
}

async function readIndex({ sql }: Context, { text, limit, country: storefront }: Question) {
  const near = await findAppsByText(sql, text)
  const compared = near.slice(0, MAX_COMPARED)
  const places = compared.map(({ app, nearness }) => ({ app, place: NEARNESS.indexOf(nearness) }))
  const nearness = new Map(compared.map((item) => [item.app, item.nearness]))
  const apps = await readNamedApps(sql, places, { storefront, limit })
  return {
    apps: apps.map((app) => ({ app, matchedBy: nearness.get(app.app) as Nearness })),
    isCut: near.length > MAX_COMPARED,
  }
}

async function whyNotSearched(ctx: Context, term: string, storefront: string): Promise<Fault | null> {
  const wanted = { kind: "app_names", platform: "ios", storefront, subject: term } as const
  return await whyUnread(ctx, { wanted, keptDays: NAMES_KEPT_DAYS })
}

/**
 * Returns the store's results that the index did not find, ordered by number of ratings, because the store's order of
 * results is not a rank.
 */
async function readMoreApps(
  { sql }: Context,
  search: NameSearch | null,
  found: readonly { app: NamedApp }[],
  { storefront, limit }: { storefront: string; limit: number },
): Promise<AppMatch[]> {
  const ids = new Set(found.map(({ app }) => app.app))
  const unindexed = (search?.apps ?? []).filter((app) => !ids.has(app)).map((app) => ({ app, place: 0 }))
  const apps = limit > 0 ? await readNamedApps(sql, unindexed, { storefront, limit }) : []
  return apps.map((app) => ({ app, matchedBy: "store" }))
}

function bare({ id, platform, matchedBy }: Form): AppMatch {
  const unknown = {
    name: null,
    publisher: null,
    publisherId: null,
    ratings: null,
    ratingsAt: null,
    source: null,
    origin: null,
    seenAt: null,
  }
  return { app: { id, platform, ...unknown }, matchedBy }
}

function answerOf({ q, country }: Question, { apps, isCut = false, why, storeAskedAt }: AppMatches) {
  return {
    q,
    country,
    apps: apps.map(shownOf),
    complete: !isCut,
    storeAsked: why === undefined ? null : why === null,
    storeAskedAt: storeAskedAt?.toISOString() ?? null,
    why: why ? (why.extra.detail ?? why.message) : null,
  }
}

function shownOf({ app, matchedBy }: AppMatch): v.InferOutput<typeof Resolved> {
  const { id, platform, name, publisher, publisherId, ratings, ratingsAt, source, origin, seenAt } = app
  return {
    id,
    name: name ?? id,
    publisher,
    publisherId,
    platform,
    ratings,
    ratingsAt: ratingsAt?.toISOString() ?? null,
    matchedBy,
    source,
    origin,
    seenAt: seenAt?.toISOString() ?? null,
  }
}
