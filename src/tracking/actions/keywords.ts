import * as v from "valibot"
import { action, type Diff, type LookContext, type MadeWrite } from "../../core/action.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Tx } from "../../database/types.ts"
import { AppId, Term } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { Storefront } from "../../lib/shapes.ts"
import { saidStorefronts } from "../../lib/storefront-names.ts"
import { countUsage } from "../apps.ts"
import { counted, lockTracking, refuseOverLimit, refuseTooMany } from "../limits.ts"
import { addTerms, removeTerms } from "../terms.ts"
import { findApp } from "../tracked-app.ts"

const keywordsUpTo = (most: number, description: string) =>
  described(v.pipe(v.array(Term), v.minLength(1), v.maxLength(most)), description)

/** Groups storefronts that have the same keywords, which keeps a diff small. */
export const TrackedKeywords = named(
  "TrackedKeywords",
  v.strictObject({
    tracked: v.array(v.strictObject({ countries: v.array(Storefront), keywords: v.array(v.string()) })),
  }),
)

export const addKeywords = action({
  name: "add_keywords",
  summary: "Tracks keywords for an app in all its storefronts.",
  description: "Earlier measurements of a keyword become its history immediately.",
  scope: "track:write",
  plan: "free",
  credits: 1,
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    keywords: keywordsUpTo(
      50,
      "1 to 50 keywords. Keywords tracked already are listed in the preview and not added twice.",
    ),
  }),
  example: { appId: "app_4fD0Zs81hQbK", keywords: ["high water", "tide times"] },
  state: TrackedKeywords,
  result: v.strictObject({
    appId: v.string(),
    countries: v.array(Storefront),
    added: v.array(v.string()),
    alreadyTracked: v.array(v.string()),
  }),
  target: ({ appId }) => `app ${appId}`,
  async look({ appId, keywords }, looking) {
    const { sql, caller, lock } = looking
    if (lock) await lockTracking(sql, caller)
    const looked = await lookAtKeywords(appId, keywords, looking)
    return { ...looked, usage: await countUsage(sql, caller.workspaceId), limits: caller.entitlements }
  },
  diff({ app, tracked, usage, limits }, args) {
    const keywords = distinct(args.keywords)
    const missing = tracked.map(({ countries, keywords: here }) => ({
      countries,
      keywords: keywords.filter((term) => !here.includes(term)),
    }))
    refuseOverLimit(limits, usage, { trackedKeywords: rowsOf(missing) })
    const isNew = new Set(missing.flatMap(({ keywords }) => keywords))
    return {
      ...diffOf(app, tracked, [{ countries: app.countries, keywords }]),
      summary:
        isNew.size === 0
          ? `Change nothing: ${quoted(app.name)} has these keywords already.`
          : `Track ${counted(isNew.size)} of ${quoted(app.name)} in ${saidStorefronts(app.countries)}.`,
      notes: alreadyTracked(tracked, keywords),
    }
  },
  async write({ appId, keywords }, { app }, { tx }) {
    const { added, alreadyTracked } = await addTerms(tx, appId, "all", keywords)
    return { appId, countries: app.countries, added, alreadyTracked }
  },
  undo: { needsSameState: true, restore: restoreKeywords },
})

export const removeKeywords = action({
  name: "remove_keywords",
  summary: "Stops tracking keywords for an app in all storefronts.",
  description: "Earlier measurements stay; no new ones are collected for the app.",
  scope: "track:write",
  plan: "free",
  credits: 1,
  destructive: true,
  args: v.strictObject({
    appId: AppId,
    keywords: keywordsUpTo(
      400,
      "1 to 400 keywords. Keywords that are not tracked are listed in the preview and ignored.",
    ),
  }),
  example: { appId: "app_4fD0Zs81hQbK", keywords: ["high water"] },
  state: TrackedKeywords,
  result: v.strictObject({ appId: v.string(), removed: v.array(v.string()), notTracked: v.array(v.string()) }),
  target: ({ appId }) => `app ${appId}`,
  look: ({ appId, keywords }, looking) => lookAtKeywords(appId, keywords, looking),
  diff({ app, tracked }, args) {
    refuseTooMany(rowsOf(tracked))
    const keywords = distinct(args.keywords)
    const trackedTerms = new Set(tracked.flatMap(({ keywords }) => keywords))
    const unknown = keywords.filter((term) => !trackedTerms.has(term))
    return {
      ...diffOf(app, tracked, [{ countries: app.countries, keywords: [] }]),
      summary:
        trackedTerms.size === 0
          ? `Change nothing: ${quoted(app.name)} has none of these keywords.`
          : `Stop tracking ${counted(trackedTerms.size)} of ${quoted(app.name)} in every storefront. Measured ranks ` +
            "are kept.",
      notes: unknown.length > 0 ? [`Not tracked, and ignored: ${listed(unknown)}.`] : [],
    }
  },
  async write({ appId, keywords }, _, { tx }) {
    const { removed, notTracked } = await removeTerms(tx, appId, "all", keywords)
    return { appId, removed, notTracked }
  },
  undo: { needsSameState: true, restore: restoreKeywords },
})

/** Adds and removes terms so that each storefront has those of `before`. Their history comes back with them. */
export async function restoreKeywords({ args, before, after }: MadeWrite, { tx }: { tx: Tx }): Promise<void> {
  const appId = String(args.appId)
  const was = before as v.InferOutput<typeof TrackedKeywords>
  const is = after as v.InferOutput<typeof TrackedKeywords>
  for (const { countries, keywords } of is.tracked)
    for (const country of countries) {
      const old = was.tracked.find((group) => group.countries.includes(country))?.keywords ?? []
      const lost = old.filter((term) => !keywords.includes(term))
      const gained = keywords.filter((term) => !old.includes(term))
      if (lost.length > 0) await addTerms(tx, appId, [country], lost)
      if (gained.length > 0) await removeTerms(tx, appId, [country], gained)
    }
}

type TrackedKeywordGroup = v.InferOutput<typeof TrackedKeywords>["tracked"][number]

interface KeywordsState {
  app: TrackedApp
  /** The named keywords that each storefront of the app tracks, in the order named. */
  tracked: TrackedKeywordGroup[]
}

export async function lookAtKeywords(
  appId: string,
  keywords: readonly string[],
  { sql, caller, lock }: LookContext,
): Promise<KeywordsState> {
  if (lock) {
    await sql`
      select id
      from tracked_app
      where id = ${appId} and workspace_id = ${caller.workspaceId}
      for no key update`
  }
  const app = await findApp(sql, caller, appId)
  const rows = await sql<{ country: string; term: string }[]>`
    select country, term
    from tracked_term
    where app_id = ${appId} and term = any(${keywords as string[]}::text[])
    order by country, term`
  const byCountry = Map.groupBy(rows, ({ country }) => country)
  const here = new Map([...byCountry].map(([country, tracked]) => [country, new Set(tracked.map(({ term }) => term))]))
  return { app, tracked: groupTracked(app, keywords, (country, term) => here.get(country)?.has(term) ?? false) }
}

/** Groups the app's storefronts that track the same of these keywords. */
export function groupTracked(
  app: TrackedApp,
  keywords: readonly string[],
  isTracked: (country: string, term: string) => boolean,
): TrackedKeywordGroup[] {
  const keywordsIn = (country: string) => distinct(keywords).filter((term) => isTracked(country, term))
  const alike = Map.groupBy(app.countries, (country) => JSON.stringify(keywordsIn(country)))
  return [...alike].map(([text, countries]) => ({ countries, keywords: JSON.parse(text) }))
}

/** Counts each keyword once per storefront. */
function rowsOf(tracked: readonly TrackedKeywordGroup[]): number {
  return tracked.reduce((rows, { countries, keywords }) => rows + countries.length * keywords.length, 0)
}

function diffOf(
  app: TrackedApp,
  before: TrackedKeywordGroup[],
  after: TrackedKeywordGroup[],
): Pick<Diff, "target" | "before" | "after"> {
  return {
    target: { kind: "app", id: app.id, name: app.name },
    before: { tracked: before },
    after: { tracked: after },
  }
}

/** Returns one note for each set of storefronts that already track some of the keywords. */
function alreadyTracked(tracked: readonly TrackedKeywordGroup[], keywords: readonly string[]): string[] {
  const where = (term: string) =>
    saidStorefronts(tracked.flatMap(({ countries, keywords }) => (keywords.includes(term) ? countries : [])))
  return [...Map.groupBy(keywords, where)]
    .filter(([storefronts]) => storefronts !== "")
    .map(([storefronts, terms]) => `Tracked already in ${storefronts}, and not added twice: ${listed(terms)}.`)
}

const distinct = (terms: readonly string[]) => [...new Set(terms)]
const quoted = (text: string) => JSON.stringify(text)
const listed = (terms: readonly string[]) => terms.map(quoted).join(", ")
