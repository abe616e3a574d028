// bun test/bench/promises.ts [WORD …]: runs the benchmarks behind the promises on speed and memory, one after the other
// on both databases, and prints for each the goal, what was measured, and whether it is held. Words choose promises by
// their names. DATABASE_URL names the PostgreSQL to use; without it the rows of PostgreSQL are not measured. Fails if
// one is missed.
import { join } from "node:path"

const SERVER = process.env.DATABASE_URL
const WORDS = process.argv.slice(2)
const root = join(import.meta.dirname, "../..")

type On = "embedded" | "PostgreSQL" | "either"

interface Promised {
  name: string
  goal: string
  on: On[]
  command: string[]
  env?: Record<string, string>
  /** Reads what the benchmark printed. Null if it did not print its figure. */
  read(printed: string): Figure | null
}

interface Figure {
  measured: string
  isHeld: boolean
}

const PROMISES: Promised[] = [
  {
    name: "every read against its rows by key",
    goal: "≥ 0.4; keywords ≥ 0.5",
    on: ["PostgreSQL"],
    command: ["test/bench/reads.ts"],
    read(printed) {
      const [, count, under] = /^(\d+) reads, of which under their goal: (.*)$/m.exec(printed) ?? []
      const keywords = numbersOf(/^list_keyword_ranks +([\d.]+)/gm, printed)[0]
      if (!count || keywords === undefined) return null
      const isHeld = under === "none"
      return { measured: `${isHeld ? `all ${count}` : `under: ${under}`}; keywords ${keywords}`, isHeld }
    },
  },
  {
    name: "sandbox read against a bare Bun.serve, by processor time",
    goal: "≥ 0.65",
    on: ["either"],
    command: ["test/bench/http.ts"],
    read: (printed) => atLeast(0.65, numbersOf(/by processor time: ([\d.]+) of bare/g, printed)),
  },
  {
    name: "charges a second: one workspace, 64, against a one-row update",
    goal: "≥ 2, ≥ 1",
    on: ["embedded", "PostgreSQL"],
    command: ["test/bench/charge.ts"],
    read(printed) {
      const [one, many] = numbersOf(/in groups \d+\/s, ([\d.]+) of/g, printed)
      if (one === undefined || many === undefined) return null
      return { measured: `${one}, ${many}`, isHeld: one >= 2 && many >= 1 && !printed.includes("THEY DIFFER") }
    },
  },
  {
    name: "finder: 19 of 20 calls, 1.2 million places, 32 at once (embedded: 125,000, one at a time)",
    goal: "≤ 100 ms (embedded: ≤ 150 ms)",
    on: ["embedded", "PostgreSQL"],
    command: ["test/bench/find.ts"],
    read(printed) {
      const [, reached, most] = /^([\d.]+) of (\d+) ms$/m.exec(printed) ?? []
      return reached ? { measured: `${reached} ms`, isHeld: Number(reached) <= Number(most) } : null
    },
  },
  {
    name: "a year of data against a week, every read of an app",
    goal: "≤ 1.3",
    on: ["PostgreSQL"],
    command: ["test/bench/years.ts"],
    env: { APPS: "100" },
    read(printed) {
      const over = /^over [\d.]+: (.*)$/m.exec(printed)?.[1]
      const all = numbersOf(/of a week ([\d.]+), of/g, printed)
      return over
        ? { measured: over === "none" ? `all ${all.length}` : `over: ${over}`, isHeld: over === "none" }
        : null
    },
  },
  {
    name: "p99 of a light workspace beside a heavy one, against alone",
    goal: "≤ 2",
    on: ["embedded", "PostgreSQL"],
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
    on: ["embedded"],
    command: ["test", "--timeout", "200000", "./test/measuring/hostile-pages.test.ts"],
    env: { LONG: "1" },
    read: (printed) => atMost(150, numbersOf(/(\d+) MB more/g, printed)),
  },
]

function start(name: string, goal: string, pattern: string, most: number): Promised {
  const kind = "binary, embedded, measuring"
  return {
    name,
    goal,
    on: ["embedded"],
    command: ["test/bench/start.ts"],
    env: { ONLY: kind },
    read: (printed) => atMost(most, numbersOf(new RegExp(`^${kind}, ${pattern}`, "gm"), printed)),
  }
}

function numbersOf(pattern: RegExp, text: string): number[] {
  return [...text.matchAll(pattern)].map(([, number]) => Number(number))
}

function atLeast(goal: number, [value]: number[]): Figure | null {
  return value === undefined ? null : { measured: String(value), isHeld: value >= goal }
}

function atMost(goal: number, [value]: number[]): Figure | null {
  return value === undefined ? null : { measured: String(value), isHeld: value <= goal }
}

/** Output by command, settings and database, because several promises share a benchmark. */
const outputs = new Map<string, Promise<string>>()

function outputOf({ command, env }: Promised, on: On): Promise<string> {
  const key = JSON.stringify([command, env, on])
  const found = outputs.get(key)
  if (found) return found
  const output = run(command, { ...env, ...(on === "PostgreSQL" && { DATABASE_URL: SERVER as string }) })
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
  on: On
  goal: string
  measured: string
  result: "held" | "missed" | "no figure" | "not measured: set DATABASE_URL"
}

const rows: Row[] = []
const isChosen = ({ name }: Promised) => WORDS.length === 0 || WORDS.some((word) => name.includes(word))
for (const promised of PROMISES.filter(isChosen)) {
  const { name: promise, goal } = promised
  for (const on of promised.on) {
    if (on === "PostgreSQL" && !SERVER) {
      rows.push({ promise, on, goal, measured: "", result: "not measured: set DATABASE_URL" })
      continue
    }
    const figure = promised.read(await outputOf(promised, on))
    const result = figure === null ? "no figure" : figure.isHeld ? "held" : "missed"
    rows.push({ promise, on, goal, measured: figure?.measured ?? "", result })
    console.log(`${result}: ${promise} (${on}), ${figure?.measured ?? "nothing printed"}, goal ${goal}`)
  }
}
console.table(rows)
process.exit(rows.some(({ result }) => result === "missed" || result === "no figure") ? 1 : 0)
