import { beforeAll, expect, test } from "bun:test"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { catalog } from "../../src/catalog.ts"
import { narrowed } from "../../src/core/operation.ts"
import { jsonSchema, type Schema } from "../../src/lib/schema.ts"
import { freshDatabase } from "../database.ts"
import { trackYear } from "../keywords/tracked-year.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { grownAnswer } from "./grown.ts"

const NOW = new Date("2025-11-20T12:00:00Z")
/** Maximum size. Rows are larger than JSON, because they repeat values that JSON has once. */
const MAX_KB = { "application/json": 60, "text/csv": 80, "application/jsonl": 80 }
const DECODED = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

let service: Service
let key: string
let app: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase(), now: () => NOW })
  const overrides = { historyDays: 365, ratePerSecond: 1_000, trackedKeywords: 1_000 }
  const workspace = await service.workspace({ plan: "enterprise", overrides })
  key = await service.key(workspace)
  app = await trackYear(service.sql, workspace, 50, "2025-11-20")
})

async function sent(accept: string, encoding: string): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${key}`, accept, "accept-encoding": encoding }
  const response = await service.app.fetch(new Request(`${PUBLIC_URL}/v1/apps/${app}/history`, { headers }), null)
  expect([response.status, response.headers.get("content-encoding")]).toEqual([
    200,
    encoding === "identity" ? null : encoding,
  ])
  return await response.bytes()
}

test.each(Object.entries(MAX_KB))(
  "a year of 50 keywords as %s is under %d KB in every encoding",
  async (accept, mostKb) => {
    const plain = await sent(accept, "identity")
    // proves that the history covers the year
    expect(new Set(new TextDecoder().decode(plain).match(/\d{4}-\d\d-\d\d/g)).size).toBe(365)
    expect(plain.length).toBeGreaterThan(300_000)
    for (const [encoding, decoded] of Object.entries(DECODED)) {
      const bytes = await sent(accept, encoding)
      console.log(`${accept} ${encoding}: ${bytes.length} of ${plain.length} bytes`)
      expect(bytes.length).toBeLessThan(mostKb * 1_024)
      expect(decoded(bytes).equals(Buffer.from(plain))).toBe(true)
    }
  },
)

/** Returns the size of a tool's answer in tokens of four bytes. */
async function tokens(name: string, args: object): Promise<number> {
  const { result } = await service.tool(name, { appId: app, ...args }, { key })
  return Math.round(Buffer.byteLength(JSON.stringify(result)) / 4)
}

test("the default rank history has under 20,000 tokens; a year of all keywords would have over 25,000", async () => {
  const [month, year] = [await tokens("get_rank_history", {}), await tokens("get_rank_history", { days: 365 })]
  const page = await tokens("get_rank_history", { days: 365, limit: 5 })
  const three = await tokens("list_keyword_ranks", { fields: ["term", "measured", "rank"] })
  const ranks = await tokens("list_keyword_ranks", {})
  console.log(
    `tokens of 50 keywords: 30 days ${month}, a year ${year}, 5 of them ${page}; ` +
      `ranks ${ranks}, of three fields ${three}`,
  )
  // Claude Code cuts off a tool's answer at 25,000 tokens
  expect(year).toBeGreaterThan(25_000)
  for (const read of [month, page]) expect(read).toBeLessThan(20_000)
  expect(three).toBeLessThan(ranks / 4)
})

const TEN_KB = 10 * 1_024

test.each(catalog.filter(({ method }) => method === "GET").map((operation) => [operation.id, operation] as const))(
  "%s accepts `fields` if its answer can exceed 10 KB",
  (id, operation) => {
    const whole = grownAnswer(operation)
    const size = JSON.stringify(whole).length
    expect([id, size > TEN_KB]).toEqual([id, operation.narrow !== undefined])
    if (!operation.narrow) return
    const { enum: names } = (
      jsonSchema(operation.input.entries.fields as Schema, "input") as { items: { enum: string[] } }
    ).items
    const sizes = names.map((name) => JSON.stringify(narrowed(operation, { fields: [name] }, whole)).length)
    console.log(`${id}: ${size} bytes, of one field ${Math.min(...sizes)} to ${Math.max(...sizes)}`)
    expect(Math.min(...sizes)).toBeLessThan(TEN_KB)
  },
)
