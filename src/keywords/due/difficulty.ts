import { dueKind, type ReadPort, type Subject } from "../../measuring/due-kind.ts"
import { putForwardTerms } from "../../measuring/put-forward.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { apps } from "../../stores/kinds/apps.ts"
import { withoutPages } from "../../stores/kinds/pages-in-look-ups.ts"
import { latestTen } from "../store/keyword-inputs.ts"
import { latestDifficulty } from "../store/keyword-metrics.ts"
import { deriveMetrics } from "./metrics.ts"

// One look-up request takes 50 apps: the first ten of five terms.
const DIFFICULTY_TOGETHER = 5

export const difficultyOnAppStore = dueKind({
  name: "difficulty",
  observes: apps,
  latest: latestDifficulty,
  mayFindNothing: true,
  platform: "ios",
  upstream: itunesLookup.upstream,
  together: DIFFICULTY_TOGETHER,
  requests: 1,
  everyDays: 7,
  async read(subjects, port) {
    const ids = await readFirstIds(port, subjects)
    if (ids.length === 0) return []
    // Only the figures are needed. The store pages of untracked apps would fill the database.
    return [withoutPages(await port.ask(itunesLookup, { storefront: subjects[0].storefront, ids }))]
  },
  derive: deriveMetrics,
  putsForward: putForwardTerms,
})

/** Returns the store ids of the ten apps that each term's difficulty is calculated from, without duplicates. */
async function readFirstIds({ sql, now }: ReadPort, subjects: readonly Subject[]): Promise<string[]> {
  const [{ platform, storefront }] = subjects as [Subject]
  const rows = await sql<{ id: string }[]>`
    select distinct a.store_id as id
    from list l
    cross join lateral (${latestTen(sql, now())}) r
    join store_app a on a.id = any(r.app_ids)
    where l.platform = ${platform} and l.storefront = ${storefront}
      and l.term = any(${subjects.map(({ subject }) => subject)}::text[])
    order by a.store_id
    limit ${DIFFICULTY_TOGETHER * 10}`
  return rows.map(({ id }) => id)
}
