import type { Platform } from "../../core/observation/provenance.ts"
import { dueKind, NotYet, type ReadPort, type Subject } from "../../measuring/due-kind.ts"
import { itunesLookup } from "../../stores/apple/itunes-lookup.ts"
import { playDetails } from "../../stores/play/details.ts"
import { appAds } from "../kinds/app-ads.ts"
import { appAdsText } from "../sources/app-ads.ts"
import { readAppAds } from "./read-app-ads.ts"

/** Reads app-ads.txt from the developer's site. If the app has no site, records that it has none. */
export function appAdsKind(platform: Platform) {
  return dueKind({
    name: "app_ads",
    observes: appAds,
    platform,
    upstream: "developer-sites",
    together: 1,
    // Typical number of requests: over TLS, at the root domain.
    requests: 1,
    everyDays: 14,
    async read([subject], port) {
      const developerSite = await readSite(subject, port)
      if (developerSite === undefined) throw new NotYet("no look-up has shown the developer's site yet", LOOK_AGAIN_MS)
      const { now, signal } = port
      const parse = (bytes: Uint8Array) => port.parseText(appAdsText, bytes)
      return [await readAppAds(port.askSite, { platform, id: subject.subject, developerSite }, { now, signal, parse })]
    },
  })
}

/**
 * Delay until the next attempt if no look-up has been read. Each attempt takes a turn of the upstream, and a look-up
 * makes the reading due anyway. Some Google Play apps are never looked up.
 */
const LOOK_AGAIN_MS = 24 * 3_600_000

/**
 * Returns the URL of the developer's site. Null if a look-up that this version of the parser read has no site.
 * Undefined if there was no such look-up yet.
 */
async function readSite({ platform, subject }: Subject, { sql }: ReadPort): Promise<string | null | undefined> {
  const lookUp = platform === "ios" ? itunesLookup : playDetails
  const [row] = await sql<{ site: string | null; isKnown: boolean }[]>`
    select a.developer_site as site, a.developer_site is not null or exists (
      select
      from app_storefront s
      where s.app_id = a.id and s.source = ${lookUp.name} and s.available and s.parser >= ${lookUp.parser}
    ) as "isKnown"
    from store_app a
    where a.platform = ${platform} and a.store_id = ${subject}`
  return row?.isKnown ? row.site : undefined
}
