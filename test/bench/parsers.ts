// bun test/bench/parsers.ts [mutations = 100000] [source] — every parser on mutated bodies: how often it succeeds, and
// how often it reports each fault; and bodies parsed a second, as a ratio to JSON.parse of the same body's JSON.

import { islandsOf } from "../stores/parsing/islands.ts"
import { expectTypedOrFaithful, type Tally } from "../stores/parsing/mutations.ts"
import type { Parsed } from "../stores/parsing/parsed.ts"
import { fixture, PARSED } from "../stores/parsing/parsed.ts"

const COUNT = Number(process.argv[2] ?? 100_000)
const only = process.argv[3]
const provenance = { seenAt: new Date(), sha256: new Uint8Array(32) }
let wrong = 0

const bySource = Map.groupBy(
  PARSED.filter(({ source }) => only === undefined || source.name === only),
  ({ source }) => source.name,
)
for (const [name, bodies] of bySource) {
  // the mutations of a source are distributed over its bodies
  const tallies = bodies.map((parsed, place) => tallyOf(parsed, Math.ceil(COUNT / bodies.length), place + 1))
  console.log(`${name}: ${describe(tallies)}`)
  for (const parsed of bodies) console.log(`  ${parsed.fixture}: ${speedOf(parsed)}`)
}
process.exit(wrong === 0 ? 0 : 1)

function tallyOf(
  { source, subject: question, fixture: file, as }: Parsed,
  count: number,
  seed: number,
): Partial<Tally> {
  try {
    return expectTypedOrFaithful(source, question, fixture(file), { as, count, seed })
  } catch (error) {
    wrong++
    console.log(`WRONG ${file}: ${(error as Error).message}`)
    return {}
  }
}

function describe(tallies: Partial<Tally>[]): string {
  const sums = new Map<string, number>()
  for (const tally of tallies) {
    for (const [outcome, times] of Object.entries(tally)) sums.set(outcome, (sums.get(outcome) ?? 0) + times)
  }
  const all = [...sums.values()].reduce((sum, times) => sum + times, 0)
  const parts = [...sums].filter(([, times]) => times > 0).map(([outcome, times]) => `${times} ${outcome}`)
  return `${all} mutations, ${parts.join(", ")}`
}

function speedOf({ source, subject: question, fixture: file, as }: Parsed): string {
  const body = fixture(file)
  const islands = islandsOf(body, as).map(({ start, end }) => body.slice(start, end))
  const rate = perSecond(() => {
    try {
      source.parse(body, question, provenance)
    } catch {
      // an invalid body is timed as well
    }
  })
  const size = `${(body.length / 1_000).toFixed(1)} KB, ${Math.round(rate)} a second`
  if (islands.length === 0) return size
  const bare = perSecond(() => islands.map((json) => JSON.parse(json)))
  return `${size}, ${(rate / bare).toFixed(2)} of JSON.parse (${Math.round(bare)})`
}

function perSecond(work: () => unknown): number {
  for (let i = 0; i < 20; i++) work()
  const started = performance.now()
  let done = 0
  for (; performance.now() - started < 500; done++) work()
  return (done * 1_000) / (performance.now() - started)
}
