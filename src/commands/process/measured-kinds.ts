import { kindsOf } from "../../due-kinds.ts"
import { UPSTREAMS, type Upstream } from "../../lib/upstreams.ts"
import type { Kind } from "../../measuring/due-kind.ts"
import type { HealthParts } from "../../measuring/health.ts"
import { BASE_GAPS_MS } from "../../measuring/pace.ts"
import type { CanarySource } from "../../measuring/source-alarms.ts"
import type { MeasuringSettings } from "../../settings/settings.ts"
import { SOURCES } from "../../sources.ts"

/**
 * Returns what a process with these settings reads, from which address and how fast, for health, budgets and canaries.
 */
export function measuredBy(settings: MeasuringSettings): HealthParts & { kinds: readonly Kind[] } {
  const { egress, egressCountry, gapsMs, sourcesOff } = settings
  const byUpstream = [...Object.values(SOURCES).flat(), SITES].sort(
    (a, b) => UPSTREAMS.indexOf(a.upstream) - UPSTREAMS.indexOf(b.upstream),
  )
  const sources = byUpstream.map(({ name, upstream }): CanarySource => {
    const isReadable = upstream !== "play.google.com" || egressCountry !== undefined || name === "play-reviews"
    return { name, upstream, on: isReadable && !sourcesOff.includes(name) }
  })
  const gaps = new Map([...BASE_GAPS_MS, ...(gapsMs as ReadonlyMap<Upstream, number>)])
  return { sources, kinds: kindsOf({ egressCountry, sourcesOff }), egress, egressCountry, gapsMs: gaps }
}

/** The source of developers' sites. The address of a site is in the store listing. */
const SITES = { name: "app-ads-txt", upstream: "developer-sites" } as const
