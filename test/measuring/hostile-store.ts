// A separate process, so that its memory and time do not count as the server's. Answers requests with a small page of
// unknown form and, from GET /hostile on, with the next hostile page for the source that parses it: forms that once
// blocked the thread or filled the memory (every third one compressed), bodies above the limit, compressed bombs and a
// broken gzip. GET /given returns the number of answers. Prints its port.
import { brotliCompressSync, constants } from "node:zlib"
import { MAX_XML_BYTES } from "../../src/measuring/parsing/xml.ts"
import { FLOODS } from "../stores/parsing/hostile.ts"

/** Just below the size limit, so that the body is read completely and parsed. */
const PAGE_BYTES = 3_950_000
const XML_BYTES = MAX_XML_BYTES - 10_000
const PAGE_FORMS = [
  "embedded pages",
  "only scripts left open",
  "only scripts of blocks",
  "only scripts without an end of their tag",
  "embedded shelves",
  "a block of texts",
  "a list of empty objects",
  "only escaped quotes",
  "only backslashes",
  "only arrays within arrays",
  "only linked data left open",
  "embedded empty objects",
  "only white space",
]
const XML_FORMS = [
  "only entities left open",
  "a feed of elements",
  "a feed of returns",
  "a hint of entities",
  "only ends of literal text",
  "a list of keys",
  "a feed of entries",
  "a hint of marks",
]
const bodyOf = (name: string, size: number) =>
  Buffer.from(FLOODS.find((form) => form.name === name)!.body(size)) as Buffer<ArrayBuffer>

interface Page {
  body: Uint8Array<ArrayBuffer>
  coding?: string
}

const zeros = Buffer.alloc(200_000_000)
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }
const REFUSED: Page[] = [
  { body: Bun.gzipSync(zeros), coding: "gzip" },
  { body: brotliCompressSync(zeros, brotli) as Buffer<ArrayBuffer>, coding: "br" },
  { body: bodyOf("only white space", 11_900_000) },
  { body: bodyOf("a list of empty objects", 11_900_000) },
  { body: Buffer.from("no gzip"), coding: "gzip" },
]
const pagesOf = (names: readonly string[], size: number) => [
  ...names.map((name, at): Page => {
    const body = bodyOf(name, size)
    return at % 3 === 2 ? { body: Bun.gzipSync(body), coding: "gzip" } : { body }
  }),
  ...REFUSED,
]
const PAGES = { xml: pagesOf(XML_FORMS, XML_BYTES), other: pagesOf(PAGE_FORMS, PAGE_BYTES) }
const served = { xml: 0, other: 0 }
let hostile = false
const { port } = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const all = served.xml + served.other
    if (url.endsWith("/given")) return Response.json(all)
    if (url.endsWith("/hostile")) {
      hostile = true
      return Response.json({ given: all, pages: PAGES.xml.length + PAGES.other.length })
    }
    const read = /hints|customerreviews/.test(url) ? "xml" : "other"
    const { body, coding } = PAGES[read][served[read]++ % PAGES[read].length]!
    if (!hostile) return new Response("<html><body>nothing</body></html>")
    return new Response(body, coding === undefined ? {} : { headers: { "content-encoding": coding } })
  },
})
process.stdout.write(`${port}\n`)
