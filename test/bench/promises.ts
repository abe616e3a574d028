// bun test/bench/promises.ts [WORD …]: runs the benchmarks behind the promises on speed and memory, one after another
// on both databases. Prints for each the goal, the measured figure, and whether the goal is met. Words select promises
// by name. DATABASE_URL is the PostgreSQL to use; without it the PostgreSQL rows are not measured. Fails if a goal is
// missed.
import { join } from "node:path"

const SERVER = process.env.DATABASE_URL
const WORDS = process.argv.slice(2)
const root = join(import.meta.dirname, "../..")

type DatabaseName = "embedded" | "PostgreSQL" | "either"

interface Promised {
  name: string
  goal: string
  databases: DatabaseName[]
  command: string[]
  env?: Record<string, string>
  /** Parses the figure in the output of the benchmark. Null if there is none. */
  read(printed: string): Figure | null
}

interface Figure {
  measured: string
  isMet: boolean
}

const PROMISES: Promised[] = [
  {
    name: "every read against its rows by key",
    goal: "≥ 0.4; keywords ≥ 0.5",
    databases: ["PostgreSQL"],
    command: ["test/bench/reads.ts"],
    read(printed) {
      const [, count, missed] = /^(\d+) reads, of which under their goal: (.*)$/m.exec(printed) ?? []
      const keywords = numbersOf(/^list_keyword_ranks +([\d.]+)/gm, printed)[0]
      if (!count || keywords === undefined) return null
      const isMet = missed === "none"
      return { measured: `${isMet ? `all ${count}` : `under: ${missed}`}; keywords ${keywords}`, isMet }
    },
  },
  {
    name: "sandbox read against a bare Bun.serve, by processor time",
    goal: "≥ 0.65",
    databases: ["either"],
    command: ["test/bench/http.ts"],
    read: (printed) => atLeast(0.65, numbersOf(/by processor time: ([\d.]+) of bare/g, printed)),
  },
  {
    name: "charges a second: one workspace, 64, against a one-row update",
    goal: "≥ 2, ≥ 1",
    databases: ["embedded", "PostgreSQL"],
    command: ["test/bench/charge.ts"],
    read(printed) {
      const [single, many] = numbersOf(/in groups \d+\/s, ([\d.]+) of/g, printed)
      if (single === undefined || many === undefined) return null
      return { measured: `${single}, ${many}`, isMet: single >= 2 && many >= 1 && !printed.includes("THEY DIFFER") }
    },
  },
  {
    name: "finder: 19 of 20 calls, 1.2 million places, 32 at once (embedded: 125,000, one at a time)",
    goal: "≤ 100 ms (embedded: ≤ 150 ms)",
    databases: ["embedded", "PostgreSQL"],
    command: ["test/bench/find.ts"],
    read(printed) {
      const [, reached, limit] = /^([\d.]+) of (\d+) ms$/m.exec(printed) ?? []
      return reached ? { measured: `${reached} ms`, isMet: Number(reached) <= Number(limit) } : null
    },
  },
  {
    name: "a year of data against a week, every read of an app",
    goal: "≤ 1.3",
    databases: ["PostgreSQL"],
    command: ["test/bench/years.ts"],
    env: { APPS: "100" },
    read(printed) {
      const exceeded = /^over [\d.]+: (.*)$/m.exec(printed)?.[1]
      const all = numbersOf(/of a week ([\d.]+), of/g, printed)
      return exceeded
        ? { measured: exceeded === "none" ? `all ${all.length}` : `over: ${exceeded}`, isMet: exceeded === "none" }
        : null
    },
  },
  {
    name: "p99 of a light workspace beside a heavy one, against alone",
    goal: "≤ 2",
    databases: ["embedded", "PostgreSQL"],
    command: ["test/bench/neighbours.ts"],
    env: { ONLY: "searches", KEYWORDS: "1000" },
    read: (printed) => atMost(2, numbersOf(/p99 ([\d.]+) times/g, printed)),
  },
  start("first start of the binary against an empty Bun.serve", "≤ 80", "first start: .*?([\\d.]+) of empty", 80),
  start("warm start of the binary against an empty Bun.serve", "≤ 55", "warm: .*?([\\d.]+) of empty", 55),
  start("idle memory of the binary with measuring on", "≤ 230 MB", "first start: .*?idle (\\d+) MB", 230),
  {
    name: "memory above idle while hostile store bodies are read",
    goal: "≤ 150 MB",
    databases: ["embedded"],
    command: ["test", "--timeout", "200000", "./test/measuring/hostile-pages.test.ts"],
    env: { LONG: "1" },
    read: (printed) => atMost(150, numbersOf(/(\d+) MB more/g, printed)),
  },
]

function start(name: string, goal: string, pattern: string, limit: number): Promised {
  const kind = "binary, embedded, measuring"
  return {
    name,
    goal,
    databases: ["embedded"],
    command: ["test/bench/start.ts"],
    env: { ONLY: kind },
    read: (printed) => atMost(limit, numbersOf(new RegExp(`^${kind}, ${pattern}`, "gm"), printed)),
  }
}

function numbersOf(pattern: RegExp, text: string): number[] {
  return [...text.matchAll(pattern)].map(([, number]) => Number(number))
}

function atLeast(goal: number, [value]: number[]): Figure | null {
  return value === undefined ? null : { measured: String(value), isMet: value >= goal }
}

function atMost(goal: number, [value]: number[]): Figure | null {
  return value === undefined ? null : { measured: String(value), isMet: value <= goal }
}

/** Output by command, settings and database, because several promises share a benchmark. */
const outputs = new Map<string, Promise<string>>()

function outputOf({ command, env }: Promised, database: DatabaseName): Promise<string> {
  const key = JSON.stringify([command, env, database])
  const found = outputs.get(key)
  if (found) return found
  const output = run(command, { ...env, ...(database === "PostgreSQL" && { DATABASE_URL: SERVER as string }) })
  outputs.set(key, output)
  return output
}

async function run(command: string[], env: Record<string, string>): Promise<string> {
  const { DATABASE_URL: _server, ...inherited } = process.env
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    env: { ...inherited, NO_COLOR: "1", ...env },
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await child.exited
  if (process.env.SHOW) console.error(`${command.join(" ")}\n${out}${err}`)
  return out + err
}

interface Row {
  promise: string
  database: DatabaseName
  goal: string
  measured: string
  result: "held" | "missed" | "no figure" | "not measured: set DATABASE_URL"
}

const rows: Row[] = []
const isChosen = ({ name }: Promised) => WORDS.length === 0 || WORDS.some((word) => name.includes(word))
for (const promised of PROMISES.filter(isChosen)) {
  const { name: promise, goal } = promised
  for (const database of promised.databases) {
    if (database === "PostgreSQL" && !SERVER) {
      rows.push({ promise, database, goal, measured: "", result: "not measured: set DATABASE_URL" })
      continue
    }
    const figure = promised.read(await outputOf(promised, database))
    const result = figure === null ? "no figure" : figure.isMet ? "held" : "missed"
    rows.push({ promise, database, goal, measured: figure?.measured ?? "", result })
    console.log(`${result}: ${promise} (${database}), ${figure?.measured ?? "nothing printed"}, goal ${goal}`)
  }
}
console.table(rows)
process.exit(rows.some(({ result }) => result === "missed" || result === "no figure") ? 1 : 0)
