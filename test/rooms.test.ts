import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join, normalize, relative } from "node:path"

const root = join(import.meta.dirname, "..")

/**
 * Rooms that a file of the room may import from, beside its own, the vocabulary and the log. A file in src itself is a
 * room; a folder inside a room is one where it stands here by its path.
 */
const ARROWS: Record<string, string[]> = {
  vocabulary: ["faults"],
  faults: [],
  "fault-shapes": ["faults"],
  log: [],
  operation: ["access", "tracking", "faults", "database types"],
  "check-input": ["operation", "faults"],
  invoke: ["check-input", "operation", "tracking", "access", "leases", "faults", "database"],
  catalog: ["operations", "writes", "operation"],
  writes: ["actions", "links"],
  surfaces: ["invoke", "check-input", "operation", "metrics", "access", "fault-shapes", "faults", "database types"],
  metrics: ["database types"],
  approving: ["actions", "sign-in", "pages", "database types"],
  assistants: ["operations", "surfaces", "operation"],
  documents: ["pages", "operation", "settings", "faults"],
  pages: ["access", "formulas", "faults", "database types"],
  oauth: ["sign-in", "pages", "tracking", "outbound", "access", "faults", "database types"],
  "sign-in": ["pages", "access", "database types"],
  desk: [
    "accounts", "audits", "sign-in", "pages", "invoke", "check-input", "delivery", "measuring", "sources", "actions", "history", "observations", "tracking", "operation",
    "access", "faults", "database types",
  ],
  links: ["actions", "history", "observations", "formulas", "pages", "tracking", "access", "faults", "database types"],
  operations: [
    "accounts", "actions", "alerts", "audits", "visibility", "writing", "history", "observations", "listing", "formulas", "leases", "tracking", "check-input",
    "operation", "access", "fault-shapes", "faults", "database types",
  ],
  actions: [
    "accounts", "listing", "alerts", "history", "observations", "formulas", "leases", "tracking", "operation", "access", "faults", "database types",
  ],
  tracking: ["observations", "access", "faults", "database types"],
  audits: ["history", "listing", "database types"],
  history: ["observations", "listing", "formulas", "database types"],
  observations: ["listing", "formulas", "database types"],
  market: ["history", "observations", "formulas", "database types"],
  retention: ["observations", "database types"],
  replay: ["measuring", "sources", "observations", "database types"],
  alerts: ["accounts", "measuring", "leases", "history", "observations", "listing", "formulas", "database types"],
  measuring: ["sources", "history", "observations", "formulas", "leases", "outbound", "database types"],
  sources: ["observations"],
  accounts: ["faults", "sources", "observations", "formulas", "leases", "outbound", "access", "database types"],
  delivery: ["alerts", "leases", "outbound", "access", "database types"],
  leases: ["faults", "database types"],
  outbound: [],
  visibility: [
    "measuring", "writing", "leases", "observations", "listing", "access", "database types",
  ],
  writing: ["leases", "listing", "formulas", "database types"],
  pictures: ["writing", "outbound", "database types"],
  listing: [],
  formulas: ["listing"],
  access: ["faults", "database types"],
  settings: ["access"],
  database: [],
  app: ["*"],
  process: ["*"],
  "commands/cli": ["*"],
  commands: ["*"],
  main: ["*"],
  deno: ["*"],
} // biome-ignore format: a list to scan

/** Files on one level of a room at most. */
const ROOM_FILES = 26

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
const sources = files.map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }))

const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ file: `../test/${name}`, text: readFileSync(join(root, "test", name), "utf8") }))
/** Of the service's own document, by test/client/generate. */
const MADE = "../test/client/api.d.ts"

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

  test("every file of src is reached from main.ts or deno.ts", () => {
    const leadsTo = new Map(sources.map(({ file, text }) => [file, imports(file, text)]))
    const reached = new Set(["main.ts", "deno.ts"].flatMap((start) => [start, ...reachedFrom(start, leadsTo)]))
    expect(files.filter((file) => !file.endsWith(".d.ts") && !reached.has(file))).toEqual([])
  })

  test("what a file exports is used by another file, and not by tests alone where its own file has no use for it", () => {
    const [bySrc, byTests] = [importedNames(sources), importedNames(tests)]
    const needless = sources.flatMap(({ file, text }) =>
      exportedNames(text)
        .filter((name) => !bySrc.has(`${file} ${name}`))
        .filter((name) => !byTests.has(`${file} ${name}`) || text.split(new RegExp(`\\b${name}\\b`)).length === 2)
        .map((name) => `${file}: ${name}`),
    )
    expect(needless).toEqual([])
  })

  test("advisory locks are taken by database/locks.ts alone, which holds their order", () => {
    const others = sources.filter(({ file, text }) => file !== "database/locks.ts" && /pg_\w*advisory/.test(text))
    expect(others.map(({ file }) => file)).toEqual([])
  })

  test("no file leads back to itself through what it imports, types included", () => {
    const leadsTo = new Map(sources.map(({ file, text }) => [file, imports(file, text)]))
    const inCircle = files.filter((file) => reachedFrom(file, leadsTo).has(file))
    expect(inCircle).toEqual([])
  })

  test("no room leads back to itself through the rooms that it imports", () => {
    const leadsTo = new Map<string, string[]>()
    for (const { file, text } of sources) {
      const others = imports(file, text).map(houseOf)
      const known = leadsTo.get(houseOf(file)) ?? []
      leadsTo.set(houseOf(file), [...known, ...others.filter((other) => other !== houseOf(file))])
    }
    expect([...leadsTo.keys()].filter((room) => reachedFrom(room, leadsTo).has(room))).toEqual([])
  })

  test(`no room has more than ${ROOM_FILES} files on one level`, () => {
    const levels = Object.groupBy(files, (file) => file.split("/").slice(0, -1).join("/"))
    const full = Object.entries(levels).filter(([, inside]) => (inside?.length ?? 0) > ROOM_FILES)
    expect(full.map(([level, inside]) => `${level}: ${inside?.length}`)).toEqual([])
  })

  test("no test waits by `.rejects`, which the embedded database's thread cannot end (test/error-of.ts)", () => {
    expect(tests.filter(({ text }) => /\)\.rejects\b/.test(text)).map(({ file }) => file)).toEqual([])
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
  test("no file has more than 300 lines and the median has fewer than 100", () => {
    const lines = sources.map(({ file, text }) => ({ file, lines: text.split("\n").length }))
    expect(lines.filter((file) => file.lines > 300)).toEqual([])
    expect(median(lines.map((file) => file.lines))).toBeLessThan(100)
  })

  test("no file of the tests has more than 400 lines", () => {
    const lines = tests.map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }))
    expect(lines.filter(({ file, lines }) => lines > 400 && file !== MADE)).toEqual([])
  })

  test("no function has more than 60 lines and the median has about 10", () => {
    const functions = sources.flatMap(({ file, text }) => functionLengths(text).map((f) => ({ file, ...f })))
    expect(functions.filter((f) => f.lines > 60)).toEqual([])
    expect(median(functions.map((f) => f.lines))).toBeLessThanOrEqual(12)
  })
})

function imports(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\(|^import) ?"(\.[^"]+)"/gm)].map(([, path]) =>
    relative(join(root, "src"), normalize(join(root, "src", file, "..", path as string))),
  )
}

function exportedNames(text: string): string[] {
  const declared = text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)
  const passedOn = text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)
  return [
    ...[...declared].map(([, name]) => name as string),
    ...[...passedOn].flatMap(([, list]) => namesIn(list as string).map(({ outside }) => outside)),
  ]
}

/** "file name" of what files import or pass on. Who takes a file whole uses of it what words it has. */
function importedNames(from: readonly { file: string; text: string }[]): Set<string> {
  return new Set(
    from.flatMap(({ file, text }) => {
      const at = (path: string) => imports(file, `from "${path}"`)[0]
      const named = text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)
      const whole = [...text.matchAll(/(?:\* as \w+ from |import\(\s*)"(\.[^"]+)"/g)]
      const words = whole.length === 0 ? [] : (text.match(/\w+/g) ?? [])
      return [
        ...[...named].flatMap(([, list, path]) =>
          namesIn(list as string).map(({ inside }) => `${at(path as string)} ${inside}`),
        ),
        ...whole.flatMap(([, path]) => words.map((word) => `${at(path as string)} ${word}`)),
      ]
    }),
  )
}

function namesIn(list: string): { inside: string; outside: string }[] {
  const parts = list.split(",").map((part) => part.trim().replace(/^type /, ""))
  return parts.filter(Boolean).map((part) => {
    const [inside, outside] = part.split(" as ") as [string, string?]
    return { inside, outside: outside ?? inside }
  })
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

const DATABASE_TYPES = ["types", "gate", "locks", "json", "uncut", "statement-groups", "shared-reads"].map(
  (name) => `database/${name}.ts`,
)

/** What every room may hold on to of the database is a room of its own; else the longest path that ARROWS name. */
function roomOf(file: string): string {
  if (DATABASE_TYPES.includes(file)) return "database types"
  const folders = file.replace(/\.ts$/, "").split("/")
  for (let depth = folders.length; depth > 0; depth--) {
    const path = folders.slice(0, depth).join("/")
    if (path in ARROWS) return path
  }
  throw new Error(`${file} stands in no room`)
}

/** As roomOf, where the database is one room. */
function houseOf(file: string): string {
  return roomOf(file) === "database types" ? "database" : roomOf(file)
}

function mayImport(file: string, target: string): boolean {
  if (target.startsWith("..")) return false
  const [own, room] = [roomOf(file), roomOf(target)]
  const allowed = ARROWS[own === "database types" ? "database" : own] ?? []
  if (room === own || allowed.includes("*") || ["vocabulary", "log"].includes(room)) return true
  const isDatabase = [own, room].every((name) => name.startsWith("database"))
  return isDatabase || allowed.includes(room) || (room === "database types" && allowed.includes("database"))
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
