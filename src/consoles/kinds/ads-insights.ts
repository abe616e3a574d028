import * as v from "valibot"
import { kind, type ObservationOf } from "../../core/kind.ts"
import { Moment, Text } from "../../core/observation/line-parts.ts"
import { rule } from "../../core/observation/shape.ts"
import { readAds, storeAds } from "../store/ads.ts"
import { ADS_FACTS } from "../store/derived/ads.ts"
import { replaceFacts } from "../store/derived/facts.ts"
import { AdsId, adsShape } from "./ads-shape.ts"
import { Amount, CountryCode, Name, Word } from "./reports-shape.ts"

export const ChangeRow = v.strictObject({
  /** The platform's id of changes that were made together in one entity. */
  change: Name,
  /** ISO 8601. */
  at: v.pipe(
    Text,
    rule("bad_time", "a change's time must be ISO 8601", (at) => v.is(Moment, at)),
  ),
  /**
   * The author of the change: a person on the platform's website, a program, Apple, or an unknown type of user. The
   * identity is not stored.
   */
  by: v.picklist(["dashboard", "api", "apple", "other"], "must be dashboard, api, apple or other"),
  event: v.picklist(["CREATE", "UPDATE", "DELETE", "OTHER"], "must be CREATE, UPDATE, DELETE or OTHER"),
  entity: Name,
  entityId: Name,
  campaign: v.optional(AdsId),
  /** The entity's name or text. */
  name: v.optional(Name),
  field: Name,
  from: Word,
  to: Word,
})
export type ChangeRow = v.InferOutput<typeof ChangeRow>

const changesShape = adsShape(ChangeRow)
export type AdsChangesObservation = Omit<
  ObservationOf<"ads_changes", "apple-ads-changes", typeof changesShape>,
  "storefront"
>

const HEAD = { platform: "ios", seenAt: "2025-10-25T03:25:01Z", account: "ac_0123456789abcdef01" }

/** The changes in an ad account on a UTC day, field by field. */
export const adsChanges = kind<AdsChangesObservation>({
  name: "ads_changes",
  sources: ["apple-ads-changes"],
  private: true,
  demo: true,
  everywhere: true,
  shape: changesShape,
  facts: ADS_FACTS.ads_changes,
  store: async (tx, seen, _, staged) => ({ placed: await storeAds(tx, "ads_changes", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "ads_changes", ADS_FACTS.ads_changes, placed, staged),
  stored: (sql, range) => readAds<AdsChangesObservation>(sql, "ads_changes", range),
  example: {
    source: "apple-ads-changes",
    ...HEAD,
    day: "2025-10-24",
    rows: [
      {
        change: "Keyword.81.0eee6ae3",
        at: "2025-10-24T10:00:00.000Z",
        by: "dashboard",
        event: "UPDATE",
        entity: "Keyword",
        entityId: "81",
        campaign: "444555666",
        name: "tea timer",
        field: "bid",
        from: "1.20",
        to: "1.40",
      },
    ],
  },
})

const Rank = v.pipe(
  Amount,
  rule("bad_figure", "a rank must be a whole number from 1", (rank) => rank >= 1),
)
const scale = (most: number) =>
  v.pipe(
    Amount,
    rule("bad_figure", `a popularity must be a whole number from 1 to ${most}`, (n) => n >= 1 && n <= most),
  )

export const PopularityRow = v.strictObject({
  term: Name,
  /** The platform's name of the genre, one of fifteen that differ from the store's genres. */
  genre: Name,
  rank: Rank,
  inGenre: scale(100),
  overall100: scale(100),
  overall5: scale(5),
})
export type AdsPopularityRow = v.InferOutput<typeof PopularityRow>

const popularityShape = v.strictObject({ ...adsShape(PopularityRow).entries, country: CountryCode })
export type AdsPopularityObservation = Omit<
  ObservationOf<"ads_popularity", "apple-ads-popularity", typeof popularityShape>,
  "storefront"
>

/**
 * The most searched terms in a country in the week that begins on `day`, a Sunday. A term that is not listed is less
 * popular than the listed ones.
 */
export const adsPopularity = kind<AdsPopularityObservation>({
  name: "ads_popularity",
  sources: ["apple-ads-popularity"],
  private: true,
  demo: true,
  everywhere: true,
  shape: popularityShape,
  facts: ADS_FACTS.ads_popularity,
  store: async (tx, seen, _, staged) => ({ placed: await storeAds(tx, "ads_popularity", seen, staged) }),
  derive: (tx, { placed }, _, staged) => replaceFacts(tx, "ads_popularity", ADS_FACTS.ads_popularity, placed, staged),
  stored: (sql, range) => readAds<AdsPopularityObservation>(sql, "ads_popularity", range),
  example: {
    source: "apple-ads-popularity",
    ...HEAD,
    country: "de",
    day: "2025-10-12",
    rows: [{ term: "tea timer", genre: "FOOD_DRINK", rank: 42, inGenre: 78, overall100: 65, overall5: 4 }],
  },
})
