import { hash } from "node:crypto"
import type { Listing, ListingObservation } from "../../../src/stores/kinds/listing-shape.ts"

/** A page with every part. */
export const PAGE: Listing = {
  name: "Tea Timer",
  language: "en-US",
  subtitle: "Steep it right",
  promotionalText: "Now with oolong.",
  description: "A timer.\n\nFor tea.",
  bundleId: "com.example.tea",
  developer: "Leaves",
  developerId: "1600000900",
  icon: "https://is1-ssl.mzstatic.com/image/a/AppIcon.png/512x512bb.jpg",
  screenshots: {
    phone: [
      "https://is1-ssl.mzstatic.com/p1.png/1290x2796bb.jpg",
      "https://is1-ssl.mzstatic.com/p2.png/1290x2796bb.jpg",
    ],
    pad: ["https://is1-ssl.mzstatic.com/t1.png/2048x2732bb.jpg"],
  },
  languages: ["English", "French"],
  price: 2.99,
  currency: "USD",
  version: "4.1",
  versions: [
    { version: "4.1", releasedAt: new Date("2026-05-01T00:00:00Z"), notes: "Faster." },
    { version: "4.0", releasedAt: new Date("2026-03-01T00:00:00Z"), notes: "New." },
  ],
  rating: 4.6,
  ratings: 5_000,
  ratingsByStar: [4_000, 500, 200, 100, 200],
  similar: [
    { id: "1600000201", name: "Coffee Timer" },
    { id: "1600000202", name: "Mate Timer" },
  ],
  moreByDeveloper: [{ id: "1600000301", name: "Cup" }],
  events: [
    {
      id: "6000001",
      title: "Harvest",
      kind: "Special Event",
      startsAt: new Date("2026-05-20T00:00:00Z"),
      endsAt: new Date("2026-07-01T00:00:00Z"),
    },
  ],
  editorial: [{ id: "1400000001", kind: "story", title: "Slow mornings" }],
}

/** Returns a reading of an app's page in the US. The hash covers its content, unless `rest` has one. */
export function listed(
  seenAt: string | Date,
  listing: Partial<Listing> = {},
  rest: Partial<ListingObservation> = {},
): ListingObservation {
  const content = {
    kind: "listing" as const,
    source: "apple-app-page" as const,
    platform: "ios" as const,
    storefront: "us",
    id: "1600000101",
    parser: 1,
    origin: "own",
    ...rest,
    listing: withoutEmpty({ ...PAGE, ...listing }),
  }
  const sha256 = rest.sha256 ?? hash("sha256", JSON.stringify([seenAt, content]), "buffer")
  return { ...content, seenAt: new Date(seenAt), sha256 }
}

/** Returns the object without undefined parts. */
function withoutEmpty(listing: Listing): Listing {
  return Object.fromEntries(Object.entries(listing).filter(([, part]) => part !== undefined)) as unknown as Listing
}

/** Returns a generator of pseudo-random numbers in [0, 1) for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const order = [...all]
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j] as T, order[i] as T]
  }
  return order
}
