// Finds the test files that reach a file of the program, nearest first.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Tests that read the text of the tree or of the schema. They detect changes that no caller can observe. */
const STRUCTURE = /^test\/([\w-]+\.test\.ts|database\/(schema|migrate)|packaging\/|replay\/|documents\/|snapshots\/)/

/** Maximum number of steps from a file to the importers whose own tests count as near. */
const MAX_STEPS = 2

export class Reach {
  /** The importers of each file. */
  readonly #importers = new Map<string, string[]>()
  readonly #tests: string[]
  readonly #texts = new Map<string, string>()

  constructor(root: string) {
    const files = [...filesOf(root, "src"), ...filesOf(root, "test")]
    this.#tests = files.filter((file) => file.endsWith(".test.ts") && !STRUCTURE.test(file))
    for (const file of files) {
      const text = readFileSync(join(root, file), "utf8")
      this.#texts.set(file, text)
      for (const [, path] of text.matchAll(/(?:from|import|import\(|new URL\()\s*"(\.[^"]+\.ts)"/g)) {
        const imported = join(dirname(file), path!)
        if (existsSync(join(root, imported))) this.#importers.set(imported, [...this.#importersOf(imported), file])
      }
    }
  }

  /** Returns the files of src that contain the name of a SQL function. Their tests are the tests of the function. */
  filesNaming(name: string): string[] {
    const pattern = new RegExp(`\\b${name}\\b`)
    return [...this.#texts]
      .filter(([file, text]) => file.startsWith("src/") && pattern.test(text))
      .map(([file]) => file)
  }

  testsOf(files: string[], most: number): string[] {
    const steps = this.#stepsFrom(files)
    const near = [...steps].filter(([file, distance]) => distance <= MAX_STEPS && file.startsWith("src/"))
    const score = (test: string) =>
      steps.get(test)! - Math.max(...near.map(([file, d]) => 2 * likeness(test, file) - d))
    return this.#tests
      .filter((test) => steps.has(test))
      .map((test) => ({ test, score: score(test) }))
      .sort((a, b) => a.score - b.score || (a.test < b.test ? -1 : 1))
      .slice(0, most)
      .map(({ test }) => test)
  }

  #stepsFrom(files: string[]): Map<string, number> {
    const steps = new Map(files.map((file) => [file, 0]))
    for (const [file, distance] of steps)
      for (const importer of this.#importersOf(file)) if (!steps.has(importer)) steps.set(importer, distance + 1)
    return steps
  }

  #importersOf(file: string): string[] {
    return this.#importers.get(file) ?? []
  }
}

/** Counts the folders that a test's path and a file's path share, plus one if their names share a word. */
function likeness(test: string, file: string): number {
  const [a, b] = [test, file].map((path) =>
    path
      .replace(/(\.test)?\.ts$/, "")
      .split("/")
      .slice(1),
  ) as [string[], string[]]
  let shared = 0
  while (shared < Math.min(a.length, b.length) && a[shared] === b[shared]) shared++
  const words = new Set(a.at(-1)!.split("-"))
  const sharesWord = b
    .at(-1)!
    .split("-")
    .some((word) => words.has(word) && word.length > 3)
  return shared + (sharesWord ? 1 : 0)
}

function filesOf(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => join(folder, name))
    .sort()
}
