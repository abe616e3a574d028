import { describe, expect, test } from "bun:test"
import { kindsOf } from "../../src/due-kinds.ts"
import type { LiveReadState, LiveSubject } from "../../src/lib/live-read.ts"
import { silentLog } from "../../src/lib/log.ts"
import { createMeasure } from "../../src/measuring/measure.ts"
import { createMeasuring } from "../../src/measuring/worker.ts"
import { recording } from "../../src/recording.ts"
import { reachOf } from "../stores/parsing/replay.ts"
import { APP_ADS, HARBOR } from "./public-pages.ts"
import { publicScene } from "./public-scene.ts"
import { EGRESS, gaps } from "./scene.ts"
import { lookupAnswer } from "./store-pages.ts"

const scene = publicScene()
const HOUR_MS = 3_600_000
const app = (kind: LiveSubject["kind"], rest: Partial<LiveSubject> = {}): LiveSubject => ({
  kind,
  platform: "ios",
  storefront: "us",
  subject: HARBOR.id,
  ...rest,
})

/** Makes live reads one by one, from a process that reads. */
async function ask(...subjects: LiveSubject[]): Promise<LiveReadState[]> {
  const kinds = kindsOf({ egressCountry: undefined })
  const measuring = createMeasuring({
    recording,
    sql: scene.sql,
    kinds,
    reach: reachOf(scene.stores),
    egress: EGRESS,
    gapsMs: gaps(),
    pollMs: 20,
    log: silentLog,
    outbound: async (url) => ({ url, status: 200, headers: new Headers(), bytes: new TextEncoder().encode(APP_ADS) }),
  })
  const { isReading, nudge, onEnded } = measuring
  const parts = { sql: scene.sql, kinds, egress: EGRESS, now: () => new Date(), isReading, nudge, onEnded, pollMs: 20 }
  const measure = createMeasure(parts)
  measuring.start()
  try {
    const answers: LiveReadState[] = []
    for (const subject of subjects) answers.push(await measure(subject, { maxAgeMs: HOUR_MS, waitMs: 5_000 }))
    return answers
  } finally {
    await measuring.stop()
  }
}
const states = (answers: LiveReadState[]) =>
  answers.map((answer) => (answer.state === "failed" ? answer.why : answer.state))

describe("a live read", () => {
  test.each([
    app("app"),
    app("listing"),
    app("chart", { subject: "iphone free 6013" }),
    app("chart", { subject: "ipad paid 36" }),
  ])("a live read of %p takes one request, and its result stays fresh for its maximum age", async (subject) => {
    const answers = await ask(subject, subject)
    expect(answers[0]).toEqual({ state: "fresh", measuredAt: expect.any(Date) })
    expect(answers[1]).toEqual(answers[0]!)
    expect(scene.stores.requests).toHaveLength(1)
  })

  test("a live read of an app-ads.txt waits for the look-up of its app", async () => {
    const answers = await ask(app("app"), app("app_ads"))
    expect(states(answers)).toEqual(["fresh", "fresh"])
    expect(await scene.count("app_ads")).toBe(1)
  })

  test("after the look-up of an unavailable app, a live read of its page is not_found without a request", async () => {
    scene.stores.on("itunes.apple.com", "/lookup", () => lookupAnswer([]))
    expect(states(await ask(app("app"), app("listing")))).toEqual(["fresh", "not_found"])
    expect(scene.stores.requests).toHaveLength(1)
    expect([...(await scene.sql`select available from app_storefront`)]).toEqual([{ available: false }])
  })

  test("a failed live read returns the reason", async () => {
    scene.stores.on("apps.apple.com", "/", () => new Response("", { status: 404 }))
    scene.stores.on("itunes.apple.com", "/", () => new Response("", { status: 403 }))
    expect(states(await ask(app("listing"), app("chart", { subject: "iphone free 36" })))).toEqual([
      "not_found",
      "blocked",
    ])
  })

  test("a live read of a subject that no process reads fails as off", async () => {
    const androidSubjects = [app("app", { platform: "android" }), app("listing", { platform: "android" })]
    expect(states(await ask(...androidSubjects))).toEqual(["off", "off"])
  })
})
