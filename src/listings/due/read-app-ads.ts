import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { Platform } from "../../core/observation/provenance.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { OutboundAnswer, SafeFetch } from "../../outbound/safe-fetch.ts"
import type { AppAdsObservation, AppAdsState } from "../kinds/app-ads.ts"
import { APP_ADS_PARSER, type AppAdsFile, parseAppAds } from "../sources/app-ads.ts"
import { appAdsHosts, rootDomain, siteHost } from "../sources/app-ads-hosts.ts"

interface AppAdsQuery {
  platform: Platform
  id: string
  /** URL of the site in the app's listing. Null if the listing has none. */
  developerSite: string | null
}

/**
 * Reads app-ads.txt according to app-ads.txt 1.0: https first, and the root domain only if a subdomain has no file.
 * 404, 410 and a 200 without records are `no_file`, everything else is `unreachable`. At most four requests. Throws
 * OutboundProblem only when the caller aborts.
 */
export async function readAppAds(
  fetch: SafeFetch,
  { platform, id, developerSite }: AppAdsQuery,
  { now, origin = "own", ...options }: ReadAppAdsOptions,
): Promise<AppAdsObservation> {
  const host = developerSite === null ? null : siteHost(developerSite)
  const found = host === null ? NO_SITE : await lookFor(fetch, host, options)
  const { domain, state, file = EMPTY, body = Buffer.alloc(0) } = found
  return {
    kind: "app_ads",
    source: "app-ads-txt",
    platform,
    id,
    domain,
    state,
    ...file,
    seenAt: now(),
    parser: APP_ADS_PARSER,
    origin,
    sha256: hash("sha256", body, "buffer"),
  }
}

interface ReadAppAdsOptions extends LookOptions {
  now: () => Date
  origin?: string
}

interface LookOptions {
  signal?: AbortSignal
  /**
   * parseAppAds, possibly in another thread. If omitted, the file is parsed in this thread. An error of the parser
   * fails the reading.
   */
  parse?: (bytes: Uint8Array) => Promise<AppAdsFile>
}

interface AppAdsLook {
  domain: string | null
  state: AppAdsState
  file?: AppAdsFile
  body?: Uint8Array
}

const NO_SITE: AppAdsLook = { domain: null, state: "no_site" }
const EMPTY: AppAdsFile = { records: [], variables: {} }

async function lookFor(fetch: SafeFetch, host: string, looking: LookOptions): Promise<AppAdsLook> {
  let last: AppAdsLook = { domain: host, state: "unreachable" }
  for (const domain of appAdsHosts(host)) {
    const found = await askHost(fetch, domain, looking)
    if (found?.state === "records" || found?.state === "unreachable") return found
    // If the host does not exist, it has no file.
    if (found) last = found
  }
  return last
}

/** Reads the file of a host. Null if the host does not exist. */
async function askHost(fetch: SafeFetch, domain: string, { signal, parse }: LookOptions): Promise<AppAdsLook | null> {
  const root = rootDomain(domain)
  const options = {
    headers: { accept: "text/plain, */*;q=0.1" },
    // Follows redirects within the root domain, and a single redirect to another domain, which must not redirect again.
    mayFollow: (_to: URL, trail: readonly URL[]) => rootDomain(trail.at(-1)?.hostname ?? "") === root,
    ...(signal && { signal }),
  }
  try {
    const answer = await preferringTls((scheme) => fetch(`${scheme}://${domain}/app-ads.txt`, options))
    return await foundIn(domain, answer, parse)
  } catch (error) {
    if (!(error instanceof OutboundProblem) || error.code === "stopped") throw error
    return error.code === "no_such_host" ? null : { domain, state: "unreachable" }
  }
}

async function preferringTls(ask: (scheme: "https" | "http") => Promise<OutboundAnswer>): Promise<OutboundAnswer> {
  try {
    return await ask("https")
  } catch (error) {
    const { code } = error as Partial<OutboundProblem>
    if (code !== "tls" && code !== "unreachable") throw error
    return await ask("http")
  }
}

async function foundIn(
  domain: string,
  { status, bytes }: OutboundAnswer,
  parse: LookOptions["parse"] = async (body) => parseAppAds(new TextDecoder().decode(body)),
): Promise<AppAdsLook> {
  if (status === 404 || status === 410) return { domain, state: "no_file", body: bytes }
  if (status !== 200) return { domain, state: "unreachable", body: bytes }
  const file = await parse(bytes)
  return { domain, state: file.records.length > 0 ? "records" : "no_file", file, body: bytes }
}
