import * as v from "valibot"
import { action, type LookContext, type MadeWrite } from "../../core/action.ts"
import type { Tx } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId, Term } from "../../lib/fields.ts"
import { described } from "../../lib/schema.ts"
import { isName } from "../checks.ts"
import { counted } from "../limits.ts"
import { buryTerms, tagTerms, unburyTerms } from "../terms.ts"
import { findApp } from "../tracked-app.ts"

const MAX_KEYWORDS = 400
const Keywords = v.pipe(v.array(Term), v.minLength(1), v.maxLength(MAX_KEYWORDS))
export const Tag = v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.check(isName))

/** The tags of each keyword of the write. */
export const TagState = v.strictObject({ tags: v.record(v.string(), v.array(v.string())) })
type Tags = v.InferOutput<typeof TagState>["tags"]

export const tagKeywords = action({
  name: "tag_keywords",
  summary: "Adds a tag to tracked keywords, or removes it.",
  scope: "track:write",
  plan: "free",
  credits: 0,
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    keywords: Keywords,
    tag: Tag,
    remove: v.optional(described(v.boolean(), "True removes the tag."), false),
  }),
  example: { appId: "app_4fD0Zs81hQbK", keywords: ["tides"], tag: "core" },
  state: TagState,
  result: v.strictObject({ appId: v.string(), tagged: v.array(v.string()) }),
  target: ({ appId }) => `app ${appId}`,
  look: ({ appId, keywords }, looking) => lookAt(appId, keywords, looking),
  diff({ app, tracked }, { keywords, tag, remove }) {
    const missing = keywords.find((term) => !tracked.has(term))
    if (missing !== undefined) throw new Fault("invalid_arguments", { field: "keywords", detail: NOT_TRACKED })
    const before = Object.fromEntries(keywords.map((term) => [term, app.keywordTags?.[term] ?? []]))
    const after = Object.fromEntries(
      Object.entries(before).map(([term, tags]) => [
        term,
        remove ? tags.filter((name) => name !== tag) : [...new Set([...tags, tag])],
      ]),
    )
    return {
      summary: `${remove ? "Remove" : "Add"} the tag "${tag}" ${remove ? "from" : "to"} ${counted(keywords.length)}.`,
      target: { kind: "app", id: app.id, name: app.name },
      before: { tags: before },
      after: { tags: after },
      notes: [],
    }
  },
  async write({ appId, keywords, tag, remove }, { app }, { tx }) {
    const tags = (term: string) => app.keywordTags?.[term] ?? []
    const otherTags = (term: string) => tags(term).filter((name) => name !== tag)
    await setTags(
      tx,
      appId,
      Object.fromEntries(keywords.map((term) => [term, [...otherTags(term), ...(remove ? [] : [tag])]])),
    )
    return { appId, tagged: keywords }
  },
  undo: {
    needsSameState: true,
    restore: ({ args, before }, { tx }) => setTags(tx, String(args.appId), (before as { tags: Tags }).tags),
  },
})

const NOT_TRACKED = "Only tracked keywords can have tags, and one of these is not tracked any more."

/** Sets equal tags with one call. */
export async function setTags(tx: Tx, appId: string, tags: Tags): Promise<void> {
  const alike = Map.groupBy(Object.entries(tags), ([, names]) => JSON.stringify(names))
  for (const entries of alike.values()) {
    const [, names] = entries[0]!
    await tagTerms(
      tx,
      appId,
      entries.map(([term]) => term),
      names,
    )
  }
}

export const buryKeywords = action({
  name: "bury_keywords",
  summary: "Buries keywords, so that they are not suggested again.",
  scope: "track:write",
  plan: "free",
  credits: 0,
  destructive: false,
  args: v.strictObject({ appId: AppId, keywords: Keywords }),
  example: { appId: "app_4fD0Zs81hQbK", keywords: ["free games"] },
  state: v.strictObject({ buried: v.array(v.string()) }),
  result: v.strictObject({ appId: v.string(), buried: v.array(v.string()) }),
  target: ({ appId }) => `app ${appId}`,
  look: ({ appId, keywords }, looking) => lookAt(appId, keywords, looking),
  diff: ({ app }, { keywords }) => ({
    summary: `Never suggest ${counted(keywords.length)} for "${app.name}" again. Tracked keywords stay tracked.`,
    target: { kind: "app", id: app.id, name: app.name },
    before: { buried: keywords.filter((term) => app.buriedKeywords?.includes(term)) },
    after: { buried: keywords },
    notes: [],
  }),
  async write({ appId, keywords }, { app }, { tx }) {
    await buryTerms(tx, appId, keywords)
    return { appId, buried: keywords.filter((term) => !app.buriedKeywords?.includes(term)) }
  },
  undo: {
    needsSameState: true,
    async restore({ args, before }: MadeWrite, { tx }) {
      const was = (before as { buried: string[] }).buried
      const added = (args.keywords as string[]).filter((term) => !was.includes(term))
      await unburyTerms(tx, String(args.appId), added)
    },
  },
})

async function lookAt(appId: string, keywords: readonly string[], { sql, caller, lock }: LookContext) {
  if (lock) {
    await sql`
      select id
      from tracked_app
      where id = ${appId} and workspace_id = ${caller.workspaceId}
      for no key update`
  }
  const app = await findApp(sql, caller, appId)
  const rows = await sql<{ term: string }[]>`
    select distinct term
    from tracked_term
    where app_id = ${appId} and term = any(${keywords as string[]}::text[])`
  return { app, tracked: new Set(rows.map(({ term }) => term)) }
}
