import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join, normalize, relative } from "node:path"
import { TABLES } from "./architecture/tables.ts"
import { slow } from "./long.ts"

const root = join(import.meta.dirname, "..")

/**
 * The folders of src, top to bottom. A file imports only from folders in rows above its own. Within a row it imports
 * from another folder only through `read.ts` or `read/`. The lists in src itself (catalog.ts, kinds.ts, …) may be
 * imported as types by every folder and as values by `commands`, which starts the program.
 */
const ROWS: readonly (readonly string[])[] = [
  ["lib"],
  ["database", "outbound", "jobs"],
  ["access"],
  ["settings"],
  ["core"],
  ["ui"],
  ["measuring"],
  ["stores"],
  ["tracking"],
  ["keywords", "charts", "listings", "reviews"],
  ["consoles", "visibility"],
  ["market"],
  ["texts", "overview"],
  ["alerts", "writes"],
  ["sharing"],
  ["demo"],
  ["http", "docs"],
  ["pages"],
  ["commands"],
]

/** Technical folders of one row may import each other without a `read` door. */
const WITHOUT_DOORS = ["database", "outbound", "jobs"]

interface Source {
  file: string
  text: string
}

interface Import {
  from: string
  to: string
  isType: boolean
}

const sources = filesIn("src")
const tests = filesIn("test")
const imports = sources.flatMap(importsOf)

describe("folders", () => {
  test("the top level has only allowed files and folders", () => {
    const allowed = ["package.json", "bunfig.toml", "tsconfig.json", "README.md", "src", "sql", "test", "fixtures"]
    const untracked = ["node_modules", "dist"]
    const stray = readdirSync(root).filter(
      (name) => ![...allowed, ...untracked, "bun.lock", "LICENSE"].includes(name) && !/^\.|\.log$/.test(name),
    )
    expect(stray).toEqual([])
  })

  test("src has exactly the folders that ROWS lists", () => {
    const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name).sort()).toEqual(ROWS.flat().sort())
  })

  test("a file imports only from folders above its own", () => {
    const broken = imports.filter((edge) => !isAllowed(edge)).map(({ from, to }) => `${from} -> ${to}`)
    expect(broken).toEqual([])
  })

  slow("no file imports itself through other files, type imports included", () => {
    const targets = targetsByFile()
    expect(sources.map(({ file }) => file).filter((file) => reachedFrom(file, targets).has(file))).toEqual([])
  })

  test("every file of src is reached from main.ts, deno.ts or the start of a thread", () => {
    const targets = targetsByFile()
    const entries = ["main.ts", "deno.ts", ...threads()]
    const reached = new Set(entries.flatMap((entry) => [entry, ...reachedFrom(entry, targets)]))
    const unreached = sources.map(({ file }) => file).filter((file) => !file.endsWith(".d.ts") && !reached.has(file))
    expect(unreached).toEqual([])
  })

  test("answers.ts imports types only, so that pages do not load operations", () => {
    const values = imports.filter(({ from, isType }) => from === "answers.ts" && !isType)
    expect(values).toEqual([])
  })
})

describe("exports", () => {
  slow("an exported name is used outside its file, and not by tests alone", () => {
    const usedBySrc = importedNames(sources, "src")
    const usedByTests = importedNames(tests, "test")
    const unused = sources.flatMap(({ file, text }) =>
      exportedNames(text)
        .filter((name) => !usedBySrc.has(`${file} ${name}`))
        .filter((name) => !usedByTests.has(`${file} ${name}`) || text.split(new RegExp(`\\b${name}\\b`)).length === 2)
        .map((name) => `${file}: ${name}`),
    )
    expect(unused).toEqual([])
  })

  test("advisory locks are taken only in database/locks.ts, which defines their order", () => {
    const takers = sources.filter(({ file, text }) => file !== "database/locks.ts" && /pg_\w*advisory/.test(text))
    expect(takers.map(({ file }) => file)).toEqual([])
  })

  test("no test awaits `.rejects`, which the embedded database's thread cannot settle (test/error-of.ts)", () => {
    expect(tests.filter(({ text }) => /\)\.rejects\b/.test(text)).map(({ file }) => file)).toEqual([])
  })
})

describe("tables", () => {
  const names = tableNames()

  test("every table and view is listed with the folders that use it", () => {
    expect(Object.keys(TABLES).sort()).toEqual(names.toSorted())
  })

  test("a table is written and read by exactly the folders that are listed for it", () => {
    const uses = tableUses(names)
    const actual = Object.fromEntries(
      names.map((name) => {
        const { writes, reads } = uses.get(name)!
        const readers = [...reads].filter((folder) => !writes.has(folder))
        return [name, { writes: [...writes].sort().join(" "), reads: readers.sort().join(" ") }]
      }),
    )
    expect(actual).toEqual(TABLES)
  })
})

describe("dependencies", () => {
  const { dependencies, devDependencies, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

  test("every dependency is pinned exactly", () => {
    const loose = Object.entries<string>({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version),
    )
    expect(loose).toEqual([])
  })

  test("bun-types has the version of Bun that the program requires", () => {
    expect(engines.bun).toBe(`>=${devDependencies["bun-types"]}`)
    expect(Object.keys(devDependencies)).not.toContain("@types/bun")
  })

  test("the lock file names no host", () => {
    expect(readFileSync(join(root, "bun.lock"), "utf8")).not.toMatch(/https?:\/\//)
  })
})

function filesIn(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, folder, file), "utf8") }))
}

/**
 * Returns the imports of a file, with paths relative to src. An import counts as one of types if each of its names is a
 * type.
 */
function importsOf({ file, text }: Source): Import[] {
  const declared = [...text.matchAll(/^(?:import|export) (type )?([^";]*?)from "(\.[^"]+)"/gm)].map(
    ([, type, names, path]) => ({ path, isType: type !== undefined || hasOnlyTypes(names as string) }),
  )
  const loaded = [...text.matchAll(/(?:import\(|^import )\s*"(\.[^"]+)"/gm)].map(([, path]) => ({
    path,
    isType: false,
  }))
  return [...declared, ...loaded].map(({ path, isType }) => ({
    from: file,
    to: normalize(join(file, "..", path as string)),
    isType,
  }))
}

/** Returns the entry files of threads. */
function threads(): string[] {
  return sources.flatMap(({ file, text }) =>
    [...text.matchAll(/new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g)].map(([, path]) =>
      normalize(join(file, "..", path as string)),
    ),
  )
}

function hasOnlyTypes(names: string): boolean {
  const list = /^\{([^}]*)\}/.exec(names.trim())?.[1]
  if (list === undefined) return false
  const parts = list.split(",").map((part) => part.trim())
  return parts.filter(Boolean).every((part) => part.startsWith("type "))
}

function isAllowed({ from, to, isType }: Import): boolean {
  if (to.startsWith("..")) return true
  const folder = folderOf(from)
  const target = folderOf(to)
  if (folder === target || folder === null) return true
  if (target === null) return isType || folder === "commands"
  const row = rowOf(folder)
  const targetRow = rowOf(target)
  if (row !== targetRow) return targetRow < row
  return WITHOUT_DOORS.includes(folder) || /\/read(?:\/|\.ts$)/.test(to)
}

/** Returns the folder of a file. Null for a file of src itself. */
function folderOf(file: string): string | null {
  const [folder, inside] = file.split("/")
  return inside === undefined ? null : (folder as string)
}

function rowOf(folder: string): number {
  return ROWS.findIndex((row) => row.includes(folder))
}

function targetsByFile(): Map<string, string[]> {
  const targets = new Map(sources.map(({ file }): [string, string[]] => [file, []]))
  for (const { from, to } of imports) targets.get(from)?.push(to)
  return targets
}

/** Returns every file that a file imports, directly or not. Contains the file itself only if there is a cycle. */
function reachedFrom(start: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const pending = [start]
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    for (const next of targets.get(file) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      pending.push(next)
    }
  }
  return reached
}

function exportedNames(text: string): string[] {
  const declared = text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)
  const reexported = text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)
  return [
    ...[...declared].map(([, name]) => name as string),
    ...[...reexported].flatMap(([, list]) => namesIn(list as string).map(({ outside }) => outside)),
  ]
}

/** Returns "file name" of each imported name. If a file is imported whole, each word of its importer counts as used. */
function importedNames(files: readonly Source[], folder: string): Set<string> {
  return new Set(
    files.flatMap(({ file, text }) => {
      const resolve = (path: string) => relative("src", normalize(join(folder, file, "..", path)))
      const named = text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)
      const whole = [...text.matchAll(/(?:\* as \w+ from |import\(\s*)"(\.[^"]+)"/g)]
      const words = whole.length === 0 ? [] : (text.match(/\w+/g) ?? [])
      return [
        ...[...named].flatMap(([, list, path]) =>
          namesIn(list as string).map(({ inside }) => `${resolve(path as string)} ${inside}`),
        ),
        ...whole.flatMap(([, path]) => words.map((word) => `${resolve(path as string)} ${word}`)),
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

function tableNames(): string[] {
  const schema = readFileSync(join(root, "test/snapshots/schema.sql"), "utf8")
  return [...schema.matchAll(/^create (?:table|view) (\w+)/gm)].map(([, name]) => name as string)
}

/**
 * Returns the folders whose statements write and read each table. Statements in triggers and functions of the database
 * do not count.
 */
function tableUses(names: readonly string[]) {
  const statement = /\b(insert into|merge into|update|delete from|truncate|from|join|using)\s+(?:only\s+)?([a-z_]+)\b/g
  const uses = new Map(names.map((name) => [name, { writes: new Set<string>(), reads: new Set<string>() }]))
  for (const { file, text } of sources) {
    const folder = folderOf(file) ?? file
    for (const [, verb, table] of text.matchAll(statement)) {
      const use = uses.get(table as string)
      if (["from", "join", "using"].includes(verb as string)) use?.reads.add(folder)
      else use?.writes.add(folder)
    }
  }
  return uses
}
