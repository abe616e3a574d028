import * as v from "valibot"
import { normaliseTerm } from "../formulas/term.ts"
import { doubledKey } from "./json-keys.ts"
import type { AnyKind } from "./kind.ts"
import { KINDS, kindNamed } from "./kinds.ts"
import { Country, Fact, Moment, PlatformName, RankSource, Text } from "./line-parts.ts"
import { LineProblem } from "./line-problem.ts"
import { type Attempt, type Observation, OUTCOMES } from "./types.ts"

export { LineProblem }

export type Parsed = { kind: "observation"; observation: Observation } | { kind: "attempt"; attempt: Attempt }

/**
 * Reads one line of an import file: a JSON object, either a reading of search results (kinds/search.ts), or a read that failed, which is logged and leaves its day unmeasured
 *
 *     {"kind":"attempt","source":"import","platform":"ios","storefront":"us","term":"photo editor",
 *      "at":"2025-10-25T03:25:01Z","outcome":"blocked","detail":"status 403"}
 *
 * or what a store said of apps in a storefront, of those that it was asked for and of others (kinds/apps.ts),
 *
 * or what an app's own page said
 *
 *     {"kind":"listing","source":"apple-app-page","platform":"ios","storefront":"us","id":"897446215",
 *      "seenAt":"2025-10-25T03:25:01Z","listing":{"name":"Canva","language":"en-US","subtitle":"Design, photo & video",
 *      "version":"4.1","hasInAppPurchases":true,"events":[{"id":"6000001","title":"Spring",
 *      "startsAt":"2025-10-20T08:00:00Z"}]}}
 *
 * All but an app-ads.txt say `storefront` (two letters) and, but for a popularity, `source`, `platform` (ios or android)
 * and `seenAt` (ISO 8601 with its zone). Terms and a `prefix` have 1 to 150 characters and are normalised here. Sources
 * of search are apple-web-search, apple-store-search, play-search, import and foreign; of apps itunes-lookup,
 * itunes-search and play-details; of listings these but itunes-search, and apple-app-page; of hints apple-hints and
 * play-suggest; of reviews apple-reviews and play-reviews. An app has its store `id` and, where shown, `name`, `icon`,
 * `developer`, `bundleId`, `ratings` (a count) and `rating` (0 to 5); of kind apps also `version`, `price`, `currency`
 * (ISO 4217), `genre` and `developerId` (the store's ids), `genres` (all of it, `genre` first, at most 20),
 * `developerSite`, `releasedAt`, `updatedAt`, `market` (`installs`, `hasInAppPurchases`, `inAppLeast`, `inAppMost`, `inAppCurrency`) and, of a look-up, `listing`: parts of
 * the app's page, by which its changes are told. What a part means is said with Listing (types-listing.ts).
 *
 * A chart says the `device` (iphone or ipad), the `chart` (free, paid or grossing) and the `genre` (the store's id; 36
 * for the overall chart); its sources are apple-charts and import, its apps may say `developerId`, `price`, `currency`
 * and `genre`, and `depth` (here 0 to 1000) and `complete` are as in a search.
 *
 * `results`, `apps` of a chart and `terms` are in the order shown; of terms that are one when normalised the first
 * stands. A search may say `depth` (places read, 1 to 250; without it as many as there are results, so an empty reading
 * must give it) and `complete` (false when it broke off; such a reading answers no day). Of apps that a look-up was
 * `asked` for, those not among `apps` are not available in that storefront. A `popularity` and that in a genre, whose
 * list has the term at `rank`, are whole numbers from 1 to 100; without `genres` none is known, without `seenAt` it was
 * seen when its month ended, the first moment it could be. Reviews on Google Play say their `language` (en, pt-BR); each
 * has the store's `id`, `stars` from 1 to 5, its `text` and when it was written or last edited (`at`), and no name of a
 * person. `complete` says whether the reading left nothing out between the newest and those read before, and `pages` (1)
 * how many it read: without `complete` nothing is known of the reading, so that an empty one must be. A complete reading
 * shows, below what is new, at least one review that was held before, and does not stop above it: one that holds only what
 * is new is not complete. One that says so all the same and shows none of those held is not believed, and the days
 * between are not covered. All may say
 * `parser` (version, default 1), `origin` (who brought it, default "own"), `egress` (country it was read from) and
 * `sha256` (of the raw body, 64 hex digits; without it, that of the trimmed line). An attempt, which says none of these,
 * has a search's source and an `outcome`: blocked, rate_limited, not_found, changed, mismatched or
 * failed.
 *
 * A text that says nothing where none is needed is taken for none. Other fields are refused, and a key that stands twice;
 * what no store can say is refused when it is recorded (app-facts.ts). Throws LineProblem.
 */
export function parseLine(text: string, kinds: readonly AnyKind[] = KINDS): Parsed {
  if (text.length > LONGEST) throw new LineProblem("the line has more than 1,000,000 characters")
  const value = jsonOf(text)
  const name = kindIn(value)
  const kind = name === "attempt" ? null : kindNamed(name, kinds)
  if (kind === undefined) throw new LineProblem(`kind: must be one of ${namesOf(kinds).join(", ")}`)
  const line = checkedLine(kind?.lineShape ?? ATTEMPT, value)
  // every key is one of ours by now, so that it can be named
  const doubled = doubledKey(text)
  if (doubled !== null) throw new LineProblem(`${doubled}: stands twice in its object`)
  if (kind === null) return { kind: "attempt", attempt: attemptOf(line as AttemptLine) }
  return { kind: "observation", observation: kind.readLine(line as never, text) as Observation }
}

const LONGEST = 1_000_000

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new LineProblem("the line is not JSON")
  }
}

function kindIn(value: unknown): unknown {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  if (!isObject) throw new LineProblem("the line is not a JSON object")
  return (value as { kind?: unknown }).kind
}

function namesOf(kinds: readonly AnyKind[]): string[] {
  const [first, ...others] = kinds.map(({ name }) => name)
  return [first as string, "attempt", ...others]
}

function checkedLine(shape: v.GenericSchema, value: unknown): unknown {
  const result = v.safeParse(shape, value, { abortEarly: true })
  if (!result.success) throw new LineProblem(reasonOf(result.issues[0]))
  return result.output
}

function reasonOf(issue: v.BaseIssue<unknown>): string {
  const { path = [] } = issue
  const named = path.map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("")
  const field = named.replace(/^\./, "")
  if (issue.type !== "strict_object") return `${field}: ${issue.message}`
  if (issue.expected === "never")
    return `${field.replace(/\.?[^.]*$/, "") || "the line"}: holds a field that is not known`
  return issue.received === "undefined" ? `${field}: is missing` : `${field}: must be an object`
}

const ATTEMPT = v.strictObject({
  kind: v.literal("attempt"),
  source: RankSource,
  platform: PlatformName,
  storefront: Country,
  term: Text,
  at: Moment,
  outcome: v.picklist(OUTCOMES, `must be one of ${OUTCOMES.join(", ")}`),
  detail: Fact,
})

type AttemptLine = v.InferOutput<typeof ATTEMPT>

function attemptOf({ term, storefront, detail, ...rest }: AttemptLine): Attempt {
  return {
    ...rest,
    kind: "search",
    storefront: storefront.toLowerCase(),
    subject: normaliseTerm(term),
    ...(detail !== undefined && { detail }),
  }
}
