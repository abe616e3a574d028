import { expect, setDefaultTimeout, test } from "bun:test"
import type { ReadFailure } from "../../src/sources/source.ts"
import { expectTypedOrFaithful, mutations } from "./mutations.ts"
import { fixture, PARSED, type Parsed } from "./parsed.ts"
import { about, renumbered } from "./play-pages.ts"

setDefaultTimeout(60_000)

const bodies = PARSED.filter(({ fixture }) => fixture.startsWith("play-"))

for (const { source, asked, fixture: name, as } of bodies) {
  test(`${name}, changed in 2,000 ways: a typed failure, or values that stand in the body`, () => {
    const tally = expectTypedOrFaithful(source, asked, fixture(name), { as, count: 2_000 })
    expect(tally.read).toBeGreaterThan(200)
    expect(tally.changed).toBeGreaterThan(200)
  })
}

const pages = bodies.filter(({ as }) => as === "html-json")

for (const page of pages) {
  test(`${page.fixture}, changed in any way and with its blocks numbered otherwise, gives the same or no values`, () => {
    const alike = { same: 0, lost: 0 }
    for (const { body, did } of mutations(fixture(page.fixture), { seed: 11, count: 400, as: page.as })) {
      const [before, after] = [
        verdict(page, body),
        verdict(
          page,
          renumbered(body, (old) => (old * 5 + 3) % 13),
        ),
      ]
      if (before === after) alike.same++
      // without its table a page is read by the recorded numbers, which it no longer has
      else if (after === "changed" && !/AF_dataServiceRequests = \{.*(lGYRle|Ws7gDc)/.test(body)) alike.lost++
      else throw new Error(`${did}: ${before.slice(0, 200)}, then ${after.slice(0, 200)}`)
    }
    expect(alike.same).toBeGreaterThan(350)
    expect(alike.same + alike.lost).toBe(400)
  })
}

function verdict({ source, asked }: Parsed, body: string): string {
  try {
    return JSON.stringify(source.parse(body, asked, about))
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}
