import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const found = ["src", "sql", "test", "fixtures"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
)
const readmes = found.filter((path) => path.endsWith("README.md"))
const sources = found.filter((path) => /\/SOURCES?\.md$/.test(path))

describe("READMEs of folders", () => {
  test("every required README of a folder exists, and no README exceeds its limit of lines", () => {
    expect(readmes).toEqual(
      expect.arrayContaining(["src/README.md", "sql/README.md", "test/README.md", "test/bench/README.md"]),
    )
    // reference tables and the map with its glossary are for looking up, so they may be longer
    const limits: Record<string, number> = { "test/bench/README.md": 200, "src/README.md": 190 }
    expect(readmes.filter((path) => read(path).split("\n").length > (limits[path] ?? 125))).toEqual([])
  })

  test("READMEs and notes of sources link and name only existing files and folders", () => {
    const wrong = [...readmes, ...sources].flatMap((path) => {
      const text = read(path)
      const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => target as string)
      const named = text.matchAll(/`([\w/-]+\.ts|(?:src|sql|test|fixtures)\/[\w./-]+)`/g)
      const bases = [join(root, dirname(path)), root, join(root, "src")]
      const targets = [...links, ...[...named].map(([, target]) => target as string)]
      const missing = targets.filter((target) => !bases.some((base) => existsSync(join(base, target))))
      return missing.map((target) => `${path}: ${target}`)
    })
    expect(wrong).toEqual([])
  })

  test("the map of src lists every folder", () => {
    const rows = [...read("src/README.md").matchAll(/^- (`.*?`): /gm)].map(([, folders]) => folders as string).join(" ")
    const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const missing = folders.map(({ name }) => name).filter((name) => !rows.includes(`\`${name}/\``))
    expect(missing).toEqual([])
  })
})

describe("the figures of the benchmarks", () => {
  const figures = read("test/bench/README.md")

  test("every command in the README of the benchmarks exists", () => {
    const commands = [...figures.matchAll(/`bun (test\/bench\/[\w-]+\.ts)[^`]*`/g)].map(([, path]) => path as string)
    expect(commands.length).toBeGreaterThan(20)
    expect(commands.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  test("the figures cover every benchmark that can be run", () => {
    const runnable = found.filter((path) => {
      if (!/^test\/bench\/[\w-]+\.ts$/.test(path)) return false
      const [first = "", second = ""] = read(path).split("\n")
      return `${first}${second}`.startsWith("//") && `${first}${second}`.includes(`bun ${path}`)
    })
    expect(runnable.length).toBeGreaterThan(15)
    // a server that other benchmarks start, and not a benchmark
    const named = runnable.filter((path) => !figures.includes(`bun ${path}`))
    expect(named).toEqual(["test/bench/server.ts"])
  })
})
