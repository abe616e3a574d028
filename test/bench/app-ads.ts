// bun test/bench/app-ads.ts [inputs = 100000] — parses garbled app-ads.txt files (no file may throw or be misread), and
// measures how many records per second are parsed from a file of 5,000 records.

import { parseAppAds } from "../../src/listings/sources/app-ads.ts"
import { appAdsInputs, expectAppAds } from "../stores/parsing/app-ads-inputs.ts"

const COUNT = Number(process.argv[2] ?? 100_000)

let read = 0
let wrong = 0
for (const input of appAdsInputs(COUNT, 7)) {
  try {
    expectAppAds(input)
    if (parseAppAds(input).records.length > 0) read++
  } catch (error) {
    wrong++
    console.log(`WRONG ${(error as Error).message}`)
  }
}
console.log(`${COUNT} inputs, ${read} with records, ${wrong} wrong`)

const file = Array.from({ length: 5_000 }, (_, at) => `system${at % 480}.com, ${at}, RESELLER, f08c47fec0942fa0`).join(
  "\n",
)
const startedAt = performance.now()
let times = 0
for (; performance.now() - startedAt < 1_000; times++) parseAppAds(file)
console.log(`${Math.round((times * 5_000_000) / (performance.now() - startedAt))} records a second`)
process.exit(wrong === 0 ? 0 : 1)
