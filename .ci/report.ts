// Reads the JUnit files of all runs of .ci/run or .ci/long. Prints the slowest files and the slow files that .ci/slow
// does not list. A line of .ci/slow whose file does not exist is a failure. In .ci/long, so is a test that was skipped
// in every run.
import { existsSync, readFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"

const SHOWN = 25
/** A file that takes longer than this on an idle machine is listed in .ci/slow with a reason. */
const SLOW_S = 20

/** The machine's load, divided by the usual load of these runs, two processes per core. */
const busy = Math.max(1, loadavg()[1]! / cpus().length / 2)

interface File {
  run: string
  path: string
  seconds: number
}

const say = (line: string) => process.stdout.write(`${line}\n`)

const files: File[] = []
const ran = new Set<string>()
const skipped = new Set<string>()

for (const path of process.argv.slice(2)) {
  const run = path.replace(/.*\/|\.xml$/g, "")
  const text = existsSync(path) ? readFileSync(path, "utf8") : ""
  for (const [, path, seconds] of text.matchAll(
    /<testsuite [^>]*file="([^"]*)"[^>]* tests="\d+"[^>]* time="([\d.]+)" hostname/g,
  ))
    if (!files.some((file) => file.run === run && file.path === path))
      files.push({ run, path: path!, seconds: Number(seconds) })
  for (const [, attributes, end] of text.matchAll(/<testcase ([^>]*?)(\/>|>\s*<(?:skipped|failure|error)?)/g)) {
    const named = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes!)?.[1] ?? ""
    const test = `${named("file")}: ${named("classname")} ${named("name")}`
    if (named("name") === "(unnamed)") continue
    const into = end!.endsWith("<skipped") ? skipped : ran
    into.add(test)
  }
}

const reasons = new Map(
  readFileSync(".ci/slow", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("test/"))
    .map((line) => [line.split(" ")[0]!, line]),
)

say(`\n== the slowest files (s), where a machine as busy as this one takes ${busy.toFixed(1)} times as long`)
const slowest = files.toSorted((a, b) => b.seconds - a.seconds)
for (const { run, path, seconds } of slowest.slice(0, SHOWN)) say(`${seconds.toFixed(1).padStart(6)} ${path} (${run})`)

// not a failure, because a machine may be slow for reasons that its load does not show
for (const { path, seconds } of slowest)
  if (seconds > SLOW_S * busy && !reasons.has(path))
    say(`${path} takes ${seconds.toFixed(0)} s; add it to .ci/slow with a reason`)

const isExcused = (test: string) => process.env.NO_BROWSER && test.includes("-browser.test.ts")
const neverRan = process.env.LONG ? [...skipped].filter((test) => !ran.has(test) && !isExcused(test)) : []

const problems = [
  ...[...reasons.keys()].filter((path) => !existsSync(path)).map((path) => `${path} in .ci/slow does not exist`),
  ...neverRan.map((test) => `skipped in every run: ${test}`),
]
for (const problem of problems) say(problem)
say(`report: ${problems.length} problems`)
process.exit(Math.min(problems.length, 100))
