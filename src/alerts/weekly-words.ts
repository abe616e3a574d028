import type { WeeklyFacts, WeekMove } from "./alert.ts"

/** A week in one line, without its full stop. */
export function weekLine({ from, to, keywords, best, worst }: WeeklyFacts): string {
  const biggest = [best[0], worst[0]].filter((move) => move !== undefined).map(moved)
  return [`the week ${from} to ${to}: ${ranked(keywords)}`, ...biggest].join("; ")
}

/** A week for people to read, in lines. */
export function weekText({ from, to, keywords, best, worst, ratings, reviews, changes, alerts }: WeeklyFacts): string {
  const told = Object.entries(alerts).map(([type, count]) => `${count} ${type}`)
  const lines = [
    `The week ${from} to ${to}`,
    `Keywords: ${ranked(keywords)}`,
    ...best.map((move) => `  + ${moved(move)}`),
    ...worst.map((move) => `  - ${moved(move)}`),
    ...ratings.map((row) => `Ratings ${whereOf(row)}: ${ratedAs(row)}`),
    ...reviews.map(({ platform, feed, count, low }) => {
      return `Reviews ${whereOf({ platform, country: feed })}: ${count} written, ${low} of them with 1 or 2 stars`
    }),
    `Changes of the store pages: ${changes === MOST_CHANGES ? `${changes} or more` : changes}`,
    ...(told.length > 0 ? [`Alerts: ${told.join(", ")}`] : []),
  ]
  return lines.join("\n")
}

/** Changes are counted up to that. */
export const MOST_CHANGES = 50

function ranked({ tracked, measured, up, down, entered, dropped, same }: WeeklyFacts["keywords"]): string {
  const moves = `${up} rose, ${down} fell, ${entered} entered, ${dropped} dropped out, ${same} stayed`
  return `${measured} of ${tracked} keywords measured, of which ${moves}`
}

function moved(move: WeekMove): string {
  const place = (rank: number | null) => (rank === null ? "absent" : String(rank))
  return `'${move.term}' from ${place(move.was)} to ${place(move.rank)} ${whereOf(move)}`
}

function ratedAs({ ratings, rating, gained }: WeeklyFacts["ratings"][number]): string {
  const parts = [
    ratings === null ? null : `${ratings} in all`,
    gained === null ? null : `${gained < 0 ? "" : "+"}${gained} that week`,
    rating === null ? null : `${rating} stars`,
  ]
  return parts.filter((part) => part !== null).join(", ")
}

function whereOf({ platform, country }: Pick<WeekMove, "platform" | "country">): string {
  return `in ${country} on ${platform === "ios" ? "iOS" : "Android"}`
}
