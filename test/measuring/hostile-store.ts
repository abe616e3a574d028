// A separate process, so that the memory and time it takes to send are not the server's. Answers every request with a small
// page of no known form, and from GET /hostile on with the next hostile page: forms that once held the thread or filled the
// memory (every third one compressed), bodies above the limit, compressed bombs and a broken gzip. GET /given returns the
// number of answers. Prints its port.
import { brotliCompressSync, constants } from "node:zlib"
import { FLOODS } from "../sources/hostile.ts"

/** Just below the limit of a body, so that it is read whole and parsed. */
const SIZE = 3_950_000
const NAMES = [
  "only scripts left open",
  "only scripts without an end of their tag",
  "only scripts of blocks",
  "only arrays within arrays",
  "a list of empty objects",
  "only escaped quotes",
  "only backslashes",
  "a feed of elements",
  "a feed of entities",
  "a hint of entities",
  "a hint of marks",
  "only linked data left open",
  "embedded empty objects",
  "only white space",
]
const bodyOf = (name: string, size: number) =>
  Buffer.from(FLOODS.find((form) => form.name === name)!.body(size)) as Buffer<ArrayBuffer>

interface Page {
  body: Uint8Array<ArrayBuffer>
  coding?: string
}

const zeros = Buffer.alloc(200_000_000)
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }
const PAGES: Page[] = [
  { body: Bun.gzipSync(zeros), coding: "gzip" },
  { body: brotliCompressSync(zeros, brotli) as Buffer<ArrayBuffer>, coding: "br" },
  ...NAMES.map((name, at): Page => {
    const body = bodyOf(name, SIZE)
    return at % 3 === 2 ? { body: Bun.gzipSync(body), coding: "gzip" } : { body }
  }),
  { body: bodyOf("only white space", 11_900_000) },
  { body: bodyOf("a list of empty objects", 11_900_000) },
  { body: Buffer.from("no gzip"), coding: "gzip" },
]

let given = 0
let hostile = false
const { port } = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    if (url.endsWith("/given")) return Response.json(given)
    if (url.endsWith("/hostile")) {
      hostile = true
      return Response.json({ given, pages: PAGES.length })
    }
    const { body, coding } = PAGES[given++ % PAGES.length]!
    if (!hostile) return new Response("<html><body>nothing</body></html>")
    return new Response(body, coding === undefined ? {} : { headers: { "content-encoding": coding } })
  },
})
process.stdout.write(`${port}\n`)
