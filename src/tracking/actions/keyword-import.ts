import * as v from "valibot"
import { action } from "../../core/action.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId, Term } from "../../lib/fields.ts"
import { named } from "../../lib/schema.ts"
import { Storefront } from "../../lib/shapes.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { countUsage } from "../apps.ts"
import { counted, lockTracking, refuseOverLimit } from "../limits.ts"
import { addTerms } from "../terms.ts"
import { setTags, Tag, TagState } from "./keyword-tags.ts"
import { groupTracked, lookAtKeywords, restoreKeywords, TrackedKeywords } from "./keywords.ts"

const MAX_KEYWORDS = 50
const MAX_TAGS = 20

/** A row of a keyword file. Without a storefront it is tracked in all storefronts of the app. */
const ImportedKeyword = v.strictObject({
  term: Term,
  country: v.optional(Storefront),
  tags: v.optional(v.pipe(v.array(Tag), v.maxLength(MAX_TAGS)), []),
})
type ImportedKeyword = v.InferOutput<typeof ImportedKeyword>

const ImportState = named("KeywordImport", v.strictObject({ ...TrackedKeywords.entries, ...TagState.entries }))
type ImportState = v.InferOutput<typeof ImportState>

export const importKeywords = action({
  name: "import_keywords",
  summary: "Tracks the keywords of a file, each in its own storefront and with its tags.",
  scope: "track:write",
  plan: "free",
  credits: 1,
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    keywords: v.pipe(v.array(ImportedKeyword), v.minLength(1), v.maxLength(MAX_KEYWORDS)),
  }),
  example: { appId: "app_4fD0Zs81hQbK", keywords: [{ term: "tides", country: "us", tags: ["core"] }] },
  state: ImportState,
  result: v.strictObject({ appId: v.string(), added: v.array(v.string()), tagged: v.array(v.string()) }),
  target: ({ appId }) => `app ${appId}`,
  async look({ appId, keywords }, looking) {
    const { sql, caller, lock } = looking
    if (lock) await lockTracking(sql, caller)
    const looked = await lookAtKeywords(appId, distinctTerms(keywords), looking)
    return { ...looked, usage: await countUsage(sql, caller.workspaceId), limits: caller.entitlements }
  },
  diff({ app, tracked, usage, limits }, { keywords }) {
    refuseOtherStorefronts(app.countries, keywords)
    const terms = distinctTerms(keywords)
    const isTracked = (country: string, term: string) =>
      tracked.some((group) => group.countries.includes(country) && group.keywords.includes(term))
    const isWanted = (country: string, term: string) =>
      keywords.some((keyword) => keyword.term === term && (keyword.country ?? country) === country)
    const missing = app.countries.flatMap((country) =>
      terms.filter((term) => isWanted(country, term) && !isTracked(country, term)),
    )
    refuseOverLimit(limits, usage, { trackedKeywords: missing.length })
    const tags = Object.fromEntries(terms.map((term) => [term, app.keywordTags?.[term] ?? []]))
    return {
      summary: `Track ${counted(new Set(missing).size)} of a file for ${JSON.stringify(app.name)}, with their tags.`,
      target: { kind: "app", id: app.id, name: app.name },
      before: { tracked, tags },
      after: {
        tracked: groupTracked(app, terms, (country, term) => isTracked(country, term) || isWanted(country, term)),
        tags: withTags(tags, keywords),
      },
      notes: [],
    }
  },
  async write({ appId, keywords }, { app }, { tx }) {
    const added = new Set<string>()
    for (const [country, rows] of Map.groupBy(keywords, (keyword) => keyword.country)) {
      const terms = distinctTerms(rows)
      const outcome = await addTerms(tx, appId, country === undefined ? "all" : [country], terms)
      for (const term of outcome.added) added.add(term)
    }
    const tagged = distinctTerms(keywords.filter(({ tags }) => tags.length > 0))
    const before = Object.fromEntries(tagged.map((term) => [term, app.keywordTags?.[term] ?? []]))
    await setTags(tx, appId, withTags(before, keywords))
    return { appId, added: [...added], tagged }
  },
  undo: {
    needsSameState: true,
    async restore(made, writing) {
      // tags first, because only tracked keywords can have them
      await setTags(writing.tx, String(made.args.appId), (made.before as ImportState).tags)
      await restoreKeywords(made, writing)
    },
  },
})

const distinctTerms = (keywords: readonly ImportedKeyword[]) => [...new Set(keywords.map(({ term }) => term))]

/** Returns the tags of these terms together with those of the file. */
function withTags(tags: ImportState["tags"], keywords: readonly ImportedKeyword[]): ImportState["tags"] {
  return Object.fromEntries(
    Object.entries(tags).map(([term, names]) => {
      const imported = keywords.flatMap((keyword) => (keyword.term === term ? keyword.tags : []))
      return [term, [...new Set([...names, ...imported])]]
    }),
  )
}

function refuseOtherStorefronts(countries: readonly string[], keywords: readonly ImportedKeyword[]): void {
  const other = keywords.find(({ country }) => country !== undefined && !countries.includes(country))
  if (other?.country === undefined) return
  const place = storefrontName(other.country)
  const detail = `The file has keywords for ${place}, where the app is not tracked. Add the storefront first.`
  throw new Fault("invalid_arguments", { field: "keywords", detail })
}
