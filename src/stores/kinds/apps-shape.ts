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

/** Where what a store says of apps can come from. */
export const SOURCES = ["itunes-lookup", "itunes-search", "play-details"] as const
type Source = (typeof SOURCES)[number]

/** Those that answer for ids: one that was asked for and is not answered is not to be had in that storefront. */
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
    hold(isLookUp({ source }), "bad_source", "only a look-up says what stands on an app's page")
    hold(typeof app.name === "string" && /\S/.test(app.name), "bad_text", "a listing must have a name")
    checkParts({ platform, seenAt }, app.listing)
  }),
)
export type App = v.InferOutput<typeof App>

export const shape = v.strictObject({
  /** Store ids that were asked for; one that is not among `apps` is not to be had there, if a look-up says so. */
  asked: v.pipe(
    list(Text),
    ruleBy((ids, { platform }) => checkIds(platform, ids, "apps that were asked for")),
  ),
  /** What a catalogue was asked for, which lists what it found: of a look-up there is none. */
  text: v.optional(
    v.pipe(
      Text,
      v.transform(normaliseTerm),
      ruleBy((text, { source }) => {
        hold(!isLookUp({ source }), "bad_source", "a look-up is asked for ids, not for a text")
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

export interface AppsQuestion {
  storefront: string
  /** Store ids. */
  ids: readonly string[]
}
