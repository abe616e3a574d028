import type { Context } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import { bySearches, readKeywordMetrics } from "../../keywords/store/keyword-metrics.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { type ListingLocale, languageOf, localesOf } from "../../lib/locales.ts"
import type { AuditRow } from "../../listings/audits/storefront-audits.ts"
import { backgroundIn } from "../../listings/checks/background.ts"
import { LIMITS } from "../../listings/checks/finding.ts"
import { readSurroundings } from "../../listings/read/listing-surroundings.ts"
import { type ListingTexts, readListingTexts } from "../../listings/read/listing-texts.ts"
import { PAGE_SOURCES, readLatestPage } from "../../listings/read/store-pages.ts"
import { ownNameIn } from "../checks/names.ts"
import { digestOf } from "../digest.ts"
import { WRITE_MS } from "./writing-shapes.ts"

const KEYWORDS = 30
const SHOTS = 4

export interface Target {
  target: ListingLocale
  /** Storefronts where the app is sold and that use the locale. */
  storefronts: string[]
}

export interface AuditedTarget extends Target {
  sold: AuditRow[]
}

/** Reads the input of a translation, and the digests that identify the input. */
export async function readListing(
  ctx: Context,
  app: TrackedApp,
  { target, storefronts, sold }: AuditedTarget,
  shots: boolean,
) {
  const { country, texts } = await readSource(ctx, app, sold)
  const from = localesOf(country)[0]
  const side = {
    platform: "ios",
    storefront: app.countries.find((item) => storefronts.includes(item)) ?? storefronts[0]!,
  } as const
  const surroundings = await readSurroundings(ctx.sql, app, side)
  const metrics = await readKeywordMetrics(ctx.sql, { ...side, terms: surroundings.tracked, today: dayOf(ctx.now()) })
  const keywords = surroundings.tracked
    .toSorted(bySearches(metrics))
    .map((term) => ({ term, popularity: metrics.get(term)?.popularityOrder ?? null }))
    .slice(0, KEYWORDS)
  const source = fieldsOf(texts)
  const pictures = shots ? await readCaptions(ctx, app, country, from) : []
  const unit = digestOf([app.id, target, source])
  return {
    country,
    from: languageOf(from),
    fromLocale: from,
    to: languageOf(target),
    seenAt: texts.seenAt,
    source,
    keywords,
    digest: digestOf(["translation", ctx.caller.workspaceId, unit, keywords.map(({ term }) => term).sort(), pictures]),
    unit,
    limits: {
      name: LIMITS.name,
      subtitle: LIMITS.subtitle,
      promotionalText: LIMITS.promotionalText,
      description: LIMITS.description,
    },
    names: [ownNameIn(texts.name)],
    pictures: shots ? pictures : null,
    captions: pictures.map((caption) => caption ?? ""),
    place: { storefront: side.storefront, locale: target },
    background: backgroundIn(surroundings, languageOf(target)),
    side,
  }
}

export type SourceListing = Awaited<ReturnType<typeof readListing>>

/**
 * Returns the page of the app's first storefront. If that was not read, returns the page of the storefront with the
 * most ratings. Throws not_measured.
 */
async function readSource(ctx: Context, app: TrackedApp, sold: readonly AuditRow[]) {
  const byRatings = sold.toSorted((a, b) => (b.ratings ?? -1) - (a.ratings ?? -1) || (a.country < b.country ? -1 : 1))
  const ownCountries = app.countries.filter((country) => sold.some((row) => row.country === country))
  for (const country of [...ownCountries, ...byRatings.slice(0, 5).map((row) => row.country)]) {
    const texts = await readListingTexts(ctx.sql, app.iosApp!, { platform: "ios", storefront: country })
    if (texts) return { country, texts }
  }
  throw new Fault("not_measured", { detail: "No store page of the app was read yet." })
}

function fieldsOf({ name, subtitle, promotionalText, description }: ListingTexts) {
  return { name, subtitle, promotionalText, description }
}

/**
 * Returns the captions, with null for each picture that cannot be read. Throws ai_timeout while pictures are being
 * read.
 */
async function readCaptions(ctx: Context, app: TrackedApp, storefront: string, locale: ListingLocale) {
  const page = await readLatestPage(ctx.sql, app.iosApp!, storefront, PAGE_SOURCES.ios)
  const addresses = (page?.page.screenshots?.phone ?? []).slice(0, SHOTS)
  const states = await ctx.pictures(
    addresses.map((address) => ({ address, locales: [locale] })),
    WRITE_MS,
  )
  if (states.some(({ state }) => state === "pending")) throw new Fault("ai_timeout")
  return states.map((item) => (item.state === "read" ? item.text.lines.map(({ text }) => text).join("\n") : null))
}
