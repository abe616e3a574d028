// A process of its own, so that what it takes to send is nobody else's: answers every request with a small page that nobody
// knows, and from GET /hostile on with the next hostile page of 8 MB, every third of them packed. GET /given says how many
// were given. Prints its port.
import { FLOODS } from "../sources/hostile.ts"

const SIZE = 8_000_000
/** What held the thread or filled the memory before, and what comes close. */
const NAMES = [
  "only scripts left open", "only scripts without an end of their tag", "only scripts of blocks", "only arrays within arrays",
  "a list of empty objects", "only escaped quotes", "only backslashes", "a feed of elements", "a feed of entities",
  "a hint of entities", "a hint of marks", "only linked data left open", "embedded empty objects", "only white space",
] // biome-ignore format: a list to scan
const BODIES = NAMES.map((name) => Buffer.from(FLOODS.find((form) => form.name === name)!.body(SIZE)))
/** Made when they are asked for: each takes a quarter of a second. */
const PACKED: Uint8Array<ArrayBuffer>[] = []

let given = 0
let hostile = false
const { port } = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    if (url.endsWith("/given")) return Response.json(given)
    if (url.endsWith("/hostile")) {
      hostile = true
      return Response.json(given)
    }
    const at = given++ % BODIES.length
    if (!hostile) return new Response("<html><body>nothing</body></html>")
    if (given % 3 > 0) return new Response(BODIES[at])
    PACKED[at] ??= Bun.gzipSync(BODIES[at]!)
    return new Response(PACKED[at], { headers: { "content-encoding": "gzip" } })
  },
})
process.stdout.write(`${port}\n`)
