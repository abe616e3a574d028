import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const EXTRA = 100

/**
 * The files through which GET /v1/apps/{id}/keywords goes from the request to its SQL and back, the database's own left
 * out. Those that import nothing of src but the vocabulary are counted apart: each is read by itself, and leads nowhere.
 */
test("a keyed read goes through 20 files and 17 that stand alone at most: the walk may only get shorter", async () => {
  const [few, many] = await Promise.all([linesRun(1), linesRun(1 + EXTRA)])
  const walk = Object.keys(many).filter((file) =>
    Object.entries(many[file]!).some(([line, count]) => count - (few[file]?.[line] ?? 0) >= EXTRA),
  )
  const above = walk.filter((file) => !file.startsWith("database/"))
  const { alone = [], steps = [] } = Object.groupBy(above, (file) => (standsAlone(file) ? "alone" : "steps"))
  // the walk is seen whole: nothing is left out because coverage knows it by another name
  for (const file of ["app.ts", "invoke.ts", "operations/keywords/keywords.ts", "surfaces/http.ts"])
    expect(steps).toContain(file)
  expect(steps.length, steps.join("\n")).toBeLessThanOrEqual(20)
  expect(alone.length, alone.join("\n")).toBeLessThanOrEqual(17)
}, 240_000)

/** Of each file of src how often each line ran, with so many calls. */
async function linesRun(calls: number): Promise<Record<string, Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), "walk-"))
  const report = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${folder}`]
  const { DATABASE_URL: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, "test", "--timeout=120000", ...report, "./test/walk-calls.ts"], {
    cwd: root,
    env: { ...env, CALLS: String(calls) },
    stdout: "ignore",
    stderr: "pipe",
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(said)
  const text = readFileSync(join(folder, "lcov.info"), "utf8")
  rmSync(folder, { recursive: true })
  return Object.fromEntries(
    text.split("end_of_record").flatMap((part) => {
      const [, file] = /^SF:src\/(.+)$/m.exec(part) ?? []
      return file ? [[file, Object.fromEntries(lineCounts(part))]] : []
    }),
  )
}

function lineCounts(part: string): [line: string, count: number][] {
  return [...part.matchAll(/^DA:(\d+),(\d+)/gm)].map(([, line, count]) => [line as string, Number(count)])
}

function standsAlone(file: string): boolean {
  const text = readFileSync(join(root, "src", file), "utf8")
  const imports = [...text.matchAll(/^import (?!type )[^"]*"(\.[^"]+)"/gm)].map(([, path]) => path as string)
  // a word of the vocabulary may rest on another
  return file.startsWith("vocabulary/") || imports.every((path) => path.includes("vocabulary/"))
}
