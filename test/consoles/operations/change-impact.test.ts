import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Observation } from "../../../src/kinds.ts"
import { addDays } from "../../../src/lib/days.ts"
import { IOS_ID } from "../../core/paged.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { EXAMPLE_ACCOUNT, reported } from "../reported.ts"
import { CHANGED, DE_CHANGED, EVERYWHERE, type ImpactScene, impactScene, TERMS, TODAY } from "./impact-scene.ts"

setDefaultTimeout(60_000)

let scene: ImpactScene
beforeAll(async () => {
  scene = await impactScene(await freshDatabase())
})

const call = (query = "", callerKey = scene.key) =>
  scene.service.call(`/v1/apps/${scene.appId}/change-impact${query}`, { key: callerKey })
type Body = Awaited<ReturnType<typeof call>>["body"]
const outcome = (body: Body, name: string): Body =>
  body.outcomes.find(({ outcome }: { outcome: string }) => outcome === name)

test("30 % more downloads after new screenshots are detected, over REST and as a tool", async () => {
  const { status, body, credits } = await call("?country=us")
  expect([status, credits.used]).toEqual([200, 1])
  expect(body).toMatchObject({
    country: "us",
    window: 7,
    day: CHANGED,
    notYetAt: "2026-06-08T06:00:00.000Z",
    at: "2026-06-09T06:00:00.000Z",
    changed: [{ kind: "screenshots", countries: ["us"] }],
    complete: true,
    verdict: "improved",
    tryWindow: null,
  })
  expect(body.sentence).toMatch(
    /^First downloads rose by [\d.]+ % \(90 % interval .*\), compared with 5 that stayed unchanged: /,
  )
  const [downloads, paid] = body.outcomes
  expect(downloads).toMatchObject({
    outcome: "downloads",
    primary: true,
    treated: ["us"],
    dayZone: "America/Los_Angeles",
    complete: true,
    before: { from: "2026-05-10", to: "2026-06-06" },
    after: { from: "2026-06-09", to: "2026-06-15" },
    method: "difference_in_differences",
    placebos: { controls: 5 },
  })
  expect(downloads.lowPercent).toBeGreaterThan(0)
  expect(downloads.lowPercent).toBeLessThan(30)
  expect(downloads.highPercent).toBeGreaterThan(30)
  // The other storefronts had no payments, so nothing can be subtracted.
  expect(paid).toMatchObject({ outcome: "proceeds_per_download", method: "before_after", verdict: "cannot_tell" })
  // gb is not listed, because it changed on the same day.
  expect(downloads.controls.map(({ name }: { name: string }) => name).sort()).toEqual(["ca", "de", "fr", "it", "jp"])
  expect(body.missing.map(({ what }: { what: string }) => what)).toEqual([
    "search_impressions",
    "conversion",
    "ranks",
    "ads_spend",
  ])
  expect(body.sources[0]).toMatchObject({ report: "sales", state: "ok" })
  // A new version is not listed as an overlap and does not confound, because it is in all storefronts.
  expect(body.overlaps).toEqual([])
  const answer = await scene.service.tool(
    "get_change_impact",
    { appId: scene.appId, country: "us" },
    { key: scene.key },
  )
  expect(JSON.stringify(answer.result.structuredContent)).toBe(JSON.stringify(body))
})

test("a changed name is judged by the keywords whose words were added, compared with other keywords", async () => {
  const { body } = await call("?country=gb&window=3")
  expect(body).toMatchObject({ changed: [{ kind: "name", countries: ["gb"] }], verdict: "improved" })
  const ranks = outcome(body, "ranks")
  expect(ranks).toMatchObject({ primary: true, treated: [TERMS[0]], country: "gb", dayZone: "UTC" })
  expect(ranks.effectPercent).toBeWithin(-60, -30)
  expect(ranks.controls.every(({ name }: { name: string }) => TERMS.slice(1).includes(name))).toBe(true)
  expect(body.sentence).toStartWith("Ranks of the keywords whose words changed fell by")
  expect(JSON.stringify(body)).not.toContain("Tea Timer Oolong")
})

test("no figure is given before the window is over, so that nobody can pick a favourable day", async () => {
  scene.clock.now = new Date("2026-06-12T12:00:00Z")
  const { body } = await call("?country=us")
  scene.clock.now = TODAY
  expect([body.verdict, body.complete, body.standing]).toEqual(["too_early", false, null])
  for (const listed of body.outcomes)
    expect([listed.verdict, listed.effectPercent, listed.chance, listed.controls]).toEqual([
      "too_early",
      null,
      null,
      [],
    ])
  expect(body.sentence).toContain("2026-06-15")
})

test("too few earlier days give not_enough_data and the number of days needed", async () => {
  const { body } = await call(`?day=${DE_CHANGED}`)
  expect(body.verdict).toBe("not_enough_data")
  const { earlierDays, earlierNeeded, effectPercent } = outcome(body, "downloads")
  expect([earlierNeeded, effectPercent]).toEqual([140, null])
  expect(earlierDays).toBeLessThan(140)
  expect(body.sentence).toBe(`Not enough data: only ${earlierDays} earlier days can be compared, and 140 are needed.`)
})

test("with a second change in the window the verdict is confounded, without controls cannot_tell", async () => {
  const de = (await call(`?day=${DE_CHANGED}&window=3`)).body
  expect([de.verdict, de.country, outcome(de, "downloads").method]).toEqual(["confounded", null, "before_after"])
  expect(de.overlaps).toContainEqual({
    kind: "event_started",
    country: "de",
    day: "2026-04-03",
    own: true,
    confounds: true,
  })
  const all = (await call(`?day=${EVERYWHERE}&window=3`)).body
  expect([all.verdict, all.standing]).toEqual(["cannot_tell", null])
  expect(all.changed).toEqual([{ kind: "icon", countries: ["ca", "de", "fr", "gb", "it", "jp", "us"] }])
  expect(outcome(all, "downloads").controls).toEqual([])
})

describe("change impact with the console's analytics", () => {
  const FIRST = addDays(CHANGED, -221)
  const ALL = ["us", "de", "fr", "jp", "ca", "it"]
  const busy = (place: number, at: number) => 900 + 40 * at + ((place * (at + 5)) % 7) * 12 + ((place * 3) % 7) * 20

  /**
   * Page views are the same in all storefronts. Only us converts more after the change. Each file is processed the day
   * after.
   */
  async function recordAnalytics(days = 230): Promise<void> {
    const seenAt = new Date("2026-06-19T00:00:00Z")
    const all = Array.from({ length: days }, (_, place) => place + (230 - days)).flatMap((place) => {
      const day = addDays(FIRST, place)
      const rows = (event: string, count: (at: number) => number) =>
        ALL.map((country, at) => {
          const from = event === "Impression" ? { from: "App Store search" } : { from: "App Store browse" }
          return { country, event, count: count(at), ...from }
        })
      const common = { account: EXAMPLE_ACCOUNT, app: IOS_ID, day, processed: addDays(day, 1), seenAt }
      const lift = (at: number) => (at === 0 && day > CHANGED ? 1.3 : 1)
      return [
        reported("engagement", {
          ...common,
          rows: [...rows("Impression", (at) => 5 * busy(place, at)), ...rows("Page view", (at) => busy(place, at))],
        } as never),
        reported("downloads", {
          ...common,
          rows: rows("First-time download", (at) =>
            Math.round(0.3 * lift(at) * busy(place, at) * (1 + (((place * (at + 2)) % 5) - 2) / 60)),
          ),
        } as never),
      ]
    })
    expect((await record(scene.sql, all, () => new Date("2026-12-31T00:00:00Z"))).refused).toEqual([])
    await scene.sql`
      insert into analytics_instance (account_id, app, report, processed, instance, read_at)
      select ${EXAMPLE_ACCOUNT}, ${IOS_ID}, r, d::date, r || d, now()
      from unnest(array['engagement', 'downloads']) r,
        generate_series(${FIRST}::date, '2026-06-19'::date, interval '1 day') d
      on conflict do nothing`
  }
  afterEach(async () => {
    for (const table of ["analytics_day", "funnel_fact_row", "analytics_instance"])
      await scene.sql`delete from ${scene.sql(table)}`
  })

  slow("new screenshots are judged by conversion, and search impressions are listed too", async () => {
    await recordAnalytics()
    const { body } = await call("?country=us")
    const [first] = body.outcomes
    expect(first).toMatchObject({
      outcome: "conversion",
      primary: true,
      treated: ["us"],
      dayZone: null,
      complete: true,
      // Both days on which the change may have happened are left out.
      before: { from: "2026-05-10", to: "2026-06-06" },
      after: { from: "2026-06-10", to: "2026-06-16" },
      method: "difference_in_differences",
      verdict: "improved",
    })
    expect([first.lowPercent < 30, first.highPercent > 30, body.verdict]).toEqual([true, true, "improved"])
    expect(body.sentence).toStartWith("First downloads per page view rose by")
    expect(outcome(body, "search_impressions")).toMatchObject({ primary: false, verdict: "no_clear_change" })
    expect(body.missing.map(({ what }: { what: string }) => what)).toEqual(["ranks", "ads_spend"])
    const { report } = Object.fromEntries(body.sources.map((source: { report: string }) => ["report", source.report]))
    expect([report, body.sources.length]).toEqual(["downloads", 3])
  })

  slow("analytics with too few earlier days do not become the primary outcome", async () => {
    await recordAnalytics(60)
    const { body } = await call("?country=us")
    expect(body.outcomes[0]).toMatchObject({ outcome: "downloads", primary: true, verdict: "improved" })
    expect(outcome(body, "conversion")).toMatchObject({
      primary: false,
      verdict: "not_enough_data",
      earlierNeeded: 140,
    })
    expect(body.missing.map(({ what }: { what: string }) => what)).toEqual(["ranks", "ads_spend"])
  })

  test("a missing outcome has the reason and the action that a person must take", async () => {
    const missingConversion = async () =>
      (await call("?country=us")).body.missing.filter(({ what }: { what: string }) => what === "conversion")
    expect(await missingConversion()).toEqual([{ what: "conversion", why: expect.stringContaining("within two days") }])
    await scene.sql`
      insert into account_task (account_id, task, subject, state)
        values (${EXAMPLE_ACCOUNT}, 'analytics', ${IOS_ID}, 'not_requested')`
    expect(await missingConversion()).toEqual([
      {
        what: "conversion",
        why: expect.stringMatching(/^No person has requested .* role Admin must .*: appmeter account analytics /),
      },
    ])
    await scene.sql`delete from account_task`
  })
})

slow("ad spend around the change is shown if known, and a large change of ad spend confounds the verdict", async () => {
  const { sql, workspaceId, appId } = scene
  const [account, day] = ["ac_00000000000000ad01", CHANGED]
  const readImpact = async () => (await call(`?day=${day}&country=us`)).body
  const before = await readImpact()
  expect([before.adsSpend, before.missing.at(-1).what]).toEqual([null, "ads_spend"])
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, zone, currency)
    values (${account}, ${workspaceId}, 'apple-ads', 'key …1', '1', 'v1.a.b.c', null, 'ok', 'UTC', 'EUR')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${account}, '310633997', '', 'Tea', '', ${appId})`
  const seenAt = new Date(`${addDays(day, 11)}T00:00:00Z`)
  const [row] = (reported("ads_days") as unknown as { rows: Record<string, unknown>[] }).rows
  const { group: _, keyword: __, ...whole } = row!
  const spendOf = (from: number, to: number, spend: string, country = "us") =>
    Array.from({ length: to - from + 1 }, (_, place) => {
      const rows = [{ ...whole, country, spend }]
      return reported("ads_days", { account, day: addDays(day, from + place), rows, seenAt })
    })
  const recordAll = (...all: Observation[]) => record(sql, all, () => new Date("2026-12-31T00:00:00Z"))
  await recordAll(reported("ads_campaigns", { account, day, seenAt }), ...spendOf(-40, -9, "10"))
  // Spend in the window was not read, so it is unknown, not zero.
  const unread = await readImpact()
  expect(unread.adsSpend).toMatchObject({ account, before: 10, after: null, knownAfter: 0, changePercent: null })
  expect([unread.adsSpend.confounds, unread.missing.at(-1).what]).toEqual([false, "ads_spend"])
  expect(unread.verdict).toBe(before.verdict)
  await recordAll(...spendOf(-8, 9, "12.90"))
  const swung = await readImpact()
  const { adsSpend, verdict, missing } = swung
  expect(adsSpend).toMatchObject({ after: 12.9, currency: "EUR", dayZone: "UTC", knownBefore: 28, knownAfter: 7 })
  expect([adsSpend.confounds, verdict]).toEqual([false, before.verdict])
  expect(missing.map(({ what }: { what: string }) => what)).not.toContain("ads_spend")
  const later = new Date(seenAt.getTime() + 1)
  await recordAll(...spendOf(1, 9, "30").map((spending) => ({ ...spending, seenAt: later })))
  const twice = await readImpact()
  expect([twice.adsSpend.confounds, twice.verdict]).toEqual([true, "confounded"])
  // Spend in a storefront that did not change has no effect here.
  await recordAll(
    ...spendOf(0, 9, "30", "fr").map((spending) => ({ ...spending, seenAt: new Date(later.getTime() + 1) })),
  )
  expect((await readImpact()).adsSpend).toMatchObject({ after: 0, changePercent: -100, confounds: true })
  await sql`delete from connected_account where id = ${account}`
})

describe("refusals of get_change_impact", () => {
  const refusal = async (query: string, callerKey = scene.key) => {
    const before = (await call("?window=2", callerKey)).credits.used
    const { status, body, credits } = await call(query, callerKey)
    expect(credits.used).toBe(before)
    return [status, body.error, body.detail]
  }

  test("a day without a change, today, an invalid day and an invalid window are refused", async () => {
    expect(await refusal("?day=2026-06-08")).toEqual([400, "bad_day", expect.stringContaining("2026-06-09")])
    expect(await refusal("?day=2026-06-20")).toEqual([400, "bad_day", expect.stringContaining("2026-06-19")])
    expect((await refusal("?day=2026-02-30"))[1]).toBe("bad_day")
    for (const window of [2, 31]) expect((await refusal(`?window=${window}`))[1]).toBe("invalid_arguments")
  })

  test("change impact is refused for an unread storefront, without an account and without the right", async () => {
    const { sql, service, workspaceId } = scene
    expect(await refusal("?country=br")).toEqual([404, "not_measured", expect.stringContaining("never read")])
    const limitedKey = await service.key(workspaceId, { scopes: ["apps:read"] })
    expect((await call("", limitedKey)).body.error).toBe("scope_required")
    const strange = await service.workspace()
    const key = await service.key(strange)
    const refusalFor = async (rest: object) => {
      const tracked = { workspaceId: strange, countries: ["us"], keywords: [], origin: "own", ...rest }
      const appId = await trackOwn(sql, tracked as never)
      return (await service.call(`/v1/apps/${appId}/change-impact`, { key })).body.error
    }
    expect(await refusalFor({ iosId: "1600000101" })).toBe("not_connected")
    expect(await refusalFor({ androidPkg: "com.example.tea" })).toBe("unsupported_platform")
  })
})
