import type { Sql } from "../../src/database/types.ts"
import { monthLine } from "../../src/sharing/export/rows.ts"
import { addParts, createExport } from "../../src/sharing/export/store.ts"

const MONTHS_A_PART = 200
const ROWS_A_PART = MONTHS_A_PART * 31

/** Stores a history export with `parts` parts of 6,200 rows. Returns its token. */
export async function largeExport(
  sql: Sql,
  workspaceId: number,
  parts: number,
  format: "csv" | "json" = "csv",
): Promise<{ token: string; rows: number }> {
  const rows = parts * ROWS_A_PART
  return await sql.begin(async (tx) => {
    const { id, token } = await createExport(tx, workspaceId, {
      appId: "app_large",
      dataset: "history",
      format,
      platform: "ios",
      country: "us",
      from: "2025-01-01",
      to: "2025-01-31",
      rows,
      columns: ["day", "term", "country", "platform", "measured", "rank", "searchDepth", "source"],
    })
    for (let place = 0; place < parts; place++) await addParts(tx, id, place, [part(place)])
    return { token, rows }
  })
}

function part(place: number): string {
  const lines = Array.from({ length: MONTHS_A_PART }, (_, n) => {
    const ranks = Uint8Array.from({ length: 31 }, (_, day) => (place + n + day) % 251)
    const same = (value: number) => new Uint8Array(31).fill(value)
    return monthLine(`keyword ${place} ${n}`, "2025-01-01", { ranks, sources: same(10), depths: same(250) })
  })
  return lines.join("\n")
}
