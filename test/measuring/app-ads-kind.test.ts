import { describe, expect, test } from "bun:test"
import { openStoreReading } from "../../src/commands/process/store-reading.ts"
import type { Log } from "../../src/lib/log.ts"
import { OutboundProblem } from "../../src/outbound/problem.ts"
import { readSettings } from "../../src/settings/settings.ts"
import { slow } from "../long.ts"
import { HARBOR } from "./public-pages.ts"
import { publicScene } from "./public-scene.ts"
import { captchaPage, lookupAnswer } from "./store-pages.ts"

const scene = publicScene()
const looks = async () => [
  ...(await scene.sql`select domain, state, jsonb_array_length(records) as records from app_ads`),
]
const health = async () =>
  (
    await scene.sql`
  select answered, failed from source_hour where source = 'app-ads-txt' order by hour desc limit 1`
  )[0]

describe("the app-ads.txt of an app's developer", () => {
  slow("app-ads.txt waits without a failure until an app look-up returns the developer's site", async () => {
    await scene.track()
    expect(await scene.read("app_ads")).toBe(1)
    expect(await scene.due("app_ads")).toMatchObject([{ failures: 0, failure: null, measured: false, hours: 24 }])
    expect([scene.requestedSites, await looks()]).toEqual([[], []])
    await scene.read("app", { findingsAfterMs: 0 })
    const [due] = await scene.sql`select next_at <= now() + interval '1 second' as soon from due where kind = 'app_ads'`
    expect(due).toEqual({ soon: true })
    await scene.read("app_ads")
    expect(scene.requestedSites).toEqual(["northlight.example"])
    expect(await looks()).toEqual([{ domain: "northlight.example", state: "records", records: 2 }])
    expect((await scene.due("app_ads"))[0]!.hours).toBeWithin(13 * 24 - 1, 15 * 24)
    expect(await health()).toEqual({ answered: 1, failed: 0 })
  })

  slow("the app-ads.txt of an app without a developer's site is stored as no_site without a request", async () => {
    await scene.track()
    const { site: _, ...bare } = HARBOR
    scene.stores.on("itunes.apple.com", "/lookup", () => lookupAnswer([bare]))
    await scene.read("app")
    await scene.read("app_ads")
    expect(await looks()).toEqual([{ domain: null, state: "no_site", records: 0 }])
    expect(scene.requestedSites).toEqual([])
  })

  test("app-ads.txt is not requested if the app look-up was blocked or the app is unavailable", async () => {
    await scene.track()
    for (const answer of [() => lookupAnswer([]), captchaPage]) {
      scene.stores.on("itunes.apple.com", "/lookup", answer)
      await scene.read("app", { days: 1 })
      await scene.read("app_ads")
    }
    expect([scene.requestedSites, await looks()]).toEqual([[], []])
    expect(await scene.due("app_ads")).toMatchObject([{ failures: 0, measured: false }])
  })

  test("an unreachable app-ads.txt is logged with the reason, and the reading of an earlier day stays", async () => {
    await scene.track()
    await scene.read("app")
    await scene.read("app_ads")
    scene.sites.set("northlight.example", new OutboundProblem("unreachable"))
    await scene.read("app_ads", { days: 14 })
    expect((await looks()).map(({ state }) => state)).toEqual(["records", "unreachable"])
    expect([...(await scene.sql`select kind, subject, source, outcome, detail from attempt`)]).toEqual([
      {
        kind: "app_ads",
        subject: HARBOR.id,
        source: "app-ads-txt",
        outcome: "failed",
        detail: "no server answers there",
      },
    ])
    // one failure with https, one with http
    expect(await health()).toMatchObject({ failed: 2 })
    expect(await scene.due("app_ads")).toMatchObject([{ failures: 0, measured: true }])
  })

  test("app-ads.txt is not requested while its source is off", async () => {
    await scene.track()
    await scene.read("app")
    await scene.read("app_ads", { sourcesOff: ["app-ads-txt"] })
    expect([scene.requestedSites, await looks()]).toEqual([[], []])
  })

  slow("all requests for app-ads.txt files share one rate limit", async () => {
    await scene.track()
    await scene.read("app")
    scene.sites.set("northlight.example", new OutboundProblem("tls"))
    const [before] = await scene.sql<{ at: Date }[]>`select clock_timestamp() as at`
    await scene.read("app_ads", { gapsMs: new Map([["developer-sites", 200]]) })
    expect(scene.requestedSites).toHaveLength(2)
    const [pace] = await scene.sql<{ at: Date; now: Date }[]>`
      select next_at as at, clock_timestamp() as now
      from pace
      where upstream = 'developer-sites'`
    // each turn is at least 200 ms after the previous one
    expect(pace!.at.getTime() - before!.at.getTime()).toBeGreaterThanOrEqual(399)
    expect(pace!.at.getTime() - pace!.now.getTime()).toBeLessThanOrEqual(200)
  })
})

slow("allowed private addresses are logged when the process starts", async () => {
  const requestedSites = async (allowPrivate: string[]) => {
    const lines: unknown[] = []
    const settings = readSettings({ MEASURE: "yes", RAW_DAYS: "0" }, () => "").measuring
    const log: Log = (level, event, fields) => void lines.push([level, event, fields?.reason])
    const reading = openStoreReading({ settings, sql: scene.sql, log, allowPrivate })
    reading.start()
    await reading.stop()
    return lines
  }
  expect(await requestedSites(["10.1.2.0/24", "192.168.7.9"])).toEqual([
    ["info", "private_targets_allowed", "10.1.2.0/24, 192.168.7.9"],
  ])
  expect(await requestedSites([])).toEqual([])
})
