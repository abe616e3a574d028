import { hash } from "node:crypto"
import * as v from "valibot"
import type { Side } from "../../core/observation/provenance.ts"
import { type Context, ofApp, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { sideOf } from "../../keywords/read/day-answers.ts"
import { findGap } from "../../keywords/read/keywords-of-apps.ts"
import { findRivalsToFollow } from "../../keywords/read/rivals-to-follow.ts"
import { readSuggestedTerms } from "../../keywords/read/suggestions.ts"
import { UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import { Cache } from "../../lib/cache.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { AppCountry } from "../../lib/fields.ts"
import { languageOf, localesOf } from "../../lib/locales.ts"
import { described, named } from "../../lib/schema.ts"
import { parseRival } from "../../lib/store-ids.ts"
import type { WrittenText } from "../../lib/writing/written-text.ts"
import { backgroundIn } from "../../listings/checks/background.ts"
import { readSurroundings } from "../../listings/read/listing-surroundings.ts"
import { readListingTexts } from "../../listings/read/listing-texts.ts"
import { readMarketApps } from "../../market/operations/market-apps.ts"
import { marketLists } from "../../market/operations/market-keywords.ts"
import { Count, Day, popularityFields, Rank, Store, Storefront } from "../../tracking/shapes.ts"
import type { Omission } from "../checks/checker.ts"
import { digestOf } from "../digest.ts"
import {
  type IdeaInputs,
  type KeywordIdea,
  type KeywordIdeas,
  keywordIdeas,
  MAX_IDEAS,
  type MeasuredKeyword,
} from "../keywords/keyword-ideas.ts"
import { type KeywordChoice, type NewKeyword, newKeywordsTask } from "../keywords/new-keywords.ts"
import { newReasonOf, reasonOf } from "../keywords/reasons.ts"
import { WRITING_LANGUAGES, type WritingLanguage } from "../languages.ts"
import { faultOf, Language, takeUnit, WRITE_MS, Written, writtenBy, writtenByRules } from "./writing-shapes.ts"

const RULES_VERSION = 1
/** Number of rivals whose keywords are read. */
const RIVALS = 10
/** Maximum number of keywords for which the app or its rivals rank. */
const KEYWORDS = 1_000
/** Number of tracked keywords whose store suggestions are read. */
const SUGGESTED_FOR = 100
/** Maximum age of the store suggestions. */
const SUGGESTED_DAYS = 90
/** Number of tracked keywords in the prompt. */
const TOLD = 100

const Evidence = named(
  "IdeaEvidence",
  v.strictObject({
    kind: described(
      v.picklist(["ranked", "rival", "suggested", "names"]),
      "ranked: the app ranks for it. rival: another app ranks for it. suggested: the store suggests it. names: it " +
        "occurs in app names.",
    ),
    rank: v.optional(described(Rank, "Rank of the app or the rival.")),
    rival: v.optional(described(v.string(), "The rival.")),
    prefix: v.optional(described(v.string(), "The typed prefix.")),
    apps: v.optional(described(Count, "Number of app names.")),
    day: v.optional(described(Day, "Day of the reading.")),
  }),
)

const Idea = named(
  "KeywordIdea",
  v.strictObject({
    term: described(v.string(), "The keyword, 1 to 3 words."),
    reason: described(v.string(), "The strongest evidence in one line."),
    measured: described(
      v.boolean(),
      "True if its search results were read recently. False: rank and figures are unknown.",
    ),
    rank: described(v.nullable(Rank), "Rank of the app. Null if absent from the results read, or measured is false."),
    ...popularityFields,
    difficulty: described(v.nullable(v.number()), "0 to 100. Null if not measured."),
    picked: described(
      v.nullable(v.boolean()),
      "True if a language model finds that it fits the app. Null if no model was used.",
    ),
    evidence: described(v.array(Evidence), "All evidence, strongest first."),
  }),
)

const NewIdea = named(
  "NewKeywordIdea",
  v.strictObject({
    term: described(v.string(), "The keyword, 1 to 3 words."),
    reason: described(v.string(), "The reason, in one line."),
    measured: described(v.literal(false), "Always false. Track the keyword to measure it."),
    from: described(v.literal("model"), "Origin of the idea: a language model."),
    quote: described(v.string(), "Words of the app's page behind the idea."),
  }),
)

export const suggestKeywords = operation({
  id: "suggest_keywords",
  method: "GET",
  path: "/apps/:appId/suggest",
  group: "Your apps",
  toolset: "keywords",
  summary: "Suggests keywords worth tracking, with the evidence for each.",
  description:
    `At most ${MAX_IDEAS}, from ranks, rivals, store suggestions and app names, without tracked or buried ` +
    "keywords and brands. A language model, if configured, adds its own. New ideas take one AI writing unit; " +
    "repeating the call on the same UTC day takes none.",
  effect: "spends",
  scope: "apps:read",
  plan: "pro",
  price: 1,
  faults: ["ai_text_limit", "ai_timeout"],
  deadlineMs: WRITE_MS + 4_000,
  input: ofApp({ cc: AppCountry, lang: Language }),
  output: v.strictObject({
    country: Storefront,
    platform: Store,
    lang: described(v.picklist(WRITING_LANGUAGES), "Language of the reasons."),
    candidates: described(Count, "Number of candidates. 0 if there is no evidence for any keyword."),
    ideas: described(v.array(Idea), "Ideas with the most kinds of evidence first."),
    newIdeas: described(
      v.nullable(v.array(NewIdea)),
      "Ideas of a language model that passed the checks; none is measured. Null if no model was used or its " +
        "output was unusable.",
    ),
    written: described(v.nullable(Written), "Provenance of the text. Null without candidates; no unit is then taken."),
  }),
}).run(async ({ app, cc, lang }, ctx) => {
  const side: Side = { platform: app.iosApp === null ? "android" : "ios", storefront: cc ?? app.countries[0] }
  const inputs = await readInputs(ctx, app, side)
  const { found, digest } = ideasFrom(inputs, ["suggest", app.id, side, lang, dayOf(ctx.now())])
  const about = { country: side.storefront, platform: side.platform, lang, candidates: found.candidates }
  if (found.candidates === 0) return { ...about, ideas: [], newIdeas: null, written: null }
  await takeUnit(ctx, "aiWriting", digest, "ai_text_limit")
  const text = await writeNew(ctx, app, side, { inputs, found, digest })
  const byRules = writtenByRules({ version: RULES_VERSION, digest, dropped: found.dropped }, ctx.now())
  const picked = text && new Set(text.value.picked)
  return {
    ...about,
    ideas: found.ideas.map((idea) => ({ ...shownIdea(idea, lang), picked: picked?.has(idea.term) ?? null })),
    newIdeas: text?.value.added.map((item) => shownNew(item, lang)) ?? null,
    written: text
      ? { ...writtenBy(text, digest), dropped: [...found.dropped, ...(text.dropped as Omission[])] }
      : byRules,
  }
})

interface FoundIdeas {
  found: KeywordIdeas
  /** Hash of the measured ideas, the caller's input and the day. */
  digest: string
}

/** Entries never become stale: the key hashes everything that the ideas depend on. */
const cachedIdeas = new Cache<string, FoundIdeas>(32)

function ideasFrom(inputs: IdeaInputs, about: readonly unknown[]): FoundIdeas {
  const key = hash("sha256", JSON.stringify([...about, inputs]))
  return cachedIdeas.getOrMake(key, () => {
    const found = keywordIdeas(inputs)
    return { found, digest: digestOf([...about, found]) }
  })
}

/**
 * Returns the model's keywords. Null if there is no writer or its answer is unusable; the measured ideas are complete
 * without the model's keywords. Throws ai_timeout.
 */
async function writeNew(
  ctx: Context,
  app: TrackedApp,
  side: Side,
  { inputs, found, digest }: { inputs: IdeaInputs; found: KeywordIdeas; digest: string },
): Promise<WrittenText<KeywordChoice> | null> {
  const { storeAppId } = sideOf(app, side)
  if (!ctx.write.isOn) return null
  const page = storeAppId === null ? null : await readListingTexts(ctx.sql, storeAppId, side)
  if (!page) return null
  const { language, appBackground, buried } = inputs
  const task = newKeywordsTask({
    digest,
    language,
    background: backgroundIn(appBackground, language),
    ownTexts: { name: page.name, subtitle: page.subtitle, description: page.description },
    tracked: appBackground.tracked.slice(0, TOLD),
    taken: [...appBackground.tracked, ...buried, ...found.terms],
    candidates: found.ideas.map(({ term, evidence }) => ({ term, reason: reasonOf(evidence[0], "en") })),
  })
  const state = await ctx.write(task, WRITE_MS)
  if (state.state === "pending") throw faultOf(state)
  if (state.state === "done") return state
  // give back the unit, because a unit pays only for the model's words
  await ctx.release("aiWriting", digest)
  return null
}

function shownNew({ term, from: quote }: NewKeyword, lang: WritingLanguage) {
  return { term, reason: newReasonOf(quote, lang), measured: false as const, from: "model" as const, quote }
}

async function readInputs(ctx: Context, app: TrackedApp, side: Side): Promise<IdeaInputs> {
  const ownSide = sideOf(app, side)
  const manual = (app.manualRivals ?? [])
    .map(parseRival)
    .flatMap((rival) => (rival?.platform === side.platform ? [rival.id] : []))
  const found = await findRivalsToFollow(ctx.sql, { side: ownSide, manual }, RIVALS)
  const surroundings = await readSurroundings(ctx.sql, app, { ...side, day: found[0]?.day ?? null })
  const prefixes = [...new Set(surroundings.tracked.slice(0, SUGGESTED_FOR).flatMap(beginningsOf))]
  const since = addDays(dayOf(ctx.now()), -SUGGESTED_DAYS)
  const rivals = found.map(({ rival }) => rival).filter((rival) => rival !== ownSide.storeAppId)
  return {
    language: languageOf(localesOf(side.storefront)[0]),
    appBackground: surroundings,
    buried: app.buriedKeywords ?? [],
    measured: await readMeasured(ctx, side, ownSide.storeAppId, rivals),
    suggested: await readSuggestedTerms(ctx.sql, side, { prefixes, since }),
  }
}

/** Returns the keyword and each of its beginnings up to a space, as typed into the store's search field. */
function beginningsOf(term: string): string[] {
  const words = term.split(" ")
  return words.map((_, at) => words.slice(0, at + 1).join(" "))
}

/** Returns keywords of the storefront for which the app or its rivals rank. Any workspace may track the keywords. */
async function readMeasured(
  ctx: Context,
  side: Side,
  storeAppId: number | null,
  rivals: readonly number[],
): Promise<MeasuredKeyword[]> {
  const page = { after: null, limit: KEYWORDS }
  // no store app has id 0, so an unknown app gets no ranks
  const { keywords } = await findGap(ctx.sql, marketLists(side, ctx.now()), [storeAppId ?? 0, ...rivals], page)
  const names = await readMarketApps(ctx.sql, rivals, side.storefront)
  return keywords.map(({ term, day, figures, ranks: [rank, ...rivalRanks] }) => {
    const { popularity, popularityLow, popularityHigh, popularitySource, popularityOrder, difficulty } = figures
    const searched = { popularity, popularityLow, popularityHigh, popularitySource, popularityOrder }
    const standing = rivals.flatMap((rival, at) => {
      const [name, figure] = [names.get(rival)?.name, rivalRanks[at]]
      return name && figure != null ? [{ name, rank: figure }] : []
    })
    return { term, day, rank: rank ?? null, ...searched, difficulty, rivals: standing }
  })
}

function shownIdea({ term, measured, evidence }: KeywordIdea, lang: WritingLanguage) {
  const { popularity, popularityLow, popularityHigh, popularitySource, difficulty } = measured ?? UNMEASURED
  return {
    term,
    reason: reasonOf(evidence[0], lang),
    measured: measured !== null,
    rank: measured?.rank ?? null,
    popularity,
    popularityLow,
    popularityHigh,
    popularitySource,
    difficulty,
    evidence,
  }
}
