import { expect, setDefaultTimeout, test } from "bun:test"
import { expectTypedOrFaithful } from "./mutations.ts"
import { fixture, PARSED } from "./parsed.ts"

setDefaultTimeout(60_000)

for (const { source, asked, fixture: name, as } of PARSED) {
  if (!name.includes("-reviews-")) continue
  test(`${name}, changed in 2,000 ways: a typed failure, or values that stand in the body`, () => {
    const tally = expectTypedOrFaithful(source, asked, fixture(name), { as, count: 2_000 })
    expect(tally.read).toBeGreaterThan(200)
    expect(tally.changed).toBeGreaterThan(200)
  })
}
