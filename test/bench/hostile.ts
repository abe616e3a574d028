// bun test/bench/hostile.ts [source] — parses every hostile form in every body of every parser, of 1, 2, 4 and 8 MB.
// Prints forms that take over 20 ms a MB, and forms whose time per MB grows with the body.

import { FLOODS, intrusions, longTexts } from "../stores/parsing/hostile.ts"
import { fixture, PARSED } from "../stores/parsing/parsed.ts"

const MB = 1_048_576
const only = process.argv[2]
const provenance = { seenAt: new Date(), sha256: new Uint8Array(32) }

for (const { source, subject: question, fixture: file, as } of PARSED) {
  if (only !== undefined && source.name !== only) continue
  const body = fixture(file)
  const places = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1].map((part) => Math.floor(part * body.length))
  const ms = (text: string) => {
    const startedAt = performance.now()
    try {
      source.parse(text, question, provenance)
    } catch {
      // most are invalid answers
    }
    return performance.now() - startedAt
  }
  let [forms, worst] = [0, 0]
  for (const form of [...FLOODS, ...intrusions(body, places)]) {
    const times = [1, 2, 4, 8].map((mb) => ms(form.body(mb * MB)) / mb)
    forms++
    worst = Math.max(worst, ...times)
    if (times.at(-1)! > 20)
      console.log(`${file} | ${form.name}: ${times.map((perMb) => perMb.toFixed(1)).join(", ")} ms a MB`)
  }
  for (const form of longTexts(body, as)) {
    const perMb = ms(form.body(MB / 16)) * 16
    forms++
    if (perMb > 500) console.log(`${file} | ${form.name}: ${perMb.toFixed(1)} ms a MB, of 64 KB`)
  }
  console.log(`${file}: ${forms} forms, ${worst.toFixed(1)} ms a MB at worst`)
}
