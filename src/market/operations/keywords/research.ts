import * as v from "valibot"
import { type Context, nothing, operation } from "../../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS, throwUnlessAnswer } from "../../../core/read-on-request.ts"
import { NEAR_PLACES } from "../../../keywords/formulas/related-terms.ts"
import { readLatestHints } from "../../../keywords/kinds/hints.ts"
import { AdsPopularity, adsPopularityInput, readAdsPopularity } from "../../../keywords/operations/ads-popularity.ts"
import { countMarketLists } from "../../../keywords/read/market-lists.ts"
import { Fault } from "../../../lib/faults.ts"
import { Country, Term } from "../../../lib/fields.ts"
import { foldText } from "../../../lib/matching.ts"
import { valueAt } from "../../../lib/objects.ts"
import { coded, described, named } from "../../../lib/schema.ts"
import { Count, Store, Storefront } from "../../../tracking/shapes.ts"
import { MarketCountry } from "../inputs.ts"
import { readMarketApps } from "../market-apps.ts"
import { marketLists, searchedFields } from "../market-keywords.ts"
import { type Candidate, findCandidates, findSpelling, MAX_CANDIDATES, type Spelling } from "./candidates.ts"
import { evidenceFields, readEvidence, type TermEvidence, TOP } from "./evidence.ts"
import { readTermNow } from "./read-term.ts"

const MAX_COMPARED = 5

const TopApp = named(
  "TopApp",
  v.strictObject({
    id: v.string(),
    name: described(v.string(), "Name in that storefront, else elsewhere, else the id."),
  }),
)

const Compared = named("ComparedKeyword", v.strictObject({ country: Storefront, ...evidenceFields }))

const keywordFields = {
  term: described(v.string(), "The keyword."),
  ...evidenceFields,
  brand: described(
    v.nullable(v.boolean()),
    "True if the name of the first app is the keyword, or begins with it before a separator; people then search " +
      "for that app. Null if unknown.",
  ),
  top: described(v.nullable(v.array(TopApp)), `The first ${TOP} results. Null if not read recently.`),
  compare: described(
    v.array(Compared),
    "The same figures for each storefront in compare. A popularity is relative to its storefront; " +
      "compare keywords within a storefront, not across storefronts.",
  ),
}

const Keyword = named(
  "ResearchedKeyword",
  v.strictObject({
    ...keywordFields,
    shared: described(
      v.nullable(
        v.strictObject({
          apps: described(Count, `Apps among the first ${NEAR_PLACES} results of both.`),
          of: described(Count, "Number of results of the seed considered."),
          relatedness: described(v.number(), "0 to 1: shared apps weighted by the geometric mean of both ranks."),
        }),
      ),
      "Reason: apps that rank for both. Null if too few, or its results were not read.",
    ),
    names: described(v.nullable(Count), "Reason: number of the seed's first apps with it in their name. Null if none."),
    suggested: described(v.boolean(), "Reason: the store suggests it for the seed."),
  }),
)

export const hiveResearchKeyword = operation({
  id: "hive_research_keyword",
  method: "GET",
  path: "/hive/research",
  group: "Hive",
  toolset: "hive",
  summary: "Lists keywords related to any keyword, each with the reason, its figures and the apps that rank for it.",
  description:
    "The seed is read if it is not stored; the others come from stored results. Keywords that share apps come " +
    "first, then words of app names, then suggestions of the store.",
  effect: "measures",
  scope: "hive:read",
  hive: "explorer",
  price: 50,
  faults: [...READING_FAULTS, "hive_read_failed"],
  deadlineMs: READING_DEADLINE_MS,
  input: v.strictObject({
    seed: Term,
    compare: v.optional(
      coded(
        v.pipe(v.array(Country), v.maxLength(MAX_COMPARED), v.description("Further storefronts, comma-separated.")),
        "bad_country",
      ),
    ),
    country: MarketCountry,
    adsPopularity: adsPopularityInput,
  }),
  narrow: { rows: ["keywords"] },
  table: "keywords",
  output: v.strictObject({
    country: Storefront,
    platform: described(Store, "Always ios."),
    ...searchedFields,
    seed: described(v.strictObject(keywordFields), "The requested keyword."),
    related: described(
      v.nullable(v.array(v.string())),
      "The store's suggestions for the seed, in order. Empty if there are none. Null if not read.",
    ),
    spell: described(
      v.nullable(
        v.strictObject({
          term: v.string(),
          source: described(
            v.picklist(["keywords", "suggestions"]),
            "keywords: a known keyword with more searches; suggestions: suggested by the store for the beginning " +
              "of the seed.",
          ),
          popularity: described(v.nullable(v.number()), "From Apple's monthly report. Null if not published."),
        }),
      ),
      "A likely spelling, if the store suggests nothing for the seed. Null if no known keyword is similar.",
    ),
    keywords: described(v.array(Keyword), `Up to ${MAX_CANDIDATES}, strongest reason first.`),
    adsPopularity: AdsPopularity,
  }),
}).run(async ({ seed: term, country: storefront, compare = [], adsPopularity }, ctx) => {
  const list = { platform: "ios", storefront, term } as const
  const why = await readTermNow(ctx, list)
  const lists = marketLists({ platform: "ios", storefront }, ctx.now())
  const [seed] = (await readEvidence(ctx, lists, [term])) as [TermEvidence]
  const hints = await readLatestHints(ctx.sql, { platform: "ios", storefront, prefix: term }, lists.since)
  if (!seed.answer && !hints) {
    throwUnlessAnswer(why)
    return nothing(
      why ??
        new Fault("not_measured", {
          detail: "Neither its results nor its suggestions were read yet. Try again later.",
        }),
    )
  }
  const facts = { term, lists, answer: seed.answer, suggested: hints?.terms ?? null }
  const candidates = await findCandidates(ctx, facts)
  const terms = [term, ...candidates.map((candidate) => candidate.term)]
  const rows = await readRows(ctx, { storefront, terms, compare })
  const spell: Spelling | null = await findSpelling(ctx, facts, seed.order)
  return {
    country: storefront,
    platform: "ios" as const,
    since: lists.since,
    searched: await countMarketLists(ctx.sql, lists),
    seed: rows[0]!,
    related: hints?.terms ?? null,
    spell,
    keywords: candidates.map(({ term: _, ...reasons }: Candidate, i) => ({ ...rows[i + 1]!, ...reasons })),
    adsPopularity: adsPopularity === true ? await readAdsPopularity(terms, storefront, ctx) : null,
  }
})

interface RowsQuery {
  storefront: string
  terms: readonly string[]
  compare: readonly string[]
}

async function readRows(ctx: Context, { storefront, terms, compare }: RowsQuery) {
  const evidenceOf = (country: string) =>
    readEvidence(ctx, marketLists({ platform: "ios", storefront: country }, ctx.now()), terms)
  const evidence = await evidenceOf(storefront)
  const comparisons: [country: string, of: TermEvidence[]][] = []
  for (const country of new Set(compare)) comparisons.push([country, await evidenceOf(country)])
  const ids = [...new Set(evidence.flatMap(({ answer }) => answer?.first.slice(0, TOP) ?? []))]
  const apps = await readMarketApps(ctx.sql, ids, storefront)
  return terms.map((term, i) => {
    const { answer, fields } = evidence[i]!
    const top = answer?.first.slice(0, TOP).map((app) => {
      const { id, name } = valueAt(apps, app)
      return { id, name }
    })
    const compared = comparisons.map(([country, of]) => ({ country, ...of[i]!.fields }))
    return { term, ...fields, brand: isBrand(term, top), top: top ?? null, compare: compared }
  })
}

/**
 * Returns whether the keyword is the brand of the first result, which is the start of the app's name up to a separator.
 * Null if there is no result or the app's name is unknown (`name` is then the id).
 */
function isBrand(term: string, top: readonly { id: string; name: string }[] | undefined): boolean | null {
  const [first] = top ?? []
  if (!first || first.name === first.id) return null
  const [before = ""] = foldText(first.name).split(SEPARATOR)
  return before.trim() === foldText(term)
}

const SEPARATOR = /[:–—|,•·(]| - /u
