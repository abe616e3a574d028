import type { Sql } from "../../src/database/types.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import type { Measure } from "../../src/lib/live-read.ts"
import { silentLog } from "../../src/lib/log.ts"
import { UPSTREAMS } from "../../src/lib/upstreams.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import { createMeasuring } from "../../src/measuring/worker.ts"
import type { SafeFetch } from "../../src/outbound/safe-fetch.ts"
import { recording } from "../../src/recording.ts"
import { SOURCES } from "../../src/sources.ts"
import { ask, page, type Site, site } from "../outbound/site.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { type ReplayServer, reachOf, replayServer } from "../stores/parsing/replay.ts"
import { slowness } from "../unit.ts"
import { trackOwn } from "./app.ts"

/** A service with local stand-ins of the stores and of developers' sites. */
export interface LiveStores extends AsyncDisposable {
  service: Service
  measure: Measure
  stores: ReplayServer
  /** The response of every site and its delay. Default: 404. */
  says: { site: string; holdMs: number }
  /** Hosts of requested sites, in order. */
  hostnames: string[]
}

/** The same service with a tracked app. */
export interface Live extends LiveStores {
  workspaceId: number
  key: string
  appId: string
  /** Repeats the call until it is no longer pending; `pending` has the earlier answers. */
  settled(path: string): Promise<Answer & { pending: Answer[] }>
}

/** Returns the same service with an app and these manual rivals in the US. Only requested subjects are due. */
export async function live(sql: Sql, manualRivals: string[]): Promise<Live> {
  let tracking: Pick<Live, "workspaceId" | "key" | "appId">
  const stores = await readingBefore(sql, async (service) => {
    const workspaceId = await service.workspace()
    const key = await service.key(workspaceId)
    const tracked = {
      workspaceId,
      iosId: "10001",
      androidPkg: "com.example.own",
      countries: ["us"],
      keywords: [],
      origin: "own",
    }
    tracking = { workspaceId, key, appId: await trackOwn(sql, { ...tracked, manualRivals }) }
    await sql`delete from due`
  })
  return {
    ...stores,
    ...tracking!,
    async settled(path) {
      const pending: Answer[] = []
      for (;;) {
        const answer = await stores.service.call(path, { key: tracking.key })
        if (answer.status !== 202 || pending.length > 20) return { ...answer, pending }
        pending.push(answer)
      }
    },
  }
}

/**
 * Returns the service without tracked apps. Tracking an app takes a third of the processor time of everything else
 * here.
 */
export const liveStores = (sql: Sql, options: ServiceParts = {}): Promise<LiveStores> =>
  readingBefore(sql, async () => {}, options)

type ServiceParts = Pick<Parameters<typeof openService>[0], "settingsPorts">

/** Starts reading after `fill` has created the data. */
async function readingBefore(
  sql: Sql,
  fill: (service: Service) => Promise<void>,
  options: ServiceParts = {},
): Promise<LiveStores> {
  await sql.unsafe(FORGET)
  const stores = replayServer()
  const says = { site: page("", {}, 404), holdMs: 0 }
  const hostnames: string[] = []
  const web: Site = await site(async (_, socket) => {
    if (says.holdMs > 0) await Bun.sleep(says.holdMs)
    socket.end(says.site, "latin1")
  })
  const measuring = createMeasuring({
    recording,
    sql,
    kinds: kindsOf({ egressCountry: "us" }),
    reach: reachOf(stores, { egress: "us" }),
    egress: "live",
    gapsMs: new Map(UPSTREAMS.map((upstream) => [upstream, 0])),
    log: silentLog,
    // a request wakes the worker at once; a poll costs twenty statements
    pollMs: 2_000,
    outbound: through(web, hostnames),
  })
  const { isReading, nudge, onEnded } = measuring
  const now = () => new Date()
  const measure = createMeasure({
    sql,
    kinds: kindsOf({ egressCountry: "us" }),
    egress: "live",
    now,
    sources: Object.values(SOURCES).flat(),
    isReading,
    nudge,
    onEnded,
  })
  // a server's deadline, extended by the current slowness of the machine
  const service = openService({ ...options, sql, measure, settings: { requestDeadlineMs: 4_500 * (await lately()) } })
  await fill(service)
  measuring.start()
  return {
    service,
    measure,
    stores,
    says,
    hostnames,
    async [Symbol.asyncDispose]() {
      await measuring.stop()
      await Promise.all([stores.stop(), web[Symbol.asyncDispose]()])
    },
  }
}

/** Deletes what an earlier test tracked, read and scheduled. One statement, to save round trips. */
const FORGET = `
  delete from due; delete from pace; delete from tracked_app; delete from app_storefront; delete from store_app_name;
  delete from app_text; delete from name_search; delete from app_ads; delete from market_fact;
  delete from rating_count; delete from attempt;
  update store_app set developer_site = null, seen_at = null, source = null, origin = null
  where coalesce(developer_site, source, origin) is not null or seen_at is not null;`

let slow = { factor: 1, at: Number.NEGATIVE_INFINITY }
/** Returns how slow the machine is now. Cached, because measuring takes as long as a test. */
async function lately(): Promise<number> {
  if (performance.now() - slow.at > 10_000) slow = { factor: await slowness(), at: performance.now() }
  return slow.factor
}

/** Sends every request, http or https, to the one site. Only hosts that end in .test resolve. */
function through({ port }: Site, hostnames: string[]): SafeFetch {
  return (url, options) => {
    const { hostname, pathname } = new URL(url)
    hostnames.push(hostname)
    const resolve = async (host: string) => (host.endsWith(".test") ? ["127.0.0.1"] : [])
    return ask(`http://${hostname}:${port}${pathname}`, port, { ...options, resolve })
  }
}

/** Answers iTunes look-ups with these apps after a delay; unknown ids are left out. */
export function answersLookUps(stores: ReplayServer, apps: Record<string, object>, holdMs = 0): void {
  stores.on("itunes.apple.com", "/lookup", async ({ url }) => {
    if (holdMs > 0) await Bun.sleep(holdMs)
    const ids = (url.searchParams.get("id") as string).split(",").filter((id) => apps[id])
    const results = ids.map((id) => ({ ...ROW, trackId: Number(id), trackName: `App ${id}`, ...apps[id] }))
    return Response.json({ resultCount: results.length, results })
  })
}

/** Answers every iTunes search with these apps after a delay. */
export function answersSearches(stores: ReplayServer, apps: Record<string, object>, holdMs = 0): void {
  stores.on("itunes.apple.com", "/search", async () => {
    if (holdMs > 0) await Bun.sleep(holdMs)
    const results = Object.entries(apps).map(([id, app]) => ({ ...ROW, trackId: Number(id), ...app }))
    return Response.json({ resultCount: results.length, results })
  })
}

const ROW = {
  wrapperType: "software",
  kind: "software",
  artistName: "Maker",
  bundleId: "com.example.rival",
  artworkUrl512: "https://is1-ssl.mzstatic.com/image/1/512x512bb.jpg",
  version: "1.0",
  price: 2.99,
  currency: "USD",
  primaryGenreId: 6007,
  releaseDate: "2020-01-01T08:00:00Z",
  currentVersionReleaseDate: "2026-01-01T08:00:00Z",
  userRatingCount: 1_234,
  averageUserRating: 4.5,
}
