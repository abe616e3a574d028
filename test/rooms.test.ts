import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join, normalize, relative } from "node:path"

const root = join(import.meta.dirname, "..")

/** Rooms a file of the room may import from; files directly in src are the rooms "invoke", "app" and "words". */
const ARROWS: Record<string, string[]> = {
  surfaces: ["surfaces", "invoke", "catalog", "metrics", "words", "access", "database types"],
  metrics: ["metrics", "words", "database types"],
  documents: ["documents", "pages", "settings", "words"],
  links: ["links", "actions", "pages", "access", "observations", "formulas", "words", "database types"],
  pages: ["pages", "words"],
  vocabulary: ["vocabulary"],
  settings: ["settings", "words", "access"],
  operations: [
    "operations",
    "actions",
    "alerts",
    "leases",
    "words",
    "access",
    "observations",
    "formulas",
    "database types",
  ],
  actions: ["actions", "alerts", "leases", "words", "access", "observations", "formulas", "database types"],
  leases: ["leases", "words", "access", "database types"],
  sources: ["sources", "observations", "formulas", "words"],
  alerts: ["alerts", "measuring", "leases", "observations", "formulas", "words", "database types"],
  measuring: ["measuring", "leases", "sources", "observations", "formulas", "outbound", "words", "database types"],
  delivery: [
    "delivery",
    "leases",
    "alerts",
    "observations",
    "formulas",
    "outbound",
    "access",
    "words",
    "database types",
  ],
  outbound: ["outbound", "words"],
  observations: ["observations", "words", "formulas", "database types"],
  formulas: ["formulas", "words"],
  access: ["access", "words", "database types"],
  database: ["database", "words"],
  retention: ["retention", "observations", "words", "database types"],
  words: ["words", "access", "database types", "formulas"],
  catalog: ["operations", "actions", "links", "words"],
  invoke: ["invoke", "words", "access", "database", "formulas", "leases"],
  app: ["app", "invoke", "catalog", "surfaces", "documents", "links", "pages", "access", "database", "words"],
  commands: ["*"],
  main: ["*"],
  deno: ["*"],
}

/** The rooms whose files are known to lead back to themselves; the list may only get shorter. */
const ROOMS_WITH_CIRCLES = ["observations"]

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
const sources = files.map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }))

describe("the house", () => {
  test("the top level holds what the design names and nothing else", () => {
    const allowed = ["package.json", "bunfig.toml", "tsconfig.json", "README.md", "src", "sql", "test", "fixtures"]
    // what .gitignore names is not of the project
    const made = ["node_modules", "dist"]
    const stray = readdirSync(root).filter(
      (name) => ![...allowed, ...made, "bun.lock", "LICENSE"].includes(name) && !/^\.|\.log$/.test(name),
    )
    expect(stray).toEqual([])
  })

  test("data flows one way: no file imports from a room it must not know", () => {
    const wrong = sources.flatMap(({ file, text }) =>
      imports(file, text)
        .filter((target) => !mayImport(file, target))
        .map((target) => `${file} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test("advisory locks are taken by database/locks.ts alone, which holds their order", () => {
    const others = sources.filter(({ file, text }) => file !== "database/locks.ts" && /pg_\w*advisory/.test(text))
    expect(others.map(({ file }) => file)).toEqual([])
  })

  test("no file leads back to itself through what it imports, types included", () => {
    const leadsTo = new Map(sources.map(({ file, text }) => [file, imports(file, text)]))
    const inCircle = files.filter((file) => reachedFrom(file, leadsTo).has(file))
    expect(inCircle.filter((file) => !ROOMS_WITH_CIRCLES.includes(roomOf(file)))).toEqual([])
  })

  test("every dependency is pinned exactly", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, v]) => !/^\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(v as string),
    )
    expect(loose).toEqual([])
  })

  test("the lock file names no host", () => {
    expect(readFileSync(join(root, "bun.lock"), "utf8")).not.toMatch(/https?:\/\//)
  })
})

describe("sizes", () => {
  test("no file has more than 400 lines and the median has fewer than 100", () => {
    const lines = sources.map(({ file, text }) => ({ file, lines: text.split("\n").length }))
    expect(lines.filter((file) => file.lines > 400)).toEqual([])
    expect(median(lines.map((file) => file.lines))).toBeLessThan(100)
  })

  test("no function has more than 60 lines and the median has about 10", () => {
    const functions = sources.flatMap(({ file, text }) => functionLengths(text).map((f) => ({ file, ...f })))
    expect(functions.filter((f) => f.lines > 60)).toEqual([])
    expect(median(functions.map((f) => f.lines))).toBeLessThanOrEqual(12)
  })
})

function imports(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, path]) =>
    relative(join(root, "src"), normalize(join(root, "src", file, "..", path as string))),
  )
}

/** Every file that one leads to by any way; itself only where a way leads back. */
function reachedFrom(start: string, leadsTo: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const ahead = [start]
  for (let file = ahead.pop(); file !== undefined; file = ahead.pop()) {
    for (const next of leadsTo.get(file) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      ahead.push(next)
    }
  }
  return reached
}

function roomOf(file: string): string {
  if (
    ["database/types.ts", "database/gate.ts", "database/locks.ts", "database/json.ts", "database/uncut.ts"].includes(
      file,
    )
  )
    return "database types"
  const [room] = file.split("/") as [string]
  if (file.includes("/")) return room
  const own = { "invoke.ts": "invoke", "app.ts": "app", "catalog.ts": "catalog", "main.ts": "main", "deno.ts": "deno" }
  return own[file as keyof typeof own] ?? "words"
}

function mayImport(file: string, target: string): boolean {
  if (target.startsWith("..")) return false
  const allowed = ARROWS[roomOf(file) === "database types" ? "database" : roomOf(file)] ?? []
  const room = roomOf(target)
  // words that everybody uses
  if (room === "vocabulary" || allowed.includes("*")) return true
  return allowed.includes(room) || (room === "database types" && allowed.includes("database"))
}

/** By the formatter's layout: a function's last line is the first at its own indentation that begins with "}". */
function functionLengths(text: string): { name: string; lines: number }[] {
  const lines = text.split("\n")
  const found: { name: string; lines: number }[] = []
  lines.forEach((line, at) => {
    const head =
      /^( *)(?:export )?(?:async )?(?:function \*?(\w+)|const (\w+) = (?:async )?\([^=]*\) ?(?::[^=]+)?=> \{$|(?:private |static )?(?:async )?(\w+)\([^;]*\) ?(?::[^;]+)? \{$)/.exec(
        line,
      )
    const name = head?.[2] ?? head?.[3] ?? head?.[4]
    if (!head || !name || ["if", "for", "while", "switch", "catch", "return"].includes(name)) return
    const end = lines.findIndex((later, i) => i > at && later.startsWith(`${head[1]}}`))
    if (end > at) found.push({ name, lines: end - at + 1 })
  })
  return found
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
