import * as v from "valibot"
import type { ObservationOf } from "../../core/kind.ts"
import { checkBuild } from "../../core/observation/app-facts.ts"
import { checkIds, checkTerm, hold } from "../../core/observation/invariants.ts"
import { LookedUpApp, list, Text } from "../../core/observation/line-parts.ts"
import { ruleBy } from "../../core/observation/shape.ts"
import { normaliseTerm } from "../../lib/term.ts"
import type { FactSource } from "../../lib/upstreams.ts"
import { checkApp, checkGenre } from "../../measuring/record/check-app.ts"
import { checkParts } from "./listing-shape.ts"

/** Sources of app facts. */
export const SOURCES = ["itunes-lookup", "itunes-search", "play-details"] as const
type Source = (typeof SOURCES)[number]

/** Sources that answer for ids: a requested id that is missing in the response is not available in that storefront. */
export const LOOKUP_SOURCES: readonly FactSource[] = ["itunes-lookup", "play-details"]

export function isLookUp({ source }: { source: string }): boolean {
  return (LOOKUP_SOURCES as readonly string[]).includes(source)
}

export const App = v.pipe(
  LookedUpApp,
  ruleBy((app, { source, platform, seenAt }) => {
    checkApp(app, seenAt)
    checkBuild(app, seenAt)
    checkGenre(platform, app)
    if (app.listing === undefined) return
    hold(isLookUp({ source }), "bad_source", "only a look-up can have listings")
    hold(typeof app.name === "string" && /\S/.test(app.name), "bad_text", "a listing must have a name")
    checkParts({ platform, seenAt }, app.listing)
  }),
)
export type App = v.InferOutput<typeof App>

export const shape = v.strictObject({
  /** Requested store ids. In a look-up, an id that is missing in `apps` is not available there. */
  asked: v.pipe(
    list(Text),
    ruleBy((ids, { platform }) => checkIds(platform, ids, "requested apps")),
  ),
  /** The search text of a catalogue search. Look-ups have none. */
  text: v.optional(
    v.pipe(
      Text,
      v.transform(normaliseTerm),
      ruleBy((text, { source }) => {
        hold(!isLookUp({ source }), "bad_source", "a look-up requests ids, not a text")
        checkTerm(text)
      }),
    ),
  ),
  apps: v.pipe(
    list(App),
    ruleBy((apps, { platform }) => checkIds(platform, idsIn({ apps }), "apps")),
  ),
})

export function idsIn({ apps }: { apps: readonly { id: string }[] }): string[] {
  return apps.map(({ id }) => id)
}

export type AppsObservation = ObservationOf<"apps", Source, typeof shape>

/** A search for apps by a text. The order of the apps is that of no chart or ranking. */
export interface CatalogueQuestion {
  storefront: string
  term: string
}

export interface AppsQuestion {
  storefront: string
  /** Store ids. */
  ids: readonly string[]
}
