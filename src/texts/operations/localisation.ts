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

/** A locale of a listing can be translated repeatedly for 40 days after its first write, for that one write. */
const UNIT_DAYS = 40
const ETA_S = 20

const Translated = named(
  "TranslatedField",
  v.strictObject({
    field: described(v.picklist(DRAFT_FIELDS), "Name of the field in App Store Connect."),
    source: described(v.string(), "Text of the page."),
    text: described(v.string(), "The translation, or the page's text if kept is set."),
    characters: described(Count, "Length in Unicode code points."),
    limit: described(Count, "Maximum length in the store."),
    kept: described(v.nullable(v.string()), "Why the page's text was kept. Null if text is a translation."),
  }),
)

const KeywordIdea = named(
  "TranslatedKeyword",
  v.strictObject({
    term: described(v.string(), "A keyword for that locale."),
    measured: described(
      v.boolean(),
      "True if its popularity there is known, at least as a band. False: an idea of the model.",
    ),
    ...popularityFields,
  }),
)

const Caption = named(
  "TranslatedCaption",
  v.strictObject({
    position: described(Count, "Position of the screenshot, from 1."),
    source: described(v.nullable(v.string()), "Its large words, by OCR. Null if not readable."),
    text: described(v.nullable(v.string()), "The translation. Null if not read or rejected by the checks."),
  }),
)

export const localizeListing = operation({
  id: "localize_listing",
  method: "GET",
  path: "/apps/:appId/localize",
  group: "Your apps",
  toolset: "page",
  summary: "Translates the app's listing into another locale with a language model and checks it.",
  description:
    "The first call starts the work and answers 202; poll until the translation or an error arrives. Requires a " +
    "storefront audit. A new locale takes one listing write, which is returned if it fails.",
  effect: "spends",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [
    "no_audit",
    "no_storefront",
    "no_job",
    "not_measured",
    "localize_quota",
    "ai_not_configured",
    "ai_failed",
    "ai_timeout",
  ],
  pending: true,
  deadlineMs: WRITE_MS + 4_000,
  input: ofApp({
    locale: coded(
      v.pipe(
        v.string(),
        v.maxLength(5),
        v.regex(/^[A-Za-z]{2}[_-][A-Za-z]{2}$/),
        v.description("Locale, such as de_de or de-DE."),
      ),
      "bad_locale",
    ),
    poll: v.optional(v.pipe(v.boolean(), v.description("True only checks the state and starts nothing."))),
    shots: v.optional(v.pipe(v.boolean(), v.description("True also translates the captions of the screenshots."))),
  }),
  output: v.strictObject({
    state: described(
      v.picklist(["pending", "done"]),
      "pending (202): the translation is being written; call again with poll.",
    ),
    locale: described(Locale, "Locale of the listing."),
    storefronts: described(v.array(Storefront), "Storefronts that sell the app and show that locale."),
    source: described(
      v.nullable(
        v.strictObject({
          country: Storefront,
          locale: described(Locale, "Locale of the source page."),
          pageReadAt: described(Time, "Time of the latest reading of the source page."),
        }),
      ),
      "The translated page. Null while pending.",
    ),
    fields: described(v.array(Translated), "Fields in the order of the store's form. Empty while pending."),
    keywords: described(
      v.array(KeywordIdea),
      "Keywords for the keyword field, together with commas at most 100 characters.",
    ),
    shots: described(v.nullable(v.array(Caption)), "Translated captions. Null unless requested, and while pending."),
    written: described(
      v.nullable(Written),
      "Provenance of the text and parts removed by the checks. Null while pending.",
    ),
    eta: v.optional(described(Count, "With 202: expected seconds until the translation.")),
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
    // the process that was writing the text ended before it finished
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

/** Takes a listing write, unless this listing and locale already used one in the period. Throws localize_quota. */
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

/** Gives back the units of failed translations that no caller has polled. Returns true if it gave back any. */
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

/** Gives back the unit of a failed translation and returns the fault. The failure is reported once. */
async function endedAs(ctx: Context, job: TranslationJob, state: Extract<WritingState<unknown>, { state: "failed" }>) {
  await giveBack(ctx, job)
  return faultOf(state)
}

/** Starts the translation, which continues after the call has ended. */
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
    fields: fields.map(({ field, text: written, kept: keptReason }) => {
      const shownText = written ?? ""
      return {
        field,
        source: source[field] ?? "",
        text: shownText,
        characters: [...shownText].length,
        limit: limits[field],
        kept: keptReason,
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
