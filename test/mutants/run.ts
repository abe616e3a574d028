// bun test/mutants/run.ts: changes the program at random places and tries each change with the tests that reach it.
//
//   --count 100      how many
//   --from 1         the number of the first one that is tried, to go on with a run that was stopped
//   --seed 39        the same seed and commit give the same mutants
//   --commit HEAD    the tree that is changed: a copy of this commit in the folder for temporary files
//   --files 16       test files that a mutant is tried with, nearest first
//   --seconds 600    the limit of a mutant
//   --jobs 2         mutants at once, each in a copy of its own
//   --out FILE       the results as JSON Lines as well
//   --list           prints the changes and the tests that reach them, and tries none
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { applied, type Change, changesOfSql, changesOfTypeScript } from "./changes.ts"
import { Reach } from "./reach.ts"

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    seed: { type: "string", default: "39" },
    commit: { type: "string", default: "HEAD" },
    files: { type: "string", default: "16" },
    seconds: { type: "string", default: "600" },
    jobs: { type: "string", default: "2" },
    out: { type: "string" },
    list: { type: "boolean", default: false },
  },
})

/** The first pattern that matches a file's path names its area. Files that match none are not changed. */
const AREAS: [area: string, pattern: RegExp][] = [
  [
    "money",
    /^(src\/(access\/credits|core\/(invoke|charging)|consoles\/(billing|seller))|sql:(charge|balance|spend|refund))/,
  ],
  ["rights", /^src\/(access|sharing\/(link|open|token)|pages\/(sign-in|oauth|forms))/],
  ["parsers", /^src\/([a-z]+\/sources|stores)\//],
  ["writes", /^src\/(writes|[a-z]+\/actions|consoles\/(writing|ads))\//],
  ["states", /^(src\/(measuring|jobs|core\/observation|alerts)\/|sql:(take|give|settle|allowance|refuse|claim))/],
  ["figures", /^(src\/([a-z]+\/(formulas|operations|estimates)|market)\/|sql:)/],
]

interface Mutant {
  area: string
  file: string
  change: Change
  tests: string[]
}

const TIME_LIMIT = "time limit"
interface Result {
  outcome: Outcome
  /** Name of the test file that failed. */
  by: string
}

type Outcome = "caught" | "survived" | typeof TIME_LIMIT | "not reached"

/**
 * Time limits of one file without a change, and of one test. They are generous, so that no mutant counts as detected by
 * a timeout on a busy machine.
 */
const PASS_MS = 600_000
const TEST_MS = 300_000

/** Number of test files per process: few at first, because the nearest files detect most changes. */
const BATCHES = [4, 40]

const mutants: Mutant[] = []
const rounds = Number(options.count)
const folders = await Promise.all(
  Array.from({ length: options.list ? 1 : Number(options.jobs) }, (_, i) => copyOfTree(i)),
)
const random = randomOf(Number(options.seed))
drawMutants(folders[0]!)
const results = new Map<number, Result>()
const passing = new Set<string>()
const unreliable = new Set<string>()
try {
  const numbers = mutants.map((_, i) => i + 1).slice(Number(options.from) - 1)
  if (options.list) for (const number of numbers) list(number)
  else await tryAll(numbers)
  await findUnreliable(folders[0]!)
  const repeated = [...results].filter(([, { by }]) => unreliable.has(by)).map(([number]) => number)
  await tryAll(repeated)
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
if (!options.list) showTotals()

async function copyOfTree(index: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `appmeter-mutants-${index}-`))
  await Bun.$`git archive ${options.commit} | tar -x -C ${folder}`.cwd(join(import.meta.dirname, "../.."))
  if (options.list) return folder
  await Bun.$`bun install --frozen-lockfile --silent && bun test/prepare.ts`.cwd(folder).quiet()
  const preload = join(folder, "test/preload.ts")
  writeFileSync(preload, readFileSync(preload, "utf8").replace("30_000", String(TEST_MS)))
  return folder
}

/** Draws the mutants. Each area gets an equal share, and so does each kind of change within an area. */
function drawMutants(root: string): void {
  const reach = new Reach(root)
  const drawn = new Set<string>()
  const sites = AREAS.map(() => new Map<string, { file: string; change: Change; reached: string[] }[]>())
  const add = (area: string, file: string, change: Change, reached: string[]) => {
    const kinds = sites[AREAS.findIndex(([, pattern]) => pattern.test(area))]
    kinds?.set(change.kind, [...(kinds.get(change.kind) ?? []), { file, change, reached }])
  }
  for (const file of sourceFiles(root))
    for (const change of changesOfTypeScript(readFileSync(join(root, file), "utf8"))) add(file, file, change, [file])
  for (const { name, file, from, text } of sqlFunctions(root))
    for (const change of changesOfSql(text, from)) add(`sql:${name}`, file, change, reach.filesNaming(name))
  for (let i = 0; mutants.length < rounds; i++) {
    const area = i % AREAS.length
    const kinds = [...sites[area]!.values()]
    const { file, change, reached } = pick(pick(kinds))
    const key = `${file} ${change.from} ${change.text}`
    if (drawn.has(key)) continue
    drawn.add(key)
    mutants.push({ area: AREAS[area]![0], file, change, tests: reach.testsOf(reached, Number(options.files)) })
  }
}

function sourceFiles(root: string): string[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join("src", name))
    .sort()
}

/** Returns the functions of the schema in their last definition. */
function sqlFunctions(root: string): { name: string; file: string; from: number; text: string }[] {
  const functions = new Map<string, { name: string; file: string; from: number; text: string }>()
  const files = readdirSync(join(root, "sql"), { recursive: true, encoding: "utf8" }).sort()
  for (const file of files.filter((name) => name.endsWith(".sql") && name !== "schema.sql")) {
    const script = readFileSync(join(root, "sql", file), "utf8")
    for (const match of script.matchAll(/create (?:or replace )?function (\w+)[\s\S]*?\bas (\$\w*\$)[\s\S]*?\2/g)) {
      const name = match[1]!
      functions.set(name, { name, file: join("sql", file), from: match.index, text: match[0] })
    }
    for (const [, name] of script.matchAll(/drop function (?:if exists )?(\w+)/g))
      if (!new RegExp(`create (or replace )?function ${name}\\b`).test(script)) functions.delete(name!)
  }
  return [...functions.values()]
}

async function tryAll(numbers: number[]): Promise<void> {
  const work = async (root: string) => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      const mutant = mutants[number - 1]!
      const path = join(root, mutant.file)
      const text = readFileSync(path, "utf8")
      const started = performance.now()
      writeFileSync(path, applied(text, mutant.change))
      const result = await tried(root, mutant)
      writeFileSync(path, text)
      results.set(number, result)
      report(number, text, Math.round((performance.now() - started) / 1_000))
    }
  }
  await Promise.all(folders.map(work))
}

async function tried(root: string, { file, tests }: Mutant): Promise<Result> {
  const deadline = Date.now() + Number(options.seconds) * 1_000
  const rest = tests.filter((test) => !unreliable.has(test))
  if (rest.length === 0) return { outcome: "not reached", by: "" }
  // a changed schema creates another template of the embedded database; afterwards the previous one is restored
  const templates = join(root, "node_modules/.cache")
  const isSql = file.endsWith(".sql")
  if (isSql) cpSync(templates, `${templates}-before`, { recursive: true })
  try {
    if (isSql) await Bun.$`bun test/prepare.ts`.cwd(root).quiet().nothrow()
    for (const size of BATCHES) {
      const batch = rest.splice(0, size)
      if (batch.length === 0) break
      const failing = await failingFile(root, batch, deadline)
      if (failing === TIME_LIMIT) return { outcome: TIME_LIMIT, by: "" }
      if (failing !== null) return { outcome: "caught", by: failing }
      for (const test of batch) passing.add(test)
    }
    return { outcome: "survived", by: "" }
  } finally {
    if (isSql) {
      rmSync(templates, { recursive: true })
      renameSync(`${templates}-before`, templates)
    }
  }
}

/** Finds the test files that also fail without any change. Their failures show nothing about a change. */
async function findUnreliable(root: string): Promise<void> {
  const caught = new Set([...results.values()].flatMap(({ by }) => (by === "" || passing.has(by) ? [] : [by])))
  for (const test of caught)
    if ((await failingFile(root, [test], Date.now() + PASS_MS)) === null) passing.add(test)
    else unreliable.add(test)
}

function showTotals(): void {
  const totals: Record<string, Record<string, number>> = {}
  for (const [number, { outcome }] of results) {
    const { area } = mutants[number - 1]!
    totals[area] = { ...totals[area], [outcome]: (totals[area]?.[outcome] ?? 0) + 1 }
  }
  console.table(totals)
  if (unreliable.size > 0) console.log(`failed without any change, and left out: ${[...unreliable].join(" ")}`)
}

/** Returns the first file with a failure, or null. */
async function failingFile(root: string, files: string[], deadline: number): Promise<string | null> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env
  const child = Bun.spawn(
    [
      "bun",
      "test",
      "--timeout",
      String(TEST_MS),
      "--bail=1",
      "--parallel=1",
      "--no-isolate",
      ...files.map((file) => `./${file}`),
    ],
    {
      cwd: root,
      env: { ...env, SLOW: "1", BUN_JSC_useFTLJIT: "0", NO_BROWSER: "1", NO_COLOR: "1" },
      stdout: "ignore",
      stderr: "pipe",
      timeout: Math.max(1, deadline - Date.now()),
      killSignal: "SIGKILL",
    },
  )
  const output = await new Response(child.stderr).text()
  if ((await child.exited) === 0) return null
  if (Date.now() >= deadline || /timed out after/.test(output)) return TIME_LIMIT
  const completed = output.slice(0, output.search(/^\(fail\)|^error:/m) + 1 || undefined)
  const last = [...completed.matchAll(/^(test\/\S+\.test\.ts):$/gm)].at(-1)?.[1]
  return last && files.includes(last) ? last : files[0]!
}

function list(number: number): void {
  const { file, tests } = mutants[number - 1]!
  console.log(`${number} ${describeMutant(mutants[number - 1]!, readFileSync(join(folders[0]!, file), "utf8"))}`)
  console.log(`    ${tests.join(" ")}`)
}

function describeMutant({ area, file, change }: Mutant, text: string): string {
  const line = text.slice(0, change.from).split("\n").length
  const original = text.slice(change.from, change.to)
  return `${area} ${file}:${line} ${change.kind}: ${oneLine(original)} → ${oneLine(change.text)}`
}

function report(number: number, text: string, seconds: number): void {
  const { area, file, change, tests } = mutants[number - 1]!
  const { outcome, by } = results.get(number)!
  const line = text.slice(0, change.from).split("\n").length
  const was = text.slice(change.from, change.to)
  console.log(`${number} ${outcome} ${describeMutant(mutants[number - 1]!, text)}`)
  console.log(`    ${by || `${tests.length} files tried`}, ${seconds} s`)
  const row = { number, outcome, area, file, line, kind: change.kind, was, becomes: change.text, by, tests, seconds }
  if (options.out) appendFileSync(options.out, `${JSON.stringify(row)}\n`)
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > 90 ? `${line.slice(0, 87)}…` : line
}

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!
}

/** Returns a random generator (Mulberry32), so that a seed gives the same mutants everywhere. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
