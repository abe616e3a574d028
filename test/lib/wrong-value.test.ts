import { expect, test } from "bun:test"
import fc from "fast-check"
import { actions, catalog } from "../../src/catalog.ts"
import { checkArguments, checkInput } from "../../src/core/check-input.ts"
import type { Operation } from "../../src/core/operation.ts"
import { queryInput } from "../../src/http/query.ts"
import { Fault } from "../../src/lib/faults.ts"
import { cases, slow } from "../long.ts"

const operation = (id: string) => catalog.find((candidate) => candidate.id === id) as Operation

function refusal(ask: () => unknown): Record<string, unknown> {
  try {
    ask()
  } catch (error) {
    if (error instanceof Fault) return error.body("http://localhost") as unknown as Record<string, unknown>
    throw error
  }
  throw new Error("nothing was refused")
}

const refusalOf = (id: string, query: string) =>
  refusal(() => checkInput(operation(id), { ...queryInput(operation(id), query, { appId: "a" }), appId: "a" })).detail

test("a wrong value is refused with the received value and the allowed ones", () => {
  expect(refusalOf("list_keyword_ranks", "platform=web")).toBe('platform must be one of ios, android; received "web".')
  expect(refusalOf("list_keyword_ranks", "platform=IOS")).toBe(
    'platform must be one of ios, android; received "IOS". Did you mean ios?',
  )
  expect(refusalOf("list_keyword_ranks", "platform=andriod")).toBe(
    'platform must be one of ios, android; received "andriod". Did you mean android?',
  )
  expect(refusalOf("get_review_stats", "days=366")).toBe("days must be a whole number from 1 to 365; received 366.")
  expect(refusalOf("get_review_stats", "days=ten")).toBe('days must be a whole number from 1 to 365; received "ten".')
  expect(refusalOf("search_reviews", "rating=1,6")).toBe(
    "rating must be a list of 1 to 5, each a whole number from 1 to 5, none twice; received 6 as item 2.",
  )
  expect(refusalOf("get_keyword_competition", `terms=${"x".repeat(151)}`)).toBe(
    "terms must be a list of 1 to 100, each text of 1 to 150 characters; received text of 151 characters as item 1.",
  )
  expect(refusalOf("search_reviews", "to=2025-02-30")).toBe(
    'to must be an existing day, YYYY-MM-DD; received "2025-02-30".',
  )
  expect(refusalOf("list_keyword_ranks", "country=usa")).toBe(
    `country cannot be "usa". Two-letter storefront code. Default: the app's first storefront.`,
  )
  expect(refusalOf("list_keyword_ranks", "country=us&country=de")).toBe(
    "country was sent more than once. Send it once.",
  )
})

test("an empty value is refused with what the caller can do instead, whatever the error code", () => {
  expect(refusalOf("list_keyword_ranks", "country=")).toStartWith("country is empty. Omit it or give it a value.")
  expect(refusalOf("get_review_stats", "days=")).toBe(
    "days is empty. Omit it or give it a value. It must be a whole number from 1 to 365.",
  )
})

test("an unknown argument is refused with the existing names and the name that was probably meant", () => {
  expect(refusalOf("list_keyword_ranks", "contry=us")).toBe(
    "Unknown argument. This call takes appId, country, platform, adsPopularity, fields. Did you mean country?",
  )
  expect(refusal(() => checkInput(operation("list_keyword_ranks"), { appid: "a" })).detail).toBe(
    "appId is missing. App id from list_apps.",
  )
})

test("all problems of a call are reported together, and the first problem decides the error code", () => {
  const { problems, ...first } = refusal(() =>
    checkInput(operation("get_chart_movers"), {
      appId: "a",
      country: "usa",
      days: 900,
      limit: 25,
      colour: 1,
      kindd: "free",
    }),
  ) as { problems: { field: string; code: string; detail: string }[] }
  expect(problems.map(({ field, code }) => [field, code])).toEqual([
    ["country", "bad_country"],
    ["days", "bad_days"],
    ["colour", "invalid_arguments"],
    ["kindd", "invalid_arguments"],
  ])
  expect(first).toMatchObject({ error: "bad_country", field: "country", detail: problems[0]!.detail })
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`unknown${i}`, i]))
  const body = refusal(() => checkInput(operation("whoami"), many))
  expect((body.problems as unknown[]).length).toBe(20)
})

slow("quoted values are short, on one line, and never a key or free text", () => {
  const key = `svc_live_${"a".repeat(36)}`
  const problemsOf = (raw: object) =>
    JSON.stringify(refusal(() => checkInput(operation("get_chart_movers"), { appId: "a", ...raw })))
  fc.assert(
    fc.property(
      fc.constantFrom("country", "kind", "genre", "days"),
      fc.string({ unit: "binary", minLength: 45, maxLength: 300 }),
      (name, text) => {
        const body = JSON.parse(problemsOf({ [name]: text }))
        for (const { detail } of body.problems) {
          expect(detail).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
          expect([...detail].length).toBeLessThan(400)
        }
      },
    ),
    { seed: 13, numRuns: cases(60, 500) },
  )
  for (const name of ["country", "kind", "genre", "days"])
    expect(problemsOf({ [name]: key })).not.toContain("svc_live_")
  const secret = "hunter2 hunter2"
  const shared = { action: "create_share_link", args: { appId: "a", country: "us", password: secret.repeat(20) } }
  expect(JSON.stringify(refusal(() => checkInput(operation("preview_action"), shared)))).not.toContain("hunter2")
})

test("no refusal contains the contents of a caller's object, and no sentence repeats an unknown name", () => {
  const taking = [...catalog, ...actions.map(({ args, refine }) => ({ input: args, refine }) as unknown as Operation)]
  for (const withInput of taking) {
    const unknown = refusal(() => checkInput(withInput, { "<b>SECRET": 1 }))
    expect(String(unknown.detail)).not.toContain("SECRET")
    for (const name of Object.keys(withInput.input.entries)) {
      const { detail } = refusal(() =>
        checkArguments({ input: withInput.input }, { [name]: { secret: "SECRET" }, SECRET: 1 }),
      )
      expect([name, String(detail).includes("SECRET")]).toEqual([name, false])
    }
  }
})
