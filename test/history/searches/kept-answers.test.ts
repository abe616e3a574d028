import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import fc from "fast-check"
import type { Sql } from "../../../src/database/types.ts"
import { findKeptAnswer, keepAnswer } from "../../../src/history/searches/kept-answers.ts"
import { claim } from "../../../src/measuring/claim.ts"
import { endMeasured, giveBack } from "../../../src/measuring/due.ts"
import type { SignOfLife } from "../../../src/measuring/sign-of-life.ts"
import { deriveKeywordMetrics } from "../../../src/observations/derived/keyword-metrics.ts"
import { rebuildNow } from "../../../src/observations/derived/now.ts"
import { record } from "../../../src/observations/record.ts"
import { listKeywordRanks } from "../../../src/operations/keywords/keywords.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { addTerms, removeTerms } from "../../../src/tracking/terms.ts"
import { findApp } from "../../../src/tracking/tracked-app.ts"
import { WrittenAnswer } from "../../../src/vocabulary/prepared.ts"
import { freshDatabase, ownHandle } from "../../database.ts"
import { cases } from "../../long.ts"
import { contextOf, hinted, NOW, newWorkspace, reading } from "../../observations/measured.ts"
import { signOfLife } from "../../observations/reading-processes.ts"

const TERMS = ["tea", "mate", "té verde", "茶"]
const KINDS = ["search", "hints", "difficulty"] as const

let sql: Sql
let workspaceId: number
let apps: string[]
let signs: SignOfLife[] = []

beforeAll(async () => {
  sql = await freshDatabase()
  workspaceId = await newWorkspace(sql)
  const others = await newWorkspace(sql)
  apps = await sql.begin(async (tx) => {
    const app = { countries: ["us"], origin: "own" as const }
    return [
      await trackApp(tx, { ...app, workspaceId, iosId: "10001", keywords: TERMS.slice(0, 3) }),
      await trackApp(tx, { ...app, workspaceId, iosId: "10003", keywords: TERMS.slice(1) }),
      await trackApp(tx, { ...app, workspaceId: others, iosId: "10001", keywords: ["mate"] }),
    ]
  })
})

beforeEach(async () => {
  signs = [await signOfLife(sql, {})]
})
afterEach(async () => {
  for (const sign of signs.splice(0)) await sign.end()
})

/** What is kept of a database is kept by its handle: two of them are two processes. */
async function answerOn(handle: Sql, id: string, now: Date): Promise<WrittenAnswer> {
  const ctx = contextOf(handle, workspaceId, now)
  const app = await findApp(sql, { workspaceId, appList: null }, id)
  const answer = await listKeywordRanks.run({ appId: id, app, storefront: "us", platform: "ios" }, ctx)
  if (!(answer instanceof WrittenAnswer)) throw new Error("it was not ready")
  return answer
}

const anyTerm = fc.constantFrom(...TERMS)
const anyDay = fc.constantFrom("2025-11-18", "2025-11-19", "2025-11-20")
const anyApp = fc.nat({ max: 2 })
const anyStep = fc.oneof(
  fc.record({ what: fc.constant("searched" as const), term: anyTerm, day: anyDay, depth: fc.nat({ max: 4 }) }),
  fc.record({ what: fc.constant("hinted" as const), term: anyTerm, day: anyDay }),
  fc.record({ what: fc.constant("figures" as const), day: anyDay }),
  fc.record({
    what: fc.constant("claimed" as const),
    kind: fc.constantFrom(...KINDS),
    end: fc.constantFrom("not", "measured", "back", "lost" as const),
  }),
  fc.record({
    what: fc.constant("due" as const),
    term: anyTerm,
    kind: fc.constantFrom(...KINDS),
    nextHours: fc.constantFrom(-50, -1, 30),
    failures: fc.nat({ max: 1 }),
    measured: fc.boolean(),
  }),
  fc.record({ what: fc.constant("tracked" as const), app: anyApp, term: anyTerm }),
  fc.record({ what: fc.constant("untracked" as const), app: anyApp, term: anyTerm }),
  fc.record({ what: fc.constant("read by" as const), all: fc.boolean(), ends: fc.boolean() }),
  fc.record({ what: fc.constant("rebuilt" as const) }),
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

async function take(step: Step): Promise<void> {
  switch (step.what) {
    case "searched": {
      const ids = ["10003", "10002", "10001"].slice(0, step.depth)
      await record(sql, [reading(step.term, `${step.day}T09:00:00Z`, ids)], () => NOW)
      return
    }
    case "hinted":
      await record(sql, [hinted(step.term, `${step.day}T10:00:00Z`, [step.term, `${step.term} x`])], () => NOW)
      return
    case "figures": {
      const lists = TERMS.map((term) => ({ platform: "ios" as const, storefront: "us", term }))
      await sql.begin((tx) => deriveKeywordMetrics(tx, lists, new Date(`${step.day}T11:00:00Z`)))
      return
    }
    case "claimed": {
      const work = { name: step.kind, platform: "ios" as const, together: 2, everyDays: 1 }
      const { claimed } = await claim(sql, null, [work], step.end === "lost" ? 1 : 60_000)
      if (!claimed) return
      if (step.end === "measured") await sql.begin((tx) => endMeasured(tx, claimed))
      if (step.end === "back") await giveBack(sql, claimed, 60_000)
      return
    }
    case "due":
      await sql`
        update due
        set next_at = now() + ${step.nextHours} * interval '1 hour', failures = ${step.failures},
          failure = ${step.failures ? "gone" : null}, failed_at = case when ${step.failures} > 0 then now() end,
          measured_at = case when ${step.measured} then now() end
        where (kind, platform, storefront, subject) = (${step.kind}, 'ios', 'us', ${step.term})`
      return
    case "tracked":
      await sql.begin((tx) => addTerms(tx, apps[step.app]!, "all", [step.term]))
      return
    case "untracked":
      await sql.begin((tx) => removeTerms(tx, apps[step.app]!, "all", [step.term]))
      return
    case "read by":
      if (step.ends) for (const sign of signs.splice(0)) await sign.end()
      else signs.push(await signOfLife(sql, step.all ? {} : FEWER))
      return
    case "rebuilt":
      await rebuildNow(sql, async () => {})
  }
}
const FEWER = { sourcesOff: ["apple-web-search", "apple-store-search", "apple-hints"] }

test("an answer that is kept is the one made anew, byte by byte, whatever came in whatever order, in two processes", async () => {
  const [one, other] = [ownHandle(sql), ownHandle(sql)]
  const seen = { steps: 0, changed: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ step: anyStep, by: fc.boolean() }), { minLength: 1, maxLength: 8 }),
      async (steps) => {
        for (const { step, by } of steps) {
          const readers = by ? [one] : [one, other]
          const before = await answerOn(one, apps[0]!, NOW)
          await take(step)
          for (const reader of readers)
            for (const id of apps.slice(0, 2))
              expect((await answerOn(reader, id, NOW)).text).toBe((await answerOn(ownHandle(sql), id, NOW)).text)
          seen.steps++
          const after = await answerOn(one, apps[0]!, NOW)
          if (after.text !== before.text) seen.changed++
          // what nothing changed is the very answer of before: no text was sent
          else if (step.what === "read by") expect(after.text).toBe(before.text)
          // what nothing changed is the very answer of before: no text was sent
          expect(await answerOn(one, apps[0]!, NOW)).toBe(after)
        }
      },
    ),
    { seed: 20261126, numRuns: cases(3, 40) },
  )
  expect(seen.changed).toBeGreaterThan(seen.steps / 10)
  expect(seen.changed).toBeLessThan(seen.steps)
}, 240_000)

test("another day, and a text of the same length that changed under it, is another answer", async () => {
  const handle = ownHandle(sql)
  const id = apps[0]!
  await record(sql, [reading("tea", "2025-11-20T09:00:00Z", ["10001", "10002"])], () => NOW)
  const today = await answerOn(handle, id, NOW)
  const tomorrow = await answerOn(handle, id, new Date("2025-11-21T00:00:00Z"))
  expect([JSON.parse(today.text).live, JSON.parse(tomorrow.text).live]).toEqual([true, false])
  expect(await answerOn(handle, id, NOW)).toBe(today)
  await sql`update app_keyword set shown = replace(shown, '"rank":1,', '"rank":2,') where term = 'tea'`
  expect((await answerOn(handle, id, NOW)).text).toBe(today.text.replace('"rank":1,', '"rank":2,'))
  await sql`update app_keyword set shown = replace(shown, '"rank":2,', '"rank":1,') where term = 'tea'`
  expect((await answerOn(handle, id, NOW)).text).toBe(today.text)
})

test("the same keywords in another order are another answer", async () => {
  const handle = ownHandle(sql)
  const id = apps[0]!
  const termsIn = ({ text }: WrittenAnswer) => JSON.parse(text).keywords.map(({ term }: { term: string }) => term)
  const [first, ...others] = termsIn(await answerOn(handle, id, NOW))
  await sql.begin((tx) => removeTerms(tx, id, "all", [first]))
  await sql.begin((tx) => addTerms(tx, id, "all", [first]))
  expect(termsIn(await answerOn(handle, id, NOW))).toEqual([...others, first])
})

test("no more is kept than fits, and what was asked for longest ago goes first", () => {
  const handle = ownHandle(sql)
  const answer = (length: number) => ({ digest: "", answer: new WrittenAnswer("x".repeat(length)) })
  for (const name of ["a", "b", "c"]) keepAnswer(handle, name, answer(5_000_000))
  expect(findKeptAnswer(handle, "a")).not.toBeNull()
  keepAnswer(handle, "d", answer(5_000_000))
  expect(["a", "b", "c", "d"].filter((name) => findKeptAnswer(handle, name))).toEqual(["a", "c", "d"])
  keepAnswer(handle, "e", answer(20_000_000))
  expect(["a", "c", "d", "e"].filter((name) => findKeptAnswer(handle, name))).toEqual([])
})
