import type { Observation } from "../../kinds.ts"
import type { Listing } from "../../stores/kinds/listing-shape.ts"
import { inventedOn, ratingsOn } from "./day.ts"
import { INVENTED_APP, INVENTED_RIVALS, numberOf } from "./world.ts"

/**
 * A page is read every 2 days. Its version changes every 8 days and its subtitle every 42, so that the weekly plan
 * considers the page stable.
 */
const READ_DAYS = 2
const SAME_DAYS = 8
const SUBTITLE_DAYS = 42

export function pagesOn(day: string): Observation[] {
  const number = numberOf(day)
  if (number % READ_DAYS !== 0) return []
  const edition = Math.floor(number / SAME_DAYS)
  const rivalEdition = Math.floor((number + SAME_DAYS / 2) / SAME_DAYS)
  const [rival] = INVENTED_RIVALS as [(typeof INVENTED_RIVALS)[number]]
  return [
    pageOn(day, INVENTED_APP.id, ownPage(edition, day)),
    pageOn(day, rival.id, {
      name: rival.name,
      language: "en-US",
      version: versionOf(rivalEdition),
      price: 0,
      currency: "USD",
    }),
  ]
}

function pageOn(day: string, id: string, listing: Listing): Observation {
  return { kind: "listing", source: "apple-app-page", ...inventedOn(day, `page ${id}`), id, listing }
}

const versionOf = (edition: number) => `4.${edition % 50}`

const SUBTITLES = ["Gratitude and mood, daily", "A calm mood diary"]
const NEWS = ["A search over all entries, and a widget.", "Entries can be locked. Faster start."]

function ownPage(edition: number, day: string): Listing {
  const half = edition % 2
  const { ratings, rating } = ratingsOn(day)
  return {
    name: INVENTED_APP.name,
    language: "en-US",
    price: 0,
    currency: "USD",
    rating,
    ratings,
    subtitle: SUBTITLES[Math.floor((numberOf(day) + 34) / SUBTITLE_DAYS) % 2]!,
    promotionalText: "Invented by the demo: no store has this page.",
    description:
      "Lumen Journal is a diary for the evening: three lines of gratitude, a mood and a picture.\n\n" +
      `It is invented by the demo, and shows what a page's readings tell. ${NEWS[half]}`,
    screenshots: { phone: pictures(half === 0 ? 5 : 6) },
    category: "Health & Fitness",
    ageRating: "4+",
    minimumOs: "17.0",
    size: "48.2 MB",
    languages: ["English", "German", "Spanish"],
    version: versionOf(edition),
    versions: [{ version: versionOf(edition), notes: NEWS[half]! }],
    ratingsByStar: starsOf(ratings),
    inAppPurchases: [{ name: "Invented Pro, monthly", price: "$4.99" }],
    events: [
      {
        id: `${INVENTED_APP.id}1`,
        title: "Thirty days of thanks (invented)",
        kind: "Challenge",
        text: "One line a day.",
      },
    ],
  }
}

/** Returns addresses in a domain that does not exist. Pages only count these pictures and load none. */
function pictures(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `https://demo.invalid/${INVENTED_APP.id}/${place + 1}.png`)
}

function starsOf(ratings: number): [number, number, number, number, number] {
  const [four, three, two, one] = [0.14, 0.05, 0.02, 0.03].map((share) => Math.round(ratings * share)) as [
    number,
    number,
    number,
    number,
  ]
  return [ratings - four - three - two - one, four, three, two, one]
}
