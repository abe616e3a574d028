import { expect, setDefaultTimeout, test } from "bun:test"
import type { ReadFailure } from "../../../src/measuring/source.ts"
import { cases } from "../../long.ts"
import { expectTypedOrFaithful, mutations } from "./mutations.ts"
import { fixture, PARSED, type Parsed } from "./parsed.ts"
import { about, renumbered } from "./play-pages.ts"

setDefaultTimeout(60_000)

const COUNT = cases(50, 200)

const bodies = PARSED.filter(({ fixture }) => fixture.startsWith("play-"))

for (const { source, subject, fixture: name, as } of bodies) {
  test(`${name}, mutated in ${COUNT} ways, gives a typed failure or values of the body`, () => {
    const tally = expectTypedOrFaithful(source, subject, fixture(name), { as, count: COUNT })
    expect(tally.read).toBeGreaterThan(COUNT / 10)
    expect(tally.changed).toBeGreaterThan(COUNT / 10)
  })
}

const pages = bodies.filter(({ as }) => as === "html-json")

const FEWER = cases(25, 80)

for (const page of pages) {
  test(`${page.fixture}, mutated and with renumbered blocks, gives the same values or fails as changed`, () => {
    const alike = { same: 0, lost: 0 }
    for (const { body, did } of mutations(fixture(page.fixture), { seed: 11, count: FEWER, as: page.as })) {
      const [before, after] = [
        verdict(page, body),
        verdict(
          page,
          renumbered(body, (old) => (old * 5 + 3) % 13),
        ),
      ]
      if (before === after) alike.same++
      // Without its table, a page is read by the recorded block numbers, which no longer match.
      else if (after === "changed" && !/AF_dataServiceRequests = \{.*(lGYRle|Ws7gDc)/.test(body)) alike.lost++
      else throw new Error(`${did}: ${before.slice(0, 200)}, then ${after.slice(0, 200)}`)
    }
    expect(alike.same).toBeGreaterThan((FEWER * 7) / 8)
    expect(alike.same + alike.lost).toBe(FEWER)
  })
}

function verdict({ source, subject }: Parsed, body: string): string {
  try {
    return JSON.stringify(source.parse(body, subject, about))
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}
