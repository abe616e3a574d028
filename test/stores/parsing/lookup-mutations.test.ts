import { expect, setDefaultTimeout, test } from "bun:test"
import { cases } from "../../long.ts"
import { expectTypedOrFaithful } from "./mutations.ts"
import { fixture, PARSED } from "./parsed.ts"

setDefaultTimeout(60_000)

const COUNT = cases(50, 300)

// The largest body of each source, because the others have hardly anything to change.
const BODIES = ["itunes-lookup-338986109-fr.json", "itunes-search-deliveries-us-cut3.json", "apple-hints-tide-us.plist"]

for (const { source, subject, fixture: name, as } of PARSED.filter(({ fixture }) => BODIES.includes(fixture))) {
  test(`${source.name} of ${name}, mutated in ${COUNT} ways, gives a typed failure or values of the body`, () => {
    const tally = expectTypedOrFaithful(source, subject, fixture(name), { as, count: COUNT })
    expect(tally.read).toBeGreaterThan(COUNT / 10)
    expect(tally.changed).toBeGreaterThan(COUNT / 10)
  })
}
