// bun test/bench/narrow.ts — what answers weigh, whole and with one of their fields, and what an assistant is sent of 50
// keywords with a year of readings, in tokens of four bytes.
import { catalog } from "../../src/catalog.ts"
import { narrowed } from "../../src/operation.ts"
import { jsonSchema, type Schema } from "../../src/vocabulary/schema.ts"
import { freshDatabase } from "../database.ts"
import { openHouse } from "../house.ts"
import { trackYear } from "../operations/tracked-year.ts"
import { grownAnswer } from "../surfaces/grown.ts"

const kb = (value: unknown) => `${(Buffer.byteLength(JSON.stringify(value)) / 1_024).toFixed(1)} KB`

for (const operation of catalog.filter(({ method }) => method === "GET")) {
  const whole = grownAnswer(operation)
  const names = operation.narrow ? namesIn(operation.input.entries.fields as Schema) : []
  const parts = names.map((name) => `${name} ${kb(narrowed(operation, { fields: [name] }, whole))}`)
  console.log(`${operation.id}: ${kb(whole)}${parts.length > 0 ? `; of one field: ${parts.join(", ")}` : ""}`)
}

const house = openHouse({ sql: await freshDatabase(), now: () => new Date("2025-11-20T12:00:00Z") })
const overrides = { historyDays: 365, trackedKeywords: 1_000, ratePerSecond: 1e6 }
const workspace = await house.workspace({ plan: "enterprise", overrides })
const key = await house.key(workspace)
const appId = await trackYear(house.sql, workspace, 50, "2025-11-20")

const CALLS: [string, object][] = [
  ["get_rank_history", {}],
  ["get_rank_history", { days: 365 }],
  ["get_rank_history", { days: 365, limit: 5 }],
  ["get_rank_history", { days: 7 }],
  ["list_keyword_ranks", {}],
  ["list_keyword_ranks", { fields: ["term", "measured", "rank"] }],
]
for (const [name, args] of CALLS) {
  const { result } = await house.tool(name, { appId, ...args }, { key })
  const tokens = Buffer.byteLength(JSON.stringify(result)) / 4
  console.log(`${name} ${JSON.stringify(args)}: ${Math.round(tokens).toLocaleString("en")} tokens`)
}
process.exit(0)

function namesIn(fields: Schema): string[] {
  return (jsonSchema(fields, "input") as { items: { enum: string[] } }).items.enum
}
