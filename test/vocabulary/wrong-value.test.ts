import { expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import { checkInput } from "../../src/check-input.ts"
import { Fault } from "../../src/faults.ts"
import type { Operation } from "../../src/operation.ts"
import { queryInput } from "../../src/surfaces/query.ts"

const operation = (id: string) => catalog.find((one) => one.id === id) as Operation

function refusal(ask: () => unknown): Record<string, unknown> {
  try {
    ask()
  } catch (error) {
    if (error instanceof Fault) return error.body("http://localhost") as unknown as Record<string, unknown>
    throw error
  }
  throw new Error("nothing was refused")
}

const asked = (id: string, query: string) =>
  refusal(() => checkInput(operation(id), { ...queryInput(operation(id), query, { appId: "a" }), appId: "a" })).detail

test("a wrong value is answered with what is allowed instead", () => {
  expect(asked("list_keyword_ranks", "platform=web")).toBe("platform must be one of ios, android.")
  expect(asked("get_review_stats", "days=366")).toBe("days must be a whole number from 1 to 365.")
  expect(asked("get_review_stats", "days=ten")).toBe("days must be a whole number from 1 to 365.")
  expect(asked("search_reviews", "rating=6")).toBe("rating must be a list of 1 to 5, each a whole number from 1 to 5.")
  expect(asked("get_keyword_competition", `terms=${"x".repeat(151)}`)).toBe(
    "terms must be a list of 1 to 100, each text of 1 to 150 characters.",
  )
  expect(asked("search_reviews", "to=2025-02-30")).toBe("to must be a day that there is, YYYY-MM-DD.")
  expect(asked("list_keyword_ranks", "country=us&country=de")).toBe("country came more than once.")
})

test("an empty value is answered with what may be done instead, whatever its code", () => {
  expect(asked("list_keyword_ranks", "country=")).toBe("country is empty: leave it out, or give it a value.")
  expect(asked("get_review_stats", "days=")).toBe(
    "days is empty: leave it out, or give it a value. It must be a whole number from 1 to 365.",
  )
})

test("a name that no argument has is answered with those there are, and with the one that was likely meant", () => {
  expect(asked("list_keyword_ranks", "contry=us")).toBe(
    "There is no such argument: the call takes appId, country, platform. Is country meant?",
  )
  expect(refusal(() => checkInput(operation("list_keyword_ranks"), { appid: "a" })).detail).toBe(
    "appId is missing: it must be text of 1 to 64 characters.",
  )
})

test("no refusal of a value holds text of the caller, and every one names what is allowed", () => {
  const taking = [...catalog, ...actions.map(({ args, refine }) => ({ input: args, refine }) as unknown as Operation)]
  for (const one of taking) {
    const unknown = refusal(() => checkInput(one, { "<b>SECRET": 1 }))
    expect(String(unknown.detail)).not.toContain("SECRET")
    for (const name of Object.keys(one.input.entries)) {
      const { detail } = refusal(() => checkInput({ input: one.input }, { [name]: { secret: "SECRET" }, SECRET: 1 }))
      expect([name, String(detail).includes("SECRET")]).toEqual([name, false])
    }
  }
})
