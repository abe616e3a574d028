import type { Tx } from "../database/types.ts"
import { changesOf } from "../observations/changes.ts"
import type { FeaturedFacts, Finding, Looked } from "./alert.ts"

const MOST = 100

/** featured: an editors' card that the app's page shows and did not before. */
export async function listingFindings(tx: Tx, { place, from, to }: Looked): Promise<Finding[]> {
  const { own, storefront, since } = place
  const changes = await changesOf(tx, {
    apps: [own],
    storefront,
    from: since !== null && since > from ? since : from,
    to,
    kinds: ["featured"],
    limit: MOST,
  })
  return changes.map(({ subject, after, at, day, source, beforeSeenAt }) => {
    const { kind, id, title = null } = after as { kind: FeaturedFacts["card"]; id: string; title?: string }
    const facts = { card: kind, id, title, source, beforeSeenAt: beforeSeenAt.toISOString() }
    return { type: "featured" as const, subject, day, at, facts }
  })
}
