import * as v from "valibot"
import type { ListingAllowance } from "../../access/allowances.ts"
import { type Context, ofApp, operation, pending } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { UNMEASURED } from "../../keywords/store/keyword-figures.ts"
import { readKeywordMetrics } from "../../keywords/store/keyword-metrics.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { listingLocale, localesOf } from "../../lib/locales.ts"
import { coded, described, named } from "../../lib/schema.ts"
import type { WritingState, WritingTask } from "../../lib/writing/written-text.ts"
import { auditState } from "../../listings/audits/storefront-audits.ts"
import { Count, ListingLocale as Locale, popularityFields, Storefront, Time } from "../../tracking/shapes.ts"
import { DRAFT_FIELDS } from "../listing-draft.ts"
import { type Translation, translationTask } from "../translation.ts"
import { type AuditedTarget, readListing, type SourceListing, type Target } from "./source-listing.ts"
import { deleteJob, findAllJobs, findJob, storeJob, type TranslationJob } from "./translation-jobs.ts"
import { assertWriter, faultOf, WRITE_MS, Written, writtenBy } from "./writing-shapes.ts"

/** One write covers a listing and locale for 40 days. */
const UNIT_DAYS = 40
const ETA_S = 20

const Translated = named(
  "TranslatedField",
  v.strictObject({
    field: described(v.picklist(DRAFT_FIELDS), "As App Store Connect names it."),
    source: described(v.string(), "The page's text."),
    text: described(v.string(), "Its translation, or with kept the page's own text."),
    characters: described(Count, "In Unicode code points."),
    limit: described(Count, "What the store takes."),
    kept: described(v.nullable(v.string()), "Why no translation may be shown in its place; null = it is one."),
  }),
)

const KeywordIdea = named(
  "TranslatedKeyword",
  v.strictObject({
    term: described(v.string(), "For the keyword field of that locale."),
    measured: described(v.boolean(), "Its popularity there is known, if as a band; false = the model's idea alone."),
    ...popularityFields,
  }),
)

const Caption = named(
  "TranslatedCaption",
  v.strictObject({
    position: described(Count, "Of the screenshot, from 1."),
    source: described(v.nullable(v.string()), "Its large words, by OCR; null = it could not be read."),
    text: described(v.nullable(v.string()), "Their translation; null = not read, or refused."),
  }),
)

export const localizeListing = operation({
  id: "localize_listing",
  method: "GET",
  path: "/apps/:appId/localize",
  group: "Your apps",
  toolset: "page",
  summary: "The app's listing in another locale, by a language model, checked.",
  description:
    "The first call begins it and answers 202; poll until it is there, or has ended in an error. Needs a storefront audit. A new locale takes one listing write, which comes back when it fails.",
  effect: "spends",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [
    "no_audit", "no_storefront", "no_job", "not_measured", "localize_quota", "ai_not_configured", "ai_failed", "ai_timeout",
  ], // biome-ignore format: one list
  pending: true,
  deadlineMs: WRITE_MS + 4_000,
  input: ofApp({
    locale: coded(
      v.pipe(
        v.string(),
        v.maxLength(5),
        v.regex(/^[A-Za-z]{2}[_-][A-Za-z]{2}$/),
        v.description("Such as de_de or de-DE."),
      ),
      "bad_locale",
    ),
    poll: v.optional(v.pipe(v.boolean(), v.description("Only look; begin nothing."))),
    shots: v.optional(v.pipe(v.boolean(), v.description("Also captions of the screenshots."))),
  }),
  output: v.strictObject({
    state: described(v.picklist(["pending", "done"]), "pending (202): it is being written; ask again with poll."),
    locale: described(Locale, "The locale of the listing."),
    storefronts: described(v.array(Storefront), "Where the app is sold and that locale is read."),
    source: described(
      v.nullable(
        v.strictObject({
          country: Storefront,
          locale: described(Locale, "What that page is written in."),
          pageReadAt: described(Time, "When it was read."),
        }),
      ),
      "The page that is translated; null while pending.",
    ),
    fields: described(v.array(Translated), "In the order of the store's form; empty while pending."),
    keywords: described(v.array(KeywordIdea), "For the keyword field: together with commas at most 100 characters."),
    shots: described(v.nullable(v.array(Caption)), "Null unless asked for, and while pending."),
    written: described(v.nullable(Written), "Who wrote it, and what was left out; null while pending."),
    eta: v.optional(described(Count, "With 202: seconds until it may be there.")),
  }),
}).run(async ({ app, locale, poll, shots = false }, ctx) => {
  const audited = await targetOf(ctx, app, locale)
  const { target, storefronts } = audited
  const job = await findJob(ctx.sql, app.id, target)
  const polled = poll ? job : null
  if (poll && !polled) throw new Fault("no_job")
  const polledText = polled ? await ctx.write.find<Translation>({ kind: KIND, digest: polled.digest }) : null
  if (polledText?.state === "pending") return waiting(audited)
  if (polled && polledText?.state === "failed") throw await endedAs(ctx, polled, polledText)
  const listing = await readListing(ctx, app, audited, shots)
  if (polled && polledText?.state === "done")
    return await shown(ctx, audited, { ...listing, digest: polled.digest }, polledText)
  const { digest } = listing
  const task = translationTask({ ...listing, digest: polled?.digest ?? digest })
  if (polled) {
    // the process that wrote it ended before finishing
    if (polled.isOld) await giveBack(ctx, polled)
    if (polled.isOld) throw new Fault("no_job")
    return await begun(ctx, polled, task, { target, storefronts })
  }
  const stored = job?.digest === digest ? await ctx.write.find<Translation>(task) : null
  if (stored?.state === "done") return await shown(ctx, audited, listing, stored)
  if (stored?.state === "pending") return waiting(audited)
  await assertWriter(ctx, task)
  const begin = await takeWrite(ctx, app, target, listing)
  await storeJob(ctx.sql, begin)
  return await begun(ctx, { ...begin, isOld: false }, task, audited)
})

const KIND = "listing_translation"

/** Finds the locale and its storefronts. Throws no_audit or no_storefront. */
async function targetOf(ctx: Context, app: TrackedApp, locale: string): Promise<AuditedTarget> {
  const { last } = app.iosApp === null ? { last: null } : await auditState(ctx.sql, app.iosApp)
  if (!last) throw new Fault("no_audit")
  const target = listingLocale(locale)
  const sold = last.rows.filter(({ state }) => state === "sold")
  const reading = sold.filter(({ country }) => target !== undefined && localesOf(country).includes(target))
  if (target === undefined || reading.length === 0) throw new Fault("no_storefront")
  return { target, storefronts: reading.map(({ country }) => country), sold }
}

/** Takes a listing write, once per listing and locale. Throws localize_quota. */
async function takeWrite(ctx: Context, app: TrackedApp, locale: string, { digest, unit }: SourceListing) {
  const isEver = ctx.caller.plan === "free"
  const allowance: ListingAllowance = isEver ? "listingWritesEver" : "listingWrites"
  const opening = { about: unit, days: UNIT_DAYS }
  let taken = await ctx.take(allowance, opening)
  if (!taken.granted && (await settleFailed(ctx))) taken = await ctx.take(allowance, opening)
  const { granted, limit, used } = taken
  if (!granted) throw new Fault("localize_quota", { limit, used, period: isEver ? "total" : "month" })
  const before = await findJob(ctx.sql, app.id, locale)
  const keepsUnit =
    before?.unit === unit && (await ctx.write.find({ kind: KIND, digest: before.digest }))?.state === "done"
  return { appId: app.id, locale, digest, allowance, unit, keepsUnit }
}

/** Returns the units of failed texts for which nobody asked again. True if there were any. */
async function settleFailed(ctx: Context): Promise<boolean> {
  let isSettled = false
  for (const job of await findAllJobs(ctx.sql, ctx.caller.workspaceId)) {
    const state = await ctx.write.find({ kind: KIND, digest: job.digest })
    if (state?.state === "failed") isSettled = (await giveBack(ctx, job)) || isSettled
  }
  return isSettled
}

async function giveBack(ctx: Context, job: TranslationJob): Promise<boolean> {
  if (!(await deleteJob(ctx.sql, job)) || job.keepsUnit) return false
  return await ctx.returnUnit(job.allowance, job.unit)
}

/** Returns the fault of a failed text and gives its unit back. The failure is reported once. */
async function endedAs(ctx: Context, job: TranslationJob, state: Extract<WritingState<unknown>, { state: "failed" }>) {
  await giveBack(ctx, job)
  return faultOf(state)
}

/** Starts the text, which continues after the call has ended. */
async function begun(ctx: Context, job: TranslationJob, task: WritingTask<Translation>, target: Target) {
  const state = await ctx.write(task, 0)
  if (state.state === "failed") throw await endedAs(ctx, job, state)
  return waiting(target)
}

function waiting({ target, storefronts }: Target) {
  const nothing = { source: null, fields: [], keywords: [], shots: null, written: null }
  return pending({ eta: ETA_S }, { state: "pending", locale: target, storefronts, ...nothing })
}

async function shown(
  ctx: Context,
  { target, storefronts }: Target,
  listing: SourceListing,
  text: Extract<WritingState<Translation>, { state: "done" }>,
) {
  const { fields, keywords, captions } = text.value
  const { country, fromLocale, seenAt, source, limits, side, pictures } = listing
  const metrics = await readKeywordMetrics(ctx.sql, { ...side, terms: keywords, today: dayOf(ctx.now()) })
  return {
    state: "done" as const,
    locale: target,
    storefronts,
    source: { country, locale: fromLocale, pageReadAt: seenAt.toISOString() },
    fields: fields.map(({ field, text: written, kept }) => {
      const shownText = written ?? ""
      return {
        field,
        source: source[field] ?? "",
        text: shownText,
        characters: [...shownText].length,
        limit: limits[field],
        kept,
      }
    }),
    keywords: keywords.map((term) => {
      const { popularity, popularityLow, popularityHigh, popularitySource } = metrics.get(term) ?? UNMEASURED
      return { term, measured: popularitySource !== null, popularity, popularityLow, popularityHigh, popularitySource }
    }),
    shots:
      pictures?.map((caption, at) => ({
        position: at + 1,
        source: caption,
        text: caption === null ? null : (captions[at] ?? null),
      })) ?? null,
    written: writtenBy(text, listing.digest),
  }
}
