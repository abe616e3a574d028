import * as v from "valibot"
import { shortStorefront } from "../../lib/storefront-names.ts"
import { readChanges } from "../../listings/read/changes.ts"
import { alertType } from "../alert-type.ts"
import { quoted } from "../wording.ts"

const MAX_CHANGES = 1_000

const card = v.picklist(["story", "collection"])

/** An editorial card that the app's page shows and did not show before. */
export const featured = alertType({
  name: "featured",
  options: [],
  appStoreOnly: true,
  facts: v.strictObject({
    card,
    id: v.string(),
    title: v.nullable(v.string()),
    source: v.string(),
    /** Time of the last reading without the card, ISO 8601. */
    beforeSeenAt: v.string(),
  }),
  example: {
    card: "story",
    id: "1712345678",
    title: "Slow mornings",
    source: "apple-app-page",
    beforeSeenAt: "2025-11-19T10:00:00.000Z",
  },
  async find(tx, { place, from, to }) {
    const span = { storefront: place.storefront, from, to }
    const changes = await readChanges(tx, {
      apps: [place.storeAppId],
      ...span,
      kinds: ["featured"],
      limit: MAX_CHANGES,
    })
    return changes.map(({ subject, after, at, day, source, beforeSeenAt }) => {
      const { kind, id, title = null } = after as { kind: v.InferOutput<typeof card>; id: string; title?: string }
      const facts = { card: kind, id, title, source, beforeSeenAt: beforeSeenAt.toISOString() }
      return { type: "featured", subject, day, at, facts }
    })
  },
  sentence({ card, title }, { storefront, earlier }) {
    const store = `The ${shortStorefront(storefront as string)} App Store`
    const named = title === null ? "" : `: ${quoted(title)}`
    return `${store} features you in a ${card}${named}${earlier === null ? "" : ` (not on ${earlier})`}`
  },
  fields: ({ title, source }) => ({ after: title, source }),
})
