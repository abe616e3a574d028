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

/** An app in the results of a keyword. */
export interface RankedPeer {
  rank: number
  /** Null if unknown. */
  name: string | null
  /** Null if unknown. */
  ratings: number | null
}

/** A tracked keyword on its latest measured day. */
export interface PlanKeyword {
  term: string
  day: string
  /** Null if absent from the places read. */
  rank: number | null
  /** Search volume, 1 to 100: the published popularity, or the middle of the estimated band. */
  weight: number
  popularity: number | null
  popularityLow: number | null
  popularityHigh: number | null
  popularitySource: PopularitySource | null
  /** Time of the latest reading that the popularity is based on, ISO 8601. */
  popularityAt: string | null
  /** The other apps among the first 50 places. */
  peers: readonly RankedPeer[]
}

/** A store page in one storefront, with its keywords. */
export interface PageKeywords {
  appId: string
  platform: "ios" | "android"
  storefront: string
  locale: ListingLocale
  name: string
  /** Empty if the page shows none. */
  subtitle: string
  /** The latest rating count in the storefront. */
  ratings: number
  /** Tracked keywords that were measured and have a popularity, ranked or not. */
  keywords: readonly PlanKeyword[]
}

export interface PlanInputs extends PageKeywords {
  appBackground: AppBackground
}

export interface PlanTask {
  taskId: string
  field: "subtitle"
  current: string
  proposed: string
  added: string[]
  removed: string[]
  /** The keyword that the task is for, and other keywords whose words the new text also completes. */
  gains: KeywordOutlook[]
  expectedValue: number
  confidence: "low" | "medium"
  /**
   * Number of similar apps: their names contain the first keyword, and they have at most as many ratings as this app.
   */
  evidence: number
}

export interface KeywordOutlook extends Omit<PlanKeyword, "peers"> {
  expectedRank: number
}

/** With fewer similar apps the expected rank is not reliable. */
export const MIN_PEERS = 3
/** With at least this many similar apps the confidence is medium. */
export const MANY_PEERS = 10
const MAX_KEYWORDS = 30

/**
 * Returns keywords whose words are missing from the listing and that would probably rank better with them, most
 * valuable first. The result is often empty, so check it before reading more about the app.
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
    .slice(0, MAX_KEYWORDS)
}

/**
 * Proposes words for the subtitle that, together with the name, complete a tracked keyword. Each proposal starts from
 * the current text and is independent of the others. Returns the most valuable first, at most `limit`.
 *
 * - The expected rank is measured: the median rank, among the first 50 of the keyword, of apps that have all its words
 *   in their name and no more ratings than this app. Nothing is proposed with fewer than three such apps, or if they
 *   rank no better than this app.
 * - Words are added if they fit, otherwise in place of words that no tracked keyword contains. In scripts without
 *   spaces no word is removed, because word boundaries there are ambiguous.
 * - A proposal is dropped if the listing checks find a fault in it that the current text does not have.
 * - The expected value of a keyword is weight × (1 / expected rank − 1 / rank), without the second term if the app is
 *   absent: taps are assumed to fall as 1 / rank. It orders tasks and is no forecast of downloads.
 */
export function planTasks(inputs: PlanInputs, missing: readonly MissingWords[], limit: number): PlanTask[] {
  const page = readPage(inputs, languageOf(inputs.locale))
  const tasks = missing.flatMap((item) => taskFor(item, missing, page) ?? [])
  // several keywords may lead to the same text: keep it for the most valuable one
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

/**
 * Returns the outlook of a keyword with its expected rank, and the number of similar apps. Null if no better rank can
 * be expected.
 */
function outlookOf(keyword: PlanKeyword, ratings: number): Omit<MissingWords, "words"> | null {
  const { peers, ...about } = keyword
  const alike = peers.filter(
    (peer) =>
      peer.name !== null &&
      peer.ratings !== null &&
      peer.ratings <= ratings &&
      titleMatch(keyword.term, peer.name) >= 0.5,
  )
  if (alike.length < MIN_PEERS) return null
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

function missingWords(term: string, present: ReadonlySet<string>, language: string): Word[] {
  return wordsOf(term, language).filter(({ loose }) => !present.has(loose))
}

/**
 * Returns whether the listing contains a keyword in a script without spaces, where words are ambiguous and characters
 * are compared instead.
 */
function holdsUnspaced({ name, subtitle }: PageKeywords, term: string): boolean {
  const text = normalForm(`${name}\n${subtitle}`, "NFKC").toLowerCase()
  return UNSPACED.test(term) && text.includes(normalForm(term, "NFKC"))
}

/** A page, with everything that its proposals are checked against. */
interface Page extends Omit<PlanInputs, "appBackground" | "keywords"> {
  language: string
  /** Words of the tracked keywords. */
  needed: ReadonlySet<string>
  background: Background
  /** Faults of the current text. */
  faults: ReadonlySet<string>
}

function readPage({ appBackground, keywords: _, ...inputs }: PlanInputs, language: string): Page {
  const needed = new Set<string>()
  for (const term of appBackground.tracked)
    for (const { loose } of wordsOf(normalForm(term, "NFC"), language)) needed.add(loose)
  // a rival's name counts as foreign even if it is tracked as a keyword
  const background = backgroundIn({ ...appBackground, tracked: [] }, language)
  const page = { ...inputs, language, needed, background }
  return { ...page, faults: faultsOf(page, inputs.subtitle) }
}

function taskFor({ outlook, peers, words }: MissingWords, all: readonly MissingWords[], page: Page): PlanTask | null {
  const added = words.map(({ text }) => text)
  const rewritten = rewrite(page, added)
  if (!rewritten || !faultsOf(page, rewritten.proposed).isSubsetOf(page.faults)) return null
  const after = wordsIn([page.name, rewritten.proposed], page.language)
  const covered = all.filter((item) => item.words.every(({ loose }) => after.has(loose))).map((item) => item.outlook)
  const gains = [outlook, ...covered.filter((item) => item !== outlook)]
  const expectedValue = gains.reduce((sum, gain) => sum + worth(gain), 0)
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

/** Adds the words. If the text gets too long, removes words that no keyword needs, starting with the last. */
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

/** Returns the maximum length of the text. Google Play's short description allows 80 characters. */
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

/** Returns the last word that no tracked keyword contains. */
function idleWord(text: string, { needed, language }: Page): Word | undefined {
  if (UNSPACED.test(text)) return undefined
  return wordsOf(text, language).findLast(({ loose }) => !needed.has(loose))
}

/** Removes separators that no longer separate anything. */
function tidied(text: string): string {
  return text
    .replace(/\s+([,;:.!?&|·•–—-])/gu, " $1")
    .replace(/([,;:&|·•–—-])(?:\s*[,;:&|·•–—-])+/gu, "$1")
    .replace(/^[\s,;:.!?&|·•–—-]+|[\s,;:&|·•–—-]+$/gu, "")
    .replace(/\s+([,;:.!?])/gu, "$1")
    .replace(/\s+/gu, " ")
}

/** Returns the codes of faults that the listing checks find in a subtitle, without hints. */
function faultsOf({ name, language, background, ...place }: Omit<Page, "faults">, subtitle: string): Set<string> {
  const { findings } = checkListing(listingOf({ name, subtitle }, language, background), place)
  const grave = findings.filter(({ severity, field }) => severity !== "hint" && field === "subtitle")
  return new Set(grave.filter(({ code }) => place.platform === "ios" || code !== "too_long").map(({ code }) => code))
}

function taskIdOf({ appId, platform, storefront }: Page, proposed: string): string {
  return `task_${hash("sha256", JSON.stringify([appId, platform, storefront, "subtitle", proposed])).slice(0, 20)}`
}
