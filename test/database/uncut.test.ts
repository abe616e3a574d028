import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { uncut } from "../../src/database/uncut.ts"

test("rows below the limit are passed on as they are, and those that met it are refused", () => {
  const rows = [1, 2]
  expect(uncut(3)(rows)).toBe(rows)
  expect(() => uncut(2)(rows)).toThrow("a read met its limit of 2 rows")
})

test("no read that answers rest on is cut silently by a limit of 10,000 rows or more, nor checked against another", () => {
  const src = join(import.meta.dirname, "../../src")
  const wrong = ["observations", "operations", "actions"].flatMap((room) =>
    readdirSync(join(src, room), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) =>
        [...readFileSync(join(src, room, name), "utf8").matchAll(/limit (\d{5,})`(?:\.then\(uncut\(([\d_]+)\)\))?/g)]
          .filter(([, limit, checked]) => limit !== checked?.replaceAll("_", ""))
          .map(([text]) => `${room}/${name}: ${text}`),
      ),
  )
  expect(wrong).toEqual([])
})
