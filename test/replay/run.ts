// bun test/replay/run.ts — sends the same calls to the build of a fixed commit and to this checkout's (README.md).
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { BRIDGE_COMMIT, upgradeBackup } from "./bridge.ts"
import { BASE_COMMIT, binaryOfCheckout, binaryOfCommit } from "./builds.ts"
import { type Call, message, operationsIn, otherCalls, restCalls, type Tool, toolCalls } from "./calls.ts"
import { compareCommands } from "./commands.ts"
import { type Comparer, makeComparer } from "./compare.ts"
import { compareImports } from "./imports.ts"
import { Report } from "./report.ts"
import { type Build, cliJson, openBuild, send } from "./server.ts"
import { ask, field, parsed, runSteps, type Session } from "./session.ts"
import { type Consoles, makeWorld, openConsoles, type World } from "./world.ts"
import { get, writeSteps } from "./writes.ts"

interface Options {
  oldBinary: string
  bridgeBinary: string
  newBinary: string
  texts: boolean
  only?: RegExp
}

const say = (line: string) => console.log(line)

async function replay({ oldBinary, bridgeBinary, newBinary, texts, only }: Options): Promise<boolean> {
  const now = new Date()
  const folder = mkdtempSync(join(tmpdir(), "appmeter-replay-run-"))
  const consoles = openConsoles(now)
  const open = (name: "old" | "new" | "bridge", binary: string) =>
    openBuild({ name: name === "bridge" ? "old" : name, binary, folder: join(folder, name), env: consoles.env })
  const builds = [open("old", oldBinary), open("new", newBinary)] as const
  const bridge = oldBinary === newBinary ? null : open("bridge", bridgeBinary)
  const report = new Report()
  const comparer = makeComparer({ texts, startedAt: now })
  const sessions: Session[] = []
  try {
    const clock = stopwatch()
    const world = await makeWorlds(builds, bridge, consoles, now)
    clock("worlds")
    for (const build of builds) sessions.push({ build, server: await build.serve(), aliases: { ...world.aliases } })
    const pair = sessions as [Session, Session]
    await settle(pair)
    clock("settled")
    const calls = (await allCalls(pair, now)).filter(({ operation }) => only?.test(operation) ?? true)
    await compareCalls(pair, calls, comparer, report)
    clock(`${calls.length} calls`)
    if (!only) {
      await compareWrites(pair, consoles, comparer, report, now)
      await compareBursts(pair, comparer, report)
      clock("writes")
      await compareCommands(pair, comparer, report)
      clock("ledger and commands")
    }
    for (const { server } of sessions.splice(0)) await server.stop()
    if (!only) {
      await compareImports({ folder, oldBinary, newBinary, now }, comparer, report)
      clock("imports in three orders")
    }
    if (new Date().toISOString().slice(0, 10) !== now.toISOString().slice(0, 10))
      say("The run crossed midnight UTC: days moved under it. Run it again.")
    const { passed, failed } = report.print(say, { isComplete: !only && oldBinary !== newBinary })
    say(`${passed} passed, ${failed} failed`)
    return failed === 0
  } finally {
    for (const { server } of sessions) await server.stop()
    await consoles.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Makes the world with the old build. The bridge upgrades its backup, and the new build restores it. */
async function makeWorlds(
  builds: readonly [Build, Build],
  bridge: Build | null,
  consoles: Consoles,
  now: Date,
): Promise<World> {
  const [old, next] = builds
  const server = await old.serve()
  const world = await makeWorld(old, consoles, now)
  const backup = join(old.folder, "world.backup")
  await cliJson(old, ["backup", backup])
  await server.stop()
  const copy = join(next.folder, "world.backup")
  if (bridge) await upgradeBackup(bridge, next, backup, copy)
  else cpSync(backup, copy)
  await cliJson(next, ["restore", "world.backup", "--force"])
  return world
}

/** Waits until both servers have derived their data in the background: until three rounds have the same answers. */
async function settle(pair: [Session, Session]): Promise<void> {
  const paths = [
    "/v1/hive/find?genre=6023&estimates=true&limit=50",
    "/v1/hive/charts?estimates=true&limit=50",
    "/v1/alerts?limit=500",
  ]
  let [previous, same] = ["", 0]
  for (let round = 0; round < 120 && same < 3; round++) {
    const texts: string[] = []
    for (const path of paths)
      for (const session of pair) texts.push((await ask(session, get(path, "settle", "settle"))).text)
    const current = texts.join("\n")
    same = current === previous ? same + 1 : 0
    previous = current
    await Bun.sleep(700)
  }
}

/**
 * An operation that is left out. In some of its calls the old build loses a database slot, and after a few of them it
 * answers no more calls.
 */
const LOSES_SLOTS = "get_rival_market"

/** Returns the calls derived from the documents of both builds. A call that both documents give occurs once. */
async function allCalls(pair: [Session, Session], now: Date): Promise<Call[]> {
  const lists = await Promise.all(
    pair.map(async (session) => {
      const document = parsed((await send(`${session.server.url}/v1/openapi.json`, {})).text)
      const listed = parsed((await ask(session, message("tools/list", "list", "tools/list", {}, "full"))).text)
      const tools = field(listed, "result.tools") as Tool[]
      return [...restCalls(operationsIn(document as never), now), ...toolCalls(tools, now)]
    }),
  )
  const calls = new Map<string, Call>()
  for (const call of [...otherCalls(), ...lists.flat()])
    calls.set(JSON.stringify([call.method, call.path, call.key, call.headers, call.body]), call)
  return [...calls.values()].filter(({ operation }) => operation !== LOSES_SLOTS)
}

/** Sends each call to both builds at once, one call after another, and follows the first page to the second. */
async function compareCalls(
  pair: [Session, Session],
  calls: Call[],
  comparer: Comparer,
  report: Report,
): Promise<void> {
  const slow = new Map<string, number>()
  for (const call of calls) {
    const startedAt = performance.now()
    const [old, next] = await Promise.all(pair.map((session) => ask(session, call)))
    const took = performance.now() - startedAt
    if (took > 500) slow.set(call.operation, (slow.get(call.operation) ?? 0) + took)
    report.add(call.surface, comparer.compare(call, old!, next!))
    const cursors = [old, next].map((answer) => field(parsed(answer!.text), "nextCursor"))
    if (cursors.some((cursor) => typeof cursor !== "string") || call.path.includes("cursor=")) continue
    const paged = {
      ...call,
      state: `${call.state}, next page`,
      path: `${call.path}${call.path.includes("?") ? "&" : "?"}cursor=@{next}`,
    }
    const pages = await Promise.all(
      pair.map((session, i) =>
        ask({ ...session, aliases: { ...session.aliases, next: encodeURIComponent(String(cursors[i])) } }, paged),
      ),
    )
    report.add(call.surface, comparer.compare(paged, pages[0]!, pages[1]!))
  }
  for (const [operation, ms] of [...slow].sort(([, a], [, b]) => b - a).slice(0, 5))
    say(`  slow: ${operation} took ${Math.round(ms / 1_000)} s in calls of half a second or more`)
}

/**
 * Compares writes. Both builds share the consoles, so the whole script runs on one build and then, from the same start,
 * on the other.
 */
async function compareWrites(
  pair: [Session, Session],
  consoles: Consoles,
  comparer: Comparer,
  report: Report,
  now: Date,
): Promise<void> {
  const steps = writeSteps(now)
  const answers = []
  for (const session of pair) {
    consoles.reset()
    answers.push(await runSteps(session, steps))
  }
  for (const [i, step] of steps.entries()) report.add("write", comparer.compare(step, answers[0]![i]!, answers[1]![i]!))
}

/**
 * Sends many calls at once with a key limited to two per second. Both builds must refuse most of them, in the same way.
 */
async function compareBursts(pair: [Session, Session], comparer: Comparer, report: Report): Promise<void> {
  const call: Call = { ...get("/v1/account", "whoami", "burst", "slow"), surface: "rest" }
  const refused = await Promise.all(
    pair.map(async (session) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(session, call)))
      return answers.find(({ status }) => status === 429) ?? answers[0]!
    }),
  )
  report.add("rest", comparer.compare(call, refused[0]!, refused[1]!))
}

function stopwatch(): (name: string) => void {
  let last = performance.now()
  return (name) => {
    const now = performance.now()
    say(`${((now - last) / 1_000).toFixed(1).padStart(6)} s  ${name}`)
    last = now
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      old: { type: "string" },
      new: { type: "string" },
      self: { type: "boolean" },
      texts: { type: "boolean" },
      only: { type: "string" },
    },
  })
  try {
    const oldBinary = values.old ?? (await binaryOfCommit(BASE_COMMIT))
    const bridgeBinary = await binaryOfCommit(BRIDGE_COMMIT)
    const newBinary = values.self ? oldBinary : (values.new ?? (await binaryOfCheckout()))
    const only = values.only === undefined ? {} : { only: new RegExp(values.only) }
    const isSame = await replay({ oldBinary, bridgeBinary, newBinary, texts: values.texts ?? false, ...only })
    process.exit(isSame ? 0 : 1)
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    say("0 passed, 1 failed")
    process.exit(1)
  }
}
