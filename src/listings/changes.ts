import { normalForm } from "../lib/normal-form.ts"
import { DAY_MS } from "../lib/time.ts"
export const PAGE_CHANGES = [
  "version",
  "name",
  "subtitle",
  "icon",
  "price",
  "screenshots",
  "description",
  "promotional_text",
  "event_started",
  "event_ended",
  "featured",
  "unfeatured",
] as const
export const RATING_CHANGES = ["rating_jump", "ratings_jump"] as const
const LISTING_CHANGES = [...PAGE_CHANGES, ...RATING_CHANGES] as const
export type ListingChangeKind = (typeof LISTING_CHANGES)[number]

/** The parts of a page that are compared for changes. A missing part is unknown, not empty. */
export interface ShownPage {
  name: string
  /** Language of all texts (BCP 47). */
  language?: string
  subtitle?: string
  promotionalText?: string
  description?: string
  /** URL. */
  icon?: string
  /** URLs in page order. */
  screenshots?: { phone?: string[]; pad?: string[] }
  price?: number
  /** ISO 4217. */
  currency?: string
  version?: string
  /** ISO 8601 times. */
  events?: { id: string; title: string; startsAt?: string; endsAt?: string }[]
  editorial?: { id: string; kind: "story" | "collection"; title?: string }[]
}

/** Consecutive readings with the same page content. */
export interface PageRun {
  firstSeenAt: Date
  seenAt: Date
  parser: number
  page: ShownPage
}

export interface ListingChange {
  kind: ListingChangeKind
  /** The event's id, or the card's kind and id ("story 1400000001"). Empty if the change kind needs no subject. */
  subject: string
  /** Null if there was no such value before. */
  before: unknown
  /** Null if the value was removed. */
  after: unknown
  /** Time of the first reading with the new state. */
  at: Date
  /** Time of the last reading with the previous state. */
  beforeSeenAt: Date
}

/**
 * Number of previous runs (or days of ratings) to compare with. A run that arrives late therefore affects at most that
 * many later runs.
 */
export const LOOK_BACK = 8

/**
 * Returns the changes in the run at `place`. `runs` belong to one app, storefront and source, oldest first.
 *
 * - Each part is compared with its last known value. A part that is missing on a page is unknown, and so not compared.
 * - Texts (name, subtitle, description, promotional text) are compared between pages that name the same language, or
 *   that both name none. White space and Unicode form are ignored.
 * - Between pages read by different parsers, only the version number is compared, because a newer parser may read
 *   everything else differently.
 * - A price changed if its amount differs, or if its currency differs while both are known and the price is not zero.
 * - Screenshots are compared for the devices that both pages show. Apple's picture hosts (is1-ssl to is5-ssl) serve the
 *   same pictures. An icon counts as changed with its URL; a store may assign a new URL with a new build.
 * - An event or editors' card is `event_started` or `featured` when a page shows it for the first time (an event may
 *   start later: `after` contains its dates). Pages without events or cards omit the section, so this also applies when
 *   earlier pages of the same parser omitted it. An item missing from a section that still exists is `event_ended` or
 *   `unfeatured`. If the section is omitted, nothing is concluded, except that an event is over once its own end has
 *   passed.
 */
export function pageChanges(runs: readonly PageRun[], place: number): ListingChange[] {
  const run = runs[place] as PageRun
  const earlier = runs.slice(Math.max(0, place - LOOK_BACK), place).toReversed()
  const reread = earlier.findIndex(({ parser }) => parser !== run.parser)
  const alike = reread < 0 ? earlier : earlier.slice(0, reread)
  const inLanguage = alike.filter(({ page }) => page.language === run.page.language)
  return [
    ...different("version", run, earlier, ({ version }) => version),
    ...different("name", run, inLanguage, ({ name }) => name, sameText),
    ...different("subtitle", run, inLanguage, ({ subtitle }) => subtitle, sameText),
    ...different("description", run, inLanguage, ({ description }) => description, sameText),
    ...different("promotional_text", run, inLanguage, ({ promotionalText }) => promotionalText, sameText),
    ...different("icon", run, alike, ({ icon }) => icon, samePicture),
    ...different("price", run, alike, priceOf, samePrice),
    ...screenshotChanges(run, alike),
    ...comings(["event_started", "event_ended"], run, alike, eventsOf),
    ...comings(["featured", "unfeatured"], run, alike, cardsOf),
  ]
}

function different<Part>(
  kind: ListingChangeKind,
  run: PageRun,
  earlier: readonly PageRun[],
  partOf: (page: ShownPage) => Part | undefined,
  same: (one: Part, other: Part) => boolean = Object.is,
): ListingChange[] {
  const after = partOf(run.page)
  const previous = earlier.find(({ page }) => partOf(page) !== undefined)
  if (after === undefined || previous === undefined) return []
  const before = partOf(previous.page) as Part
  return same(before, after) ? [] : [changed(kind, run, previous, before, after)]
}

function changed(
  kind: ListingChangeKind,
  run: PageRun,
  previous: PageRun,
  before: unknown,
  after: unknown,
  subject = "",
) {
  return { kind, subject, before, after, at: run.firstSeenAt, beforeSeenAt: previous.seenAt }
}

function sameText(text: string, other: string): boolean {
  return spelt(text) === spelt(other)
}

function spelt(text: string): string {
  return normalForm(text, "NFC").replace(/\s+/gu, " ").trim()
}

function samePicture(picture: string, other: string): boolean {
  return picture.replace(APPLE_HOST, "") === other.replace(APPLE_HOST, "")
}

const APPLE_HOST = /^https:\/\/is\d-ssl\.mzstatic\.com(?=\/)/

interface Price {
  price: number
  currency?: string
}

function priceOf({ price, currency }: ShownPage): Price | undefined {
  return price === undefined ? undefined : { price, ...(currency !== undefined && { currency }) }
}

function samePrice(price: Price, other: Price): boolean {
  if (price.price !== other.price) return false
  return price.price === 0 || price.currency === other.currency || !price.currency || !other.currency
}

const DEVICES = ["phone", "pad"] as const

function screenshotChanges(run: PageRun, alike: readonly PageRun[]): ListingChange[] {
  const shared = (page: ShownPage) =>
    DEVICES.filter((device) => page.screenshots?.[device] && run.page.screenshots?.[device])
  const previous = alike.find(({ page }) => shared(page).length > 0)
  if (previous === undefined) return []
  const devices = shared(previous.page).filter(
    (device) => !samePictures(pictures(previous, device), pictures(run, device)),
  )
  const of = (pageRun: PageRun) => Object.fromEntries(devices.map((device) => [device, pictures(pageRun, device)]))
  return devices.length > 0 ? [changed("screenshots", run, previous, of(previous), of(run))] : []
}

function pictures({ page }: PageRun, device: (typeof DEVICES)[number]): string[] {
  return page.screenshots?.[device] ?? []
}

function samePictures(some: readonly string[], urls: readonly string[]): boolean {
  return some.length === urls.length && some.every((picture, place) => samePicture(picture, urls[place] as string))
}

interface TimedItem {
  subject: string
  endsAt: number
  content: unknown
}

function eventsOf({ events }: ShownPage): TimedItem[] | undefined {
  return events?.map((event) => ({ subject: event.id, endsAt: Date.parse(event.endsAt ?? ""), content: event }))
}

function cardsOf({ editorial }: ShownPage): TimedItem[] | undefined {
  return editorial?.map((card) => ({ subject: `${card.kind} ${card.id}`, endsAt: Number.NaN, content: card }))
}

function comings(
  [came, went]: [ListingChangeKind, ListingChangeKind],
  run: PageRun,
  alike: readonly PageRun[],
  itemsOf: (page: ShownPage) => TimedItem[] | undefined,
): ListingChange[] {
  const [latest] = alike
  if (latest === undefined) return []
  const place = alike.findIndex(({ page }) => itemsOf(page) !== undefined)
  const previous = alike[place]
  const silent = place < 0 ? alike : alike.slice(0, place)
  const now = itemsOf(run.page)
  const before = (previous && itemsOf(previous.page)) ?? []
  const isOver = ({ endsAt }: TimedItem, { firstSeenAt }: PageRun) => endsAt <= firstSeenAt.getTime()
  const started = without(now ?? [], before)
  // An event that ended by its own date was already reported when the first page after that date was read.
  const ended = without(before, now ?? []).filter(
    (item) => (now !== undefined || isOver(item, run)) && !silent.some((silentRun) => isOver(item, silentRun)),
  )
  return [
    ...started.map(({ subject, content }) => changed(came, run, previous ?? latest, null, content, subject)),
    ...ended.map(({ subject, content }) => changed(went, run, previous as PageRun, content, null, subject)),
  ]
}

function without(items: readonly TimedItem[], excluded: readonly TimedItem[]): TimedItem[] {
  const subjects = new Set(excluded.map(({ subject }) => subject))
  return items.filter(({ subject }) => !subjects.has(subject))
}

/** The last rating counts of a day. Null if the page did not show them. */
export interface RatingDay {
  seenAt: Date
  /** 0 to 5. */
  rating: number | null
  ratings: number | null
}

/** Minimum move of the average for `rating_jump`, in stars. */
const RATING_JUMP = 0.1
/**
 * Minimum change for `ratings_jump`: 100 ratings, and a tenth of the previous count. An increase needs a tenth for each
 * day since that count.
 */
const RATINGS_JUMP = { least: 100, share: 0.1 }

/**
 * Returns the jumps on the day at `place`. `days` are the measured days of one app, storefront and source, oldest
 * first.
 */
export function ratingChanges(days: readonly RatingDay[], place: number): ListingChange[] {
  const day = days[place] as RatingDay
  const earlier = days.slice(Math.max(0, place - LOOK_BACK), place).toReversed()
  const last = {
    rating: earlier.find(({ rating }) => rating !== null),
    ratings: earlier.find((earlierDay) => earlierDay.ratings !== null),
  }
  const jump = (kind: ListingChangeKind, previous: RatingDay, of: "rating" | "ratings"): ListingChange => ({
    kind,
    subject: "",
    before: previous[of],
    after: day[of],
    at: day.seenAt,
    beforeSeenAt: previous.seenAt,
  })
  return [
    ...(last.rating && averageJumped(last.rating, day) ? [jump("rating_jump", last.rating, "rating")] : []),
    ...(last.ratings && countJumped(last.ratings, day) ? [jump("ratings_jump", last.ratings, "ratings")] : []),
  ]
}

function averageJumped(before: RatingDay, after: RatingDay): boolean {
  if (before.rating === null || after.rating === null) return false
  // Ratings are rounded, because 4.6 and 4.7 are stored in single precision and must count as a tenth apart.
  return Math.round(Math.abs(after.rating - before.rating) * 1_000) / 1_000 >= RATING_JUMP
}

function countJumped(before: RatingDay, after: RatingDay): boolean {
  if (before.ratings === null || after.ratings === null) return false
  const grown = after.ratings - before.ratings
  const days = grown < 0 ? 1 : Math.max(1, Math.round((after.seenAt.getTime() - before.seenAt.getTime()) / DAY_MS))
  return Math.abs(grown) >= Math.max(RATINGS_JUMP.least, RATINGS_JUMP.share * before.ratings * days)
}
