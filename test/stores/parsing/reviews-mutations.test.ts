import { expect, setDefaultTimeout, test } from "bun:test"
import { cases } from "../../long.ts"
import { expectTypedOrFaithful } from "./mutations.ts"
import { fixture, PARSED } from "./parsed.ts"

setDefaultTimeout(60_000)

const COUNT = cases(80, 300)

for (const { source, subject, fixture: name, as } of PARSED) {
  if (!name.includes("-reviews-")) continue
  test(`${name}, mutated in ${COUNT} ways, gives a typed failure or values of the body`, () => {
    const tally = expectTypedOrFaithful(source, subject, fixture(name), { as, count: COUNT })
    expect(tally.read).toBeGreaterThan(COUNT / 10)
    expect(tally.changed).toBeGreaterThan(COUNT / 10)
  })
}
