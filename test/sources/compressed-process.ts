// Reads one store answer of every address in its arguments and prints the outcome of each and how far the process grew, a
// line of JSON each. Runs under Bun and Deno.
import process from "node:process"
import { appleStoreSearch } from "../../src/sources/apple/store-search.ts"
import { type ReadFailure, readOnce } from "../../src/sources/source.ts"

for (const address of process.argv.slice(2)) {
  const before = process.memoryUsage().rss
  const read = readOnce(
    appleStoreSearch,
    { storefront: "us", term: "sleep sounds" },
    {
      address: () => address,
      fetch: (url, init) => fetch(url, init),
      now: () => new Date(),
      egress: undefined,
      signal: new AbortController().signal,
      timeoutMs: 20_000,
    },
  )
  const outcome = await read.then(
    ({ seen }) => seen.kind,
    (failure: ReadFailure) => `${failure.outcome}: ${failure.message}`,
  )
  console.log(JSON.stringify({ outcome, grownMb: (process.memoryUsage().rss - before) / 1e6 }))
}
