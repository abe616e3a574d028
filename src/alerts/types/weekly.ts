import { inStore } from "../../lib/storefront-names.ts"
import { alertType } from "../alert-type.ts"
import { MAX_CHANGES, Week, type WeekMove } from "../week.ts"
import { quoted } from "../wording.ts"

/** The summary of a week that is over (see weekly.ts). */
export const weekly = alertType({
  name: "weekly",
  options: [],
  facts: Week,
  example: {
    from: "2025-11-10",
    to: "2025-11-16",
    keywords: { tracked: 6, measured: 5, up: 1, down: 0, entered: 0, dropped: 0, same: 4 },
    best: [{ platform: "ios", country: "us", term: "tea", was: 9, rank: 3, against: "2025-11-05", day: "2025-11-14" }],
    worst: [],
    ratings: [{ platform: "ios", country: "us", ratings: 1_204, rating: 4.6, gained: 12 }],
    reviews: [{ platform: "ios", feed: "us", count: 8, low: 2 }],
    changes: 1,
    alerts: { rank_rise: 1 },
  },
  sentence: weekLine,
  text: weekText,
  fields: (week) => ({ week }),
})

/** Returns the summary in one line, without a full stop. */
function weekLine({ from, to, keywords, best, worst }: Week): string {
  const biggest = [best[0], worst[0]].filter((move) => move !== undefined).map(moved)
  return [`Week ${from} to ${to}: ${ranked(keywords)}`, ...biggest].join("; ")
}

function weekText({ from, to, keywords, best, worst, ratings, reviews, changes, alerts }: Week): string {
  const counts = Object.entries(alerts).map(([type, count]) => `${type.replaceAll("_", " ")} ${count}`)
  const lines = [
    `Week ${from} to ${to}`,
    `Keywords: ${ranked(keywords)}`,
    ...best.map((move) => `  + ${moved(move)}`),
    ...worst.map((move) => `  - ${moved(move)}`),
    ...ratings.map((row) => `Ratings ${placeOf(row)}: ${ratedAs(row)}`),
    ...reviews.map(({ platform, feed, count, low }) => {
      const where = platform === "ios" ? placeOf({ platform, country: feed }) : `in the language ${feed} on Google Play`
      return `Reviews ${where}: ${count}, ${low} of them with 1 or 2 stars`
    }),
    `Store page changes: ${changes === MAX_CHANGES ? `${changes} or more` : changes}`,
    ...(counts.length > 0 ? [`Alerts: ${counts.join(", ")}`] : []),
  ]
  return lines.join("\n")
}

function ranked({ tracked, measured, up, down, entered, dropped, same }: Week["keywords"]): string {
  const moves = `${up} rose, ${down} fell, ${entered} entered, ${dropped} dropped out, ${same} stayed`
  return `${measured} of ${tracked} keywords measured, ${moves}`
}

function moved(move: WeekMove): string {
  const place = (rank: number | null) => (rank === null ? "absent" : String(rank))
  return `${quoted(move.term)} from ${place(move.was)} to ${place(move.rank)} ${placeOf(move)}`
}

function ratedAs({ ratings, rating, gained }: Week["ratings"][number]): string {
  const parts = [
    ratings === null ? null : `${ratings} in all`,
    gained === null ? null : `${gained < 0 ? "" : "+"}${gained} that week`,
    rating === null ? null : `${rating} stars`,
  ]
  return parts.filter((part) => part !== null).join(", ")
}

const placeOf = ({ platform, country }: Pick<WeekMove, "platform" | "country">) =>
  inStore({ platform, storefront: country })
