import { describe, expect, test } from "bun:test"
import type { Call } from "./calls.ts"
import { makeComparer } from "./compare.ts"
import { type Intended, isIntended } from "./intended.ts"
import { Report } from "./report.ts"
import type { Answer } from "./server.ts"

const STARTED = new Date("2026-03-01T12:00:00Z")
const CALL: Call = {
  operation: "list_apps",
  surface: "rest",
  state: "base",
  method: "GET",
  path: "/v1/apps",
  key: "full",
  account: "full",
}

function answer(body: unknown, { status = 200, headers = {} as Record<string, string> } = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, text: JSON.stringify(body) }
}

function differencesOf(old: Answer, next: Answer, { texts = false } = {}) {
  return makeComparer({ texts, startedAt: STARTED })
    .compare(CALL, old, next)
    .map(({ path, old: before, new: after }) => [path, before, after])
}

describe("the comparison of two builds", () => {
  test("a changed, a missing and an added field are each reported at their path", () => {
    const old = answer({ apps: [{ rank: 3, gone: 1 }] })
    const next = answer({ apps: [{ rank: 4, added: null }] })
    expect(differencesOf(old, next)).toEqual([
      ["body.apps[].rank", 3, 4],
      ["body.apps[].gone", 1, undefined],
      ["body.apps[].added", undefined, null],
    ])
  })

  test("null, zero and a missing field are three different values", () => {
    expect(differencesOf(answer({ rank: null }), answer({ rank: 0 }))).toEqual([["body.rank", null, 0]])
    expect(differencesOf(answer({ rank: null }), answer({}))).toEqual([["body.rank", null, undefined]])
  })

  test("a different status is reported as one difference, with the error codes", () => {
    const old = answer({ apps: [] })
    const next = answer({ error: "not_found", message: "No." }, { status: 404 })
    expect(differencesOf(old, next)).toEqual([["status", "200", "404 not_found"]])
  })

  test("a different price is reported once, and the later totals that follow from it are not reported", () => {
    const comparer = makeComparer({ texts: false, startedAt: STARTED })
    const used = (credits: number) =>
      answer({ credits: { used: credits } }, { headers: { "x-credits-used": String(credits) } })
    const paths = (old: Answer, next: Answer) => comparer.compare(CALL, old, next).map(({ path }) => path)
    expect(paths(used(1), used(1))).toEqual([])
    expect(paths(used(2), used(3))).toContain("header x-credits-used")
    expect(paths(used(3), used(4))).toEqual([])
    expect(paths(used(4), used(6))).toContain("header x-credits-used")
  })

  test("random ids may differ, but each id of a build always corresponds to the same id of the other build", () => {
    const ids = (first: string, second: string) => answer({ ids: [first, second] })
    expect(
      differencesOf(ids("app_4fD0Zs81hQbK", "app_4fD0Zs81hQbK"), ids("app_9aX2Ls71hQcc", "app_9aX2Ls71hQcc")),
    ).toEqual([])
    expect(
      differencesOf(ids("app_4fD0Zs81hQbK", "app_4fD0Zs81hQbK"), ids("app_9aX2Ls71hQcc", "app_1bX2Ls71hQcc")),
    ).toHaveLength(1)
    expect(differencesOf(ids("app_4fD0Zs81hQbK", ""), ids("key_9aX2Ls71hQcc", ""))).toHaveLength(1)
  })

  test("a measured time must be equal, and a time generated during the run may differ by seconds", () => {
    const at = (time: string) => answer({ at: time })
    expect(differencesOf(at("2026-02-28T03:10:01.530Z"), at("2026-02-28T03:10:02.530Z"))).toHaveLength(1)
    expect(differencesOf(at("2026-03-01T12:00:10Z"), at("2026-03-01T12:00:12Z"))).toEqual([])
    expect(differencesOf(at("2026-03-01T12:00:10Z"), at("2026-03-01T13:00:12Z"))).toHaveLength(1)
  })

  test("sentences are compared only with --texts, and short values are always compared", () => {
    const old = answer({ error: "bad_country", detail: "uk is no storefront here", state: "not measured" })
    const next = answer({ error: "bad_country", detail: "The United Kingdom is gb.", state: "unmeasured" })
    expect(differencesOf(old, next)).toEqual([["body.state", "not measured", "unmeasured"]])
    expect(differencesOf(old, next, { texts: true })).toHaveLength(2)
  })

  test("JSON inside a text of a tool's answer is compared field by field", () => {
    const tool = (rank: number) => answer({ result: { content: [{ type: "text", text: JSON.stringify({ rank }) }] } })
    expect(differencesOf(tool(3), tool(4))).toEqual([["body.result.content[].text.rank", 3, 4]])
  })

  test("for lists of different lengths, the items that only one list has are named", () => {
    const [[path, old, next]] = differencesOf(answer({ a: [1, 2] }), answer({ a: [1, 2, 3] })) as [
      [string, string, string],
    ]
    expect([path, old, next]).toEqual(["body.a[] length", "2", "3, with 3"])
  })

  test("a missing, added or changed header is reported; dates and random ids are not", () => {
    const old = answer({}, { headers: { vary: "accept", date: "a", "x-request-id": "1", ratelimit: '"key";r=9;t=1' } })
    const next = answer({}, { headers: { allow: "GET", date: "b", "x-request-id": "2", ratelimit: '"key";r=4;t=1' } })
    expect(differencesOf(old, next).map(([path]) => path)).toEqual(["header allow", "header vary"])
  })
})

describe("the list of intended differences", () => {
  const entry: Intended = {
    id: "head-is-405",
    why: "HEAD is refused.",
    issue: "38, contract 12",
    where: { operation: ["list_apps"], path: "status", old: "200", new: /^405/ },
  }
  const difference = { ...CALL, path: "status", old: "200", new: "405 method_not_allowed", call: "rest HEAD /v1/apps" }

  test("an entry matches only if all of its conditions match", () => {
    expect(isIntended(entry, difference)).toBe(true)
    expect(isIntended(entry, { ...difference, operation: "get_app" })).toBe(false)
    expect(isIntended(entry, { ...difference, path: "error" })).toBe(false)
    expect(isIntended(entry, { ...difference, new: "500" })).toBe(false)
  })

  test("an entry that matched no difference fails a complete run, and the failure names it", () => {
    const report = new Report([entry])
    report.add("rest", [])
    const lines: string[] = []
    const counts = report.print((line) => lines.push(line), { isComplete: true })
    expect(counts).toEqual({ passed: 1, failed: 1 })
    expect(lines.join("\n")).toContain('Stale: "head-is-405" matched nothing')
    expect(report.print(() => {}, { isComplete: false })).toEqual({ passed: 1, failed: 0 })
  })

  test("a call with both an intended and an unintended difference fails", () => {
    const report = new Report([entry])
    report.add("rest", [difference])
    report.add("rest", [difference, { ...difference, path: "header allow" }])
    expect(report.print(() => {}, { isComplete: true })).toEqual({ passed: 1, failed: 1 })
  })
})
