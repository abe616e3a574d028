import { expect } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { long } from "./long.ts"

const root = join(import.meta.dirname, "..")
const map = readFileSync(join(root, "src/README.md"), "utf8")

/**
 * Returns the files that one more call or reading runs, without those of the database folder. Files that import nothing
 * from src except `lib/` are counted separately, because each can be read alone.
 */
async function walkOf(script: string, extra: number): Promise<{ steps: string[]; standalone: string[] }> {
  const [few, many] = await Promise.all([linesRun(script, 1), linesRun(script, 1 + extra)])
  const walk = Object.keys(many).filter((file) =>
    Object.entries(many[file]!).some(([line, count]) => count - (few[file]?.[line] ?? 0) >= extra),
  )
  const above = walk.filter((file) => !file.startsWith("database/"))
  const { standalone = [], steps = [] } = Object.groupBy(above, (file) => (standsAlone(file) ? "standalone" : "steps"))
  return { steps, standalone }
}

long(
  "a keyed read runs at most 19 connected files and 20 standalone files",
  async () => {
    const { steps, standalone } = await walkOf("walk-calls.ts", 100)
    // main.ts opens the port, which tests do not, and http/keyless.ts serves paths without a key
    const notHere = ["main.ts", "http/keyless.ts"]
    expect(filesIn("a call").filter((file) => ![...steps, ...standalone, ...notHere].includes(file))).toEqual([])
    expect(steps.length, steps.join("\n")).toBeLessThanOrEqual(19)
    expect(standalone.length, standalone.join("\n")).toBeLessThanOrEqual(20)
  },
  240_000,
)

long(
  "a reading runs every file that src/README.md lists for it, and at most 39 connected and 19 standalone files",
  async () => {
    const { steps, standalone } = await walkOf("walk-readings.ts", 20)
    const files = filesIn("a reading")
    expect(files.filter((file) => ![...steps, ...standalone].includes(file))).toEqual([])
    expect(files.length).toBeLessThanOrEqual(15)
    expect(steps.length, steps.join("\n")).toBeLessThanOrEqual(39)
    expect(standalone.length, standalone.join("\n")).toBeLessThanOrEqual(19)
  },
  240_000,
)

/** Returns the files that src/README.md names in a walk, without those of the database folder. */
function filesIn(walk: string): string[] {
  const [, text] = map.split(`## Walk: ${walk}\n`)
  const files = [...text!.split("\n## ")[0]!.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => file as string)
  return [...new Set(files)].filter((file) => !file.startsWith("database/"))
}

/** Returns how often each line of each file of src ran, for this number of calls. */
async function linesRun(script: string, calls: number): Promise<Record<string, Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), "walk-"))
  const report = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${folder}`]
  const { DATABASE_URL: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, "test", "--timeout=120000", ...report, `./test/${script}`], {
    cwd: root,
    env: { ...env, CALLS: String(calls) },
    stdout: "ignore",
    stderr: "pipe",
  })
  const errors = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(errors)
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
  return file.startsWith("lib/") || imports.every((path) => path.includes("lib/"))
}
