import { hash } from "node:crypto"
import { titleMatch } from "../../keywords/formulas/title-match.ts"
import { type ListingLocale, languageOf } from "../../lib/locales.ts"
import { normalForm } from "../../lib/normal-form.ts"
import type { PopularitySource } from "../../lib/upstreams.ts"
import { type Background, backgroundIn } from "../../listings/checks/background.ts"
import { UNSPACED, type Word, wordsOf } from "../../listings/checks/field-text.ts"
import { LIMITS } from "../../listings/checks/finding.ts"
import type { AppBackground } from "../../listings/checks/listing.ts"
import { checkListing, listingOf } from "../../listings/checks/report.ts"

/** An app among the results of a keyword. */
export interface RankedPeer {
  rank: number
  /** Null = not seen yet. */
  name: string | null
  /** Null = not known. */
  ratings: number | null
}

/** A tracked keyword on its latest measured day. */
export interface PlanKeyword {
  term: string
  day: string
  /** Null = absent from the results read. */
  rank: number | null
  /** How much it may be searched for, 1 to 100: published, or the middle of an estimate's band. */
  weight: number
  popularity: number | null
  popularityLow: number | null
  popularityHigh: number | null
  popularitySource: PopularitySource | null
  /** When the youngest reading behind it was seen, ISO 8601. */
  popularityAt: string | null
  /** The other apps of the first 50 places. */
  peers: readonly RankedPeer[]
}

/** What is known of a page and of its keywords in one storefront. */
export interface PageKeywords {
  appId: string
  platform: "ios" | "android"
  storefront: string
  locale: ListingLocale
  name: string
  /** "" = the page shows none. */
  subtitle: string
  /** The latest rating count there. */
  ratings: number
  /** Tracked keywords that were measured and have a popularity, whether ranked or not. */
  keywords: readonly PlanKeyword[]
}

export interface PlanInputs extends PageKeywords {
  known: AppBackground
}

export interface PlanTask {
  taskId: string
  field: "subtitle"
  current: string
  proposed: string
  added: string[]
  removed: string[]
  /** The keyword it is proposed for, and others that it makes up too. */
  gains: KeywordOutlook[]
  expectedValue: number
  confidence: "low" | "medium"
  /** Apps with no more ratings that carry the first keyword in their name. */
  evidence: number
}

export interface KeywordOutlook extends Omit<PlanKeyword, "peers"> {
  expectedRank: number
}

/** Fewer apps that show what the words are worth say nothing. */
export const LEAST_PEERS = 3
/** From so many on the rank that they stand for is more than a hint. */
export const MANY_PEERS = 10
const MOST_KEYWORDS = 30

/**
 * Keywords whose words the listing does not hold, and which are likely to stand better with them; the most valuable first. Often
 * there is none, and nothing else has to be known of the app.
 */
export function findMissing(inputs: PageKeywords): MissingWords[] {
  const language = languageOf(inputs.locale)
  const listing = wordsIn([inputs.name, inputs.subtitle], language)
  const outlooks = inputs.keywords.flatMap((keyword): MissingWords[] => {
    const words = missingWords(keyword.term, listing, language)
    if (words.length === 0 || holdsUnspaced(inputs, keyword.term)) return []
    const outlook = outlookOf(keyword, inputs.ratings)
    return outlook ? [{ ...outlook, words }] : []
  })
  return outlooks
    .toSorted((a, b) => worth(b.outlook) - worth(a.outlook) || (a.outlook.term < b.outlook.term ? -1 : 1))
    .slice(0, MOST_KEYWORDS)
}

/**
 * Words that the subtitle could hold so that it and the name together make up a tracked keyword, each proposal standing alone
 * and starting from the text as it is; the most valuable first, at most `limit`.
 *
 * - The rank to be expected is measured, not guessed: the median place, among the first 50 of that keyword, of apps that
 *   carry all its words in their name and have no more ratings than this one. With fewer than three such apps, or where they
 *   stand no better than this one, nothing is proposed.
 * - Words are added in the room that is left, or else in place of words that no tracked keyword holds. In scripts without
 *   blanks nothing is taken: where a word ends is a dictionary's opinion there.
 * - A proposal that the listing checks find fault with, where they do not with the text as it is, is none.
 * - The expected value of a keyword is weight × (1 / expected rank − 1 / rank), the part of rank left out while the app is
 *   absent: taps are taken to fall with the rank as 1 / rank. It orders tasks; it is no forecast of downloads.
 */
export function planTasks(inputs: PlanInputs, missing: readonly MissingWords[], limit: number): PlanTask[] {
  const page = readPage(inputs, languageOf(inputs.locale))
  const tasks = missing.flatMap((one) => taskFor(one, missing, page) ?? [])
  // several keywords may lead to one text: it is told of the one that is worth most
  const texts = new Map(tasks.toReversed().map((task) => [task.taskId, task]))
  return tasks
    .filter((task) => texts.get(task.taskId) === task)
    .toSorted((a, b) => b.expectedValue - a.expectedValue)
    .slice(0, limit)
}

interface MissingWords {
  outlook: KeywordOutlook
  peers: number
  words: Word[]
}

/** Null where no rank can be expected that is better. */
function outlookOf(keyword: PlanKeyword, ratings: number): Omit<MissingWords, "words"> | null {
  const { peers, ...about } = keyword
  const alike = peers.filter(
    (peer) =>
      peer.name !== null &&
      peer.ratings !== null &&
      peer.ratings <= ratings &&
      titleMatch(keyword.term, peer.name) >= 0.5,
  )
  if (alike.length < LEAST_PEERS) return null
  const ranks = alike.map((peer) => peer.rank).sort((a, b) => a - b)
  const expectedRank = ranks[Math.floor(ranks.length / 2)] as number
  if (keyword.rank !== null && expectedRank >= keyword.rank) return null
  return { outlook: { ...about, expectedRank }, peers: alike.length }
}

function worth({ weight, expectedRank, rank }: KeywordOutlook): number {
  return weight * (share(expectedRank) - share(rank))
}

function share(rank: number | null): number {
  return rank === null ? 0 : 1 / rank
}

function wordsIn(texts: readonly string[], language: string): Set<string> {
  return new Set(texts.flatMap((text) => wordsOf(normalForm(text, "NFC"), language)).map(({ loose }) => loose))
}

function missingWords(term: string, held: ReadonlySet<string>, language: string): Word[] {
  return wordsOf(term, language).filter(({ loose }) => !held.has(loose))
}

/** Whether a listing holds a keyword; in scripts without blanks words are a dictionary's opinion, and a row of characters tells. */
function holdsUnspaced({ name, subtitle }: PageKeywords, term: string): boolean {
  const text = normalForm(`${name}\n${subtitle}`, "NFKC").toLowerCase()
  return UNSPACED.test(term) && text.includes(normalForm(term, "NFKC"))
}

/** A page with what each proposal is held against, read once. */
interface Page extends Omit<PlanInputs, "known" | "keywords"> {
  language: string
  /** Words of the tracked keywords. */
  needed: ReadonlySet<string>
  background: Background
  /** Faults of the text as it is. */
  faults: ReadonlySet<string>
}

function readPage({ known, keywords: _, ...inputs }: PlanInputs, language: string): Page {
  const needed = new Set<string>()
  for (const term of known.tracked)
    for (const { loose } of wordsOf(normalForm(term, "NFC"), language)) needed.add(loose)
  // a rival's name may be tracked as a keyword, and is no word of the app's own for that
  const background = backgroundIn({ ...known, tracked: [] }, language)
  const page = { ...inputs, language, needed, background }
  return { ...page, faults: faultsOf(page, inputs.subtitle) }
}

function taskFor({ outlook, peers, words }: MissingWords, all: readonly MissingWords[], page: Page): PlanTask | null {
  const added = words.map(({ text }) => text)
  const rewritten = rewrite(page, added)
  if (!rewritten || !faultsOf(page, rewritten.proposed).isSubsetOf(page.faults)) return null
  const after = wordsIn([page.name, rewritten.proposed], page.language)
  const covered = all.filter((one) => one.words.every(({ loose }) => after.has(loose))).map((one) => one.outlook)
  const gains = [outlook, ...covered.filter((one) => one !== outlook)]
  const expectedValue = gains.reduce((sum, one) => sum + worth(one), 0)
  return {
    taskId: taskIdOf(page, rewritten.proposed),
    field: "subtitle",
    current: page.subtitle,
    ...rewritten,
    added,
    gains,
    expectedValue: Math.round(expectedValue * 100) / 100,
    confidence: peers >= MANY_PEERS ? "medium" : "low",
    evidence: peers,
  }
}

/** The text with the words added; without words that no keyword needs, from the last on, as far as it takes. */
function rewrite(page: Page, added: readonly string[]) {
  let [text, removed] = [normalForm(page.subtitle, "NFC").trim(), [] as string[]]
  for (;;) {
    const proposed = joined(text, added, page.language)
    if ([...proposed].length <= limitOf(page)) return { proposed, removed }
    const idle = idleWord(text, page)
    if (!idle) return null
    removed = [idle.text, ...removed]
    text = tidied(`${text.slice(0, idle.at)} ${text.slice(idle.end)}`)
    if (text === "") return null
  }
}

/** Google Play's short description takes 80 characters. */
function limitOf({ platform }: Page): number {
  return platform === "ios" ? LIMITS.subtitle : 80
}

const SEPARATORS: Record<string, string> = { ja: "・", "zh-Hans": "，", "zh-Hant": "，" }

function joined(text: string, added: readonly string[], language: string): string {
  const separator = SEPARATORS[language]
  const phrase = added.join(separator ? "" : " ")
  if (text === "") return capitalised(phrase, language)
  if (separator) return `${text}${separator}${phrase}`
  return /[,&]$/.test(text) ? `${text} ${phrase}` : `${text}, ${phrase}`
}

function capitalised(text: string, language: string): string {
  const [first = "", ...rest] = text
  return `${first.toLocaleUpperCase(language)}${rest.join("")}`
}

/** The last word that no tracked keyword holds. */
function idleWord(text: string, { needed, language }: Page): Word | undefined {
  if (UNSPACED.test(text)) return undefined
  return wordsOf(text, language).findLast(({ loose }) => !needed.has(loose))
}

/** Without separators that nothing stands between or beside any more. */
function tidied(text: string): string {
  return text
    .replace(/\s+([,;:.!?&|·•–—-])/gu, " $1")
    .replace(/([,;:&|·•–—-])(?:\s*[,;:&|·•–—-])+/gu, "$1")
    .replace(/^[\s,;:.!?&|·•–—-]+|[\s,;:&|·•–—-]+$/gu, "")
    .replace(/\s+([,;:.!?])/gu, "$1")
    .replace(/\s+/gu, " ")
}

/** What the listing checks find wrong with a text in the subtitle's place, by code; hints are no faults. */
function faultsOf({ name, language, background, ...place }: Omit<Page, "faults">, subtitle: string): Set<string> {
  const { findings } = checkListing(listingOf({ name, subtitle }, language, background), place)
  const grave = findings.filter(({ severity, field }) => severity !== "hint" && field === "subtitle")
  return new Set(grave.filter(({ code }) => place.platform === "ios" || code !== "too_long").map(({ code }) => code))
}

function taskIdOf({ appId, platform, storefront }: Page, proposed: string): string {
  return `task_${hash("sha256", JSON.stringify([appId, platform, storefront, "subtitle", proposed])).slice(0, 20)}`
}
