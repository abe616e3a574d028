import { afterAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib"
import { denoBinary, noDeno } from "../../deno-process.ts"
import { slow } from "../../long.ts"
import { fixture } from "./parsed.ts"

const BODY = fixture("apple-store-search-us.json")
const ZEROS = Buffer.alloc(200_000_000)
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }
const PAGES: Record<string, { coding: string; body: () => Uint8Array; outcome: string }> = {
  gzip: { coding: "gzip", body: () => gzipSync(BODY), outcome: "search" },
  brotli: { coding: "br", body: () => brotliCompressSync(BODY, fast), outcome: "search" },
  deflate: { coding: "deflate", body: () => deflateSync(BODY), outcome: "search" },
  plain: { coding: "identity", body: () => Buffer.from(BODY), outcome: "search" },
  "gzip-bomb": { coding: "gzip", body: () => gzipSync(ZEROS), outcome: "changed: more than 4000000 bytes" },
  "brotli-bomb": {
    coding: "br",
    body: () => brotliCompressSync(ZEROS, fast),
    outcome: "changed: more than 4000000 bytes",
  },
  false: {
    coding: "gzip",
    body: () => Buffer.from("no gzip"),
    outcome: "failed: its body is incomplete, or not in the content coding that it names",
  },
  cut: {
    coding: "gzip",
    body: () => gzipSync(BODY).subarray(0, 2_000),
    outcome: "failed: its body is incomplete, or not in the content coding that it names",
  },
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const page = PAGES[new URL(url).pathname.split("/")[1]!]!
    return new Response(page.body() as Uint8Array<ArrayBuffer>, { headers: { "content-encoding": page.coding } })
  },
})
afterAll(() => server.stop(true))

const script = join(import.meta.dirname, "compressed-process.ts")

async function read(program: string[]) {
  const addresses = Object.keys(PAGES).map((name) => `http://127.0.0.1:${server.port}/${name}`)
  const child = Bun.spawn([...program, script, ...addresses], { stdout: "pipe", stderr: "pipe" })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const lines = out.trim().split("\n")
  return { lines: lines.map((line) => JSON.parse(line) as { outcome: string; model: string; grownMb: number }), err }
}

const MODEL_OUTCOMES = ["read", "read", "read", "read", "unreadable", "unreadable", "busy", "busy"]
const OUTCOMES = Object.values(PAGES).map(({ outcome }) => outcome)

describe("a compressed response of a store or a language model", () => {
  slow("a compressed response is inflated only up to its size limit, and a wrong coding prints no error", async () => {
    const { lines, err } = await read([process.execPath])
    expect(lines.map(({ outcome }) => outcome)).toEqual(OUTCOMES)
    expect(lines.map(({ model }) => model)).toEqual(MODEL_OUTCOMES)
    expect(Math.max(...lines.map(({ grownMb }) => grownMb))).toBeLessThan(60)
    expect(err).toBe("")
  })

  test.skipIf(noDeno)(
    "a compressed response is read under Deno, which decompresses responses before they are read",
    async () => {
      const { lines } = await read([denoBinary(), "run", "-A"])
      const outcomes = lines.map(({ outcome }) => outcome)
      expect(outcomes.slice(0, -2)).toEqual(OUTCOMES.slice(0, -2))
      for (const outcome of outcomes.slice(-2)) expect(outcome).toStartWith("failed: ")
    },
  )
})
