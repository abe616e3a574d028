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
    name: described(
      v.string(),
      "As that storefront shows it, else as another does; the id until a name was seen anywhere.",
    ),
  }),
)

const Compared = named("ComparedKeyword", v.strictObject({ country: Storefront, ...evidenceFields }))

const keywordFields = {
  term: described(v.string(), "The keyword."),
  ...evidenceFields,
  brand: described(
    v.nullable(v.boolean()),
    "The name of the first app begins with it and goes on behind a separator, or not at all: people look for that app. Null = not known.",
  ),
  top: described(v.nullable(v.array(TopApp)), `The first ${TOP} results; null = not read lately.`),
  compare: described(
    v.array(Compared),
    "The same in each storefront of compare, in its order. A popularity is one among its storefront's searches: it compares keywords there, not storefronts.",
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
          of: described(Count, "Of so many results of the seed."),
          relatedness: described(v.number(), "0 to 1: apps by the geometric mean of both's places."),
        }),
      ),
      "Why it is here: apps that rank for both. Null = too few, or its results were not read.",
    ),
    names: described(v.nullable(Count), "Why it is here: so many names of the seed's first apps hold it; null = none."),
    suggested: described(v.boolean(), "Why it is here: the store suggests it for the seed."),
  }),
)

export const hiveResearchKeyword = operation({
  id: "hive_research_keyword",
  method: "GET",
  path: "/hive/research",
  group: "Hive",
  toolset: "hive",
  summary: "Keywords related to any keyword, each with why, its figures and who ranks for it.",
  description:
    "The seed itself is read when it is not kept; of the others what this instance holds. What shares apps comes first, then words of names, then the store's suggestions.",
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
        v.pipe(v.array(Country), v.maxLength(MAX_COMPARED), v.description("More storefronts, comma-separated.")),
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
    seed: described(v.strictObject(keywordFields), "The keyword that was asked about."),
    related: described(
      v.nullable(v.array(v.string())),
      "What the store suggests for the seed, in its order; empty = nothing. Null = not read.",
    ),
    spell: described(
      v.nullable(
        v.strictObject({
          term: v.string(),
          source: described(
            v.picklist(["keywords", "suggestions"]),
            "keywords = a keyword that is searched for more; suggestions = the store suggests it for how the seed begins.",
          ),
          popularity: described(v.nullable(v.number()), "As Apple's monthly report says it; null = not published."),
        }),
      ),
      "What may have been meant, where the store suggests nothing for the seed; null = nothing known is written alike.",
    ),
    keywords: described(v.array(Keyword), `Up to ${MAX_CANDIDATES}, by the strongest reason first.`),
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
    return nothing(why ?? new Fault("not_measured", { detail: "Neither its results nor suggestions were read." }))
  }
  const facts = { term, lists, answer: seed.answer, suggested: hints?.terms ?? null }
  const candidates = await findCandidates(ctx, facts)
  const terms = [term, ...candidates.map((one) => one.term)]
  const rows = await readRows(ctx, { storefront, terms, compare })
  const spell: Spelling | null = await findSpelling(ctx, facts, seed.order)
  return {
    ...{ country: storefront, platform: "ios" as const, since: lists.since },
    ...{ searched: await countMarketLists(ctx.sql, lists), seed: rows[0]!, related: hints?.terms ?? null, spell },
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

/** Null if the app's name is unknown: the id replaces an unknown name, and matches no keyword. */
function isBrand(term: string, top: readonly { id: string; name: string }[] | undefined): boolean | null {
  const [first] = top ?? []
  if (!first || first.name === first.id) return null
  const [before = ""] = foldText(first.name).split(SEPARATOR)
  return before.trim() === foldText(term)
}

const SEPARATOR = /[:–—|,•·(]| - /u
