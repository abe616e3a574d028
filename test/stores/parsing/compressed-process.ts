// Reads every URL in its arguments as a response of a store and as one of a language model. Prints both outcomes and
// the growth of the process, one line of JSON each. Runs under Bun and Deno.
import process from "node:process"
import { appleStoreSearch } from "../../../src/keywords/sources/apple-store-search.ts"
import { type ReadFailure, readOnce } from "../../../src/measuring/source.ts"
import { postJson } from "../../../src/outbound/providers/post.ts"

const world = {
  fetch: (url: string, init: RequestInit) => fetch(url, init),
  now: () => new Date(),
  signal: new AbortController().signal,
}

for (const address of process.argv.slice(2)) {
  const before = process.memoryUsage().rss
  const read = readOnce(
    appleStoreSearch,
    { storefront: "us", term: "sleep sounds" },
    {
      ...world,
      address: () => address,
      egress: undefined,
      timeoutMs: 20_000,
    },
  )
  const outcome = await read.then(
    ({ seen: reading }) => reading.kind,
    (failure: ReadFailure) => `${failure.outcome}: ${failure.message}`,
  )
  const posted = await postJson({ url: address, headers: {}, body: {} }, world)
  const model = "failed" in posted ? posted.failed : "read"
  console.log(JSON.stringify({ outcome, model, grownMb: (process.memoryUsage().rss - before) / 1e6 }))
}
