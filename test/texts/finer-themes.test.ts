import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { WritingTask } from "../../src/lib/writing/written-text.ts"
import { createWriting } from "../../src/texts/port/write.ts"
import { type FinerTheme, writeThemes } from "../../src/texts/themes/finer-themes.ts"
import { partsOf, sampleOf, tokensOfReview } from "../../src/texts/themes/review-records.ts"
import { type SummedReview, wholeText } from "../../src/texts/themes/theme-figures.ts"
import { freshDatabase } from "../database.ts"
import { until } from "../jobs/platform.ts"
import { cases, slow } from "../long.ts"
import { COUNTRIES, rowsOf, SOME } from "../measuring/record/review-rows.ts"
import { ATTACKS } from "./attacks.ts"
import { type Line, openStandIn, type Script, well } from "./stand-in.ts"

setDefaultTimeout(60_000)

const NOW = new Date("2026-01-12T00:00:00Z")
const REVIEWS: SummedReview[] = rowsOf(SOME)
  .filter(({ country }) => ["us", "gb", "ca"].includes(COUNTRIES[country]!))
  .map(({ review_id: id, title, review: text, rating, date }) => ({
    id,
    title,
    text,
    stars: Number(rating),
    at: new Date(`${date.slice(0, 19).replace(" ", "T")}Z`),
  }))
/** The maximum number of reviews of a summary. */
const MANY = Array.from({ length: 500 }, (_, n) => ({ ...REVIEWS[n % REVIEWS.length]!, id: `id-${n}` }))

/** A model that finds one theme by a word and quotes it exactly. */
const WORDS: [word: string, label: string][] = [
  ["level", "Levels"],
  ["ads", "Advertising"],
]
const wordIn = (line: Line, word: string) => new RegExp(`\\b${word}\\b.{0,20}`).exec(line.text)?.[0]?.trim()
const found = (lines: Line[], word: string) =>
  lines.flatMap((line) => {
    const quote = /^r\d/.test(line.r ?? "") ? wordIn(line, word) : undefined
    return quote === undefined || quote.length < 4 ? [] : [{ r: line.r as string, quote }]
  })

function finding(lines: Line[]): object {
  if (lines.some(({ r }) => r === "form"))
    return {
      themes: WORDS.flatMap(([word, label]) => {
        const quotes = found(lines, word).slice(0, 2)
        return quotes.length === 0 ? [] : [{ quotes, label, sentence: "It comes up again and again." }]
      }),
    }
  const themes = lines.flatMap(({ r, label }) => (/^t\d/.test(r ?? "") ? [{ r: r as string, label }] : []))
  return {
    assigned: themes.flatMap(({ r: theme, label }) =>
      found(lines, WORDS.find(([, name]) => name === label)![0]).map((quote) => ({ ...quote, themes: [theme] })),
    ),
  }
}

let sql: Sql
const standIn = openStandIn("chat")
beforeAll(async () => {
  sql = await freshDatabase()
})
afterAll(() => standIn.close())

function writer(contextTokens: number, script: Script = well(finding)) {
  standIn.requests.splice(0)
  standIn.script.splice(0, standIn.script.length, script)
  const settings = { url: standIn.url, api: "chat" as const, model: "m-1", key: undefined, atOnce: 2 }
  return createWriting({
    sql,
    log: silentLog,
    now: () => NOW,
    randomBytes,
    pollMs: 20,
    patienceMs: 50,
    settings: { ...settings, contextTokens, tokensADay: 1e12 },
    fetch: (url, init) => fetch(url, init),
  }).write
}
let digests = 0
const nextTask = () => ({ digest: `d${++digests}`, language: "en" as const, now: NOW })

test.each([8_000, 100_000])(
  "each request fits in a context of %d tokens, and every review is sent once",
  async (room) => {
    const state = await writeThemes(writer(room), MANY, nextTask())
    expect(state.state).toBe("done")
    const sentReviews: string[] = []
    for (const { system, data, body } of standIn.requests) {
      const bytes = new TextEncoder().encode(system + data + JSON.stringify(body.response_format)).length
      expect(bytes / 3 + (body.max_tokens ?? body.max_completion_tokens)).toBeLessThan(room + 200)
      if (!data.includes('"r":"form"'))
        sentReviews.push(...data.split("\n").filter((line) => line.startsWith('{"r":"r')))
    }
    expect(sentReviews).toHaveLength(500)
    const { value } = state as { value: FinerTheme[] }
    expect(value.map(({ label }) => label).sort()).toEqual(["Advertising", "Levels"])
    for (const { count, reviewIds, quotes } of value) {
      expect(new Set(reviewIds).size).toBe(count)
      for (const { reviewId, quote } of quotes) {
        const review = MANY.find(({ id }) => id === reviewId)!
        expect(reviewIds).toContain(reviewId)
        expect([review.title, review.text].some((text) => text?.includes(quote))).toBeTrue()
      }
    }
  },
)

slow("the requests for themes continue after the caller has left, and the next call sends no request", async () => {
  const slow = { ...(well(finding) as object), afterMs: 100 } as Script
  const write = writer(8_000, slow)
  const about = nextTask()
  const steps = (each: typeof write) => writeThemes(each, MANY, about)
  expect(await write.inSteps(steps, 1)).toEqual({ state: "pending" })
  await until(async () => {
    const [row] =
      await sql`select count(*) filter (where lease is not null)::int as open, count(*)::int as all from writer_text`
    return standIn.requests.length > 2 && row!.open === 0
  })
  await write.inSteps(steps, 30_000)
  const requests = standIn.requests.length
  expect(await write.inSteps(steps, 30_000)).toMatchObject({ state: "done" })
  expect(standIn.requests.length).toBe(requests)
})

const CALLERS = cases(8, 80)
/** Short runs try every fifth attack. */
const TRIED = ATTACKS.filter((_, n) => n % cases(8, 1) === 0)

slow(`${CALLERS} callers that request the same themes share one set of requests`, async () => {
  const write = writer(100_000)
  const about = nextTask()
  const states = await Promise.all(Array.from({ length: CALLERS }, () => writeThemes(write, MANY, about)))
  expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["done"]))
  expect(standIn.requests.length).toBe(6)
})

slow(
  "a failed part stops the requests for further parts, and the next call requests only the missing parts",
  async () => {
    const about = nextTask()
    const good = well(finding) as { say(lines: Line[]): string }
    const isOf = (lines: Line[]) => lines.some(({ r }) => r === "form")
    let parts = 0
    const third: Script = { say: (lines) => (isOf(lines) || ++parts < 3 ? good.say(lines) : "no") }
    const write = writer(8_000, third)
    expect(await writeThemes(write, MANY, about)).toMatchObject({ state: "failed", why: "unusable" })
    // the first pass, two successful parts, and two tries for each of the four parts in progress
    expect(standIn.requests.length).toBeLessThanOrEqual(1 + 2 + 2 * 4)
    expect((await writeThemes(writer(8_000), MANY, about)).state).toBe("done")
    const missing = standIn.requests.length
    await writeThemes(writer(8_000), MANY, nextTask())
    expect(missing).toBe(standIn.requests.length - 3)
  },
)

test("a failed second pass gives no themes, and the next call does not repeat the first pass", async () => {
  const about = nextTask()
  const good = well(finding) as { say(lines: Line[]): string }
  const failing: Script = { say: (lines) => (lines.some(({ r }) => r === "form") ? good.say(lines) : "no") }
  expect(await writeThemes(writer(100_000, failing), MANY, about)).toEqual({ state: "failed", why: "unusable" })
  const state = await writeThemes(writer(100_000), MANY, about)
  expect(state.state).toBe("done")
  // without repeating the first pass
  expect(standIn.requests.length).toBe(5)
})

/** Returns a writer that judges a model's answer without sending a request. */
function judging(say: (lines: Line[]) => object) {
  const write = async (task: WritingTask<unknown>) => {
    const judged = task.judge(say(task.records as Line[]) as never, true)
    return "value" in judged
      ? { state: "done", ...judged, model: "m", version: 1, at: NOW }
      : { state: "failed", why: "unusable" }
  }
  return Object.assign(write, { isOn: true, contextTokens: 100_000 }) as never
}

test(`${TRIED.length} obeyed attacks, each in one of 200 reviews, change no theme of the other reviews`, async () => {
  const [victim, ...rest] = MANY.slice(0, 200) as [SummedReview, ...SummedReview[]]
  const clean = await writeThemes(judging(finding), [{ ...victim, title: null, text: "…" }, ...rest], nextTask())
  const themesOf = (state: typeof clean) =>
    (state as { value: FinerTheme[] }).value.map(({ label, sentence, reviewIds }) => ({
      label,
      sentence,
      ids: reviewIds.filter((id) => id !== victim.id),
    }))
  for (const [n, attack] of TRIED.entries()) {
    const obeying = (lines: Line[]) => {
      const attackLine = lines.find(({ text }) => text === attack)
      const answer = finding(lines) as { themes?: object[]; assigned?: object[] }
      const quote = { r: attackLine?.r ?? "r1", quote: attack.slice(0, 60) }
      if (answer.themes)
        return {
          themes: [{ quotes: [quote], label: attack.slice(0, 40), sentence: attack.slice(0, 200) }, ...answer.themes],
        }
      // the attacker's own review may be assigned to any theme, and the attacker's invented themes come last
      const themes = lines.flatMap(({ r }) => (/^t\d/.test(r ?? "") ? [r as string] : []))
      return { assigned: [...answer.assigned!, { ...quote, themes }] }
    }
    const good = (lines: Line[]) => {
      const knownLines = lines.filter(
        ({ r, label }) => !/^t\d/.test(r ?? "") || WORDS.some(([, name]) => name === label),
      )
      return obeying(knownLines)
    }
    const state = await writeThemes(judging(good), [{ ...victim, title: null, text: attack }, ...rest], nextTask())
    expect([n, themesOf(state)]).toEqual([n, themesOf(clean)])
  }
})

test("a sample has the same proportions of stars and of times as all reviews", () => {
  const sample = sampleOf(MANY, 150, 1e9)
  expect(new Set(sample.map(({ id }) => id)).size).toBe(150)
  for (const stars of [1, 2, 3, 4, 5]) {
    const share = (of: readonly SummedReview[]) => of.filter((review) => review.stars === stars).length / of.length
    expect(Math.abs(share(sample) - share(MANY))).toBeLessThan(0.02)
  }
  expect(sampleOf(MANY, 150, 2_000).reduce((sum, review) => sum + tokensOfReview(review), 0)).toBeLessThanOrEqual(2_000)
  expect(sampleOf(MANY.toReversed(), 150, 5_000)).toEqual(sampleOf(MANY, 150, 5_000))
  expect(sampleOf(MANY, 150, 1)).toEqual([])
})

test("the parts contain every review once and in order, and no part exceeds its token limit", () => {
  const parts = partsOf(MANY, 100, (size) => 4_000 - 50 * size)
  expect(parts.flat()).toEqual(MANY)
  for (const part of parts) {
    expect(part.length).toBeLessThanOrEqual(100)
    const tokens = part.reduce((sum, review) => sum + tokensOfReview(review), 0)
    expect([part.length, part.length === 1 || tokens <= 4_000 - 50 * part.length]).toEqual([part.length, true])
  }
  expect(wholeText(parts[0]![0]!)).toBe(wholeText(MANY[0]!))
})
