import { test } from "bun:test"
import { kindsOf } from "../src/due-kinds.ts"
import { silentLog } from "../src/lib/log.ts"
import { UPSTREAMS } from "../src/lib/upstreams.ts"
import { createMeasuring } from "../src/measuring/worker.ts"
import { recording } from "../src/recording.ts"
import { freshDatabase } from "./database.ts"
import { newWorkspace } from "./measuring/record/measured.ts"
import { searchPage, someApps } from "./measuring/store-pages.ts"
import { reachOf, replayServer } from "./stores/parsing/replay.ts"
import { trackOwn } from "./world/tracked.ts"

// Run by walk.test.ts: reads a keyword of the App Store CALLS times, from due to a rank.

test("readings are stored", async () => {
  const sql = await freshDatabase()
  const stores = replayServer()
  const apps = someApps(20)
  stores.on("apps.apple.com", "/", ({ url }) => searchPage("us", url.searchParams.get("term")!, apps))
  await trackOwn(sql, { workspaceId: await newWorkspace(sql), iosId: apps[4]!.id, keywords: ["tea"] })
  let now = new Date("2026-03-01T08:00:00Z")
  const measuring = createMeasuring({
    recording,
    sql,
    kinds: kindsOf({ egressCountry: undefined }).filter(({ name }) => name === "search"),
    reach: reachOf(stores, { now: () => now }),
    egress: "here",
    gapsMs: new Map(UPSTREAMS.map((upstream) => [upstream, 0])),
    log: silentLog,
    random: () => 1,
    now: () => now,
  })
  for (let reading = 0; reading < Number(process.env.CALLS); reading++) {
    now = new Date(now.getTime() + 60_000)
    await sql`update due set next_at = now() - interval '1 second' where kind = 'search' and lease is null`
    if ((await measuring.runOnce()) !== 1) throw new Error(`${reading}: not read`)
  }
  await measuring.stop()
  await stores.stop()
  const [row] = await sql`select count(*)::int as n from rank_month`
  if (row!.n !== 1) throw new Error("no rank")
}, 120_000)
