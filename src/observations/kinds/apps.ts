import * as v from "valibot"
import { checkApps } from "../check-apps.ts"
import { checkIds } from "../invariants.ts"
import { kind } from "../kind.ts"
import { appsOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { pagesIn } from "../looked-up.ts"
import { deriveJumps } from "../rating-jumps.ts"
import { storeApps } from "../record-apps.ts"
import { APPS_SOURCES, type AppsObservation, LOOKUP_SOURCES } from "../types.ts"

export interface AppsQuestion {
  storefront: string
  /** Store ids. */
  ids: readonly string[]
}

export const apps = kind<AppsObservation, AppsQuestion>({
  name: "apps",
  sources: APPS_SOURCES,
  private: false,
  figures: true,
  shape: v.strictObject({}),
  lineShape: SHAPES.apps,
  readLine: appsOf as never,
  check: checkApps,
  question: {
    // a catalogue is asked a term
    about: ({ ids }: Partial<AppsQuestion>) => ids?.join() ?? null,
    checkSubject: (subject, platform) => checkIds(platform, subject.split(","), "apps that were asked for"),
  },
  names: ({ source, asked, apps }) => {
    const shown = apps.map(({ id }) => id)
    return { apps: [...asked, ...shown], ...(isLookUp({ source }) && { series: shown }) }
  },
  parts: (seen) => [...pagesIn([seen]).keys()],
  market: ({ apps }) => apps.flatMap(({ id, market }) => (market ? [{ id, facts: market }] : [])),
  weight: ({ asked, apps }) => Math.max(asked.length, apps.length),
  async store(tx, readings, known) {
    const shown = await storeApps(tx, readings, known)
    return { placed: shown.filter(({ placed }) => placed).map(({ from }) => from), shown }
  },
  derive: (tx, { rated }, known) => deriveJumps(tx, rated.filter(isLookUp), known),
  latest: (sql, { platform, storefront, subject }, since) => sql`
    select max(s.seen_at) as "seenAt"
    from store_app a
    join app_storefront s on s.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${subject}) and s.storefront = ${storefront}
      and s.source = any(${[...LOOKUP_SOURCES]}::text[]) and s.seen_at >= ${since}`,
  example: {},
})

function isLookUp({ source }: Pick<AppsObservation, "source">): boolean {
  return LOOKUP_SOURCES.includes(source)
}
