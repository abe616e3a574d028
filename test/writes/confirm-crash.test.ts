import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { actions as everyAction } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { scratchFolder } from "../database/processes.ts"
import { freshDatabase, openInMemory, scratchUrl } from "../database.ts"
import { LONG, long, longOnServer } from "../long.ts"
import { openService, type Service } from "../service.ts"
import {
  booksAfter,
  type Prepared,
  prepared,
  type State,
  stateAfter,
  stateOf,
  WRITES,
  type Write,
} from "./each-write-cases.ts"
import { type Confirming, confirming, type Death } from "./processes.ts"
import { stepped } from "./stepped.ts"
import { booksAt, booksOf, outcomeOf, tally } from "./writer.ts"

// the test starts fifty processes, so a busy machine must not fail it
setDefaultTimeout(240_000)
const settings = { requestDeadlineMs: 20_000 }

const { folder, remove } = scratchFolder()
afterAll(remove)

const COMMITS: Death[] = [
  { commit: "to be sent" },
  { commit: "sent" },
  { commit: "sent", turns: 1 },
  { commit: "sent", turns: 2 },
  { commit: "done" },
]
const timers = (...ms: number[]): Death[] => ms.map((afterMs) => ({ afterMs }))

/**
 * Writes to other platforms are left out: their confirm only queues a job, and test/consoles/actions kills the workers.
 */
const actions = everyAction.filter(({ outside }) => !outside)
const addKeywords = WRITES.add_keywords as Write

/** A write, and the point at which the process that confirms it is killed. */
interface Round {
  write: Write
  death: Death
}

longOnServer("postgres: a write is applied once or not at all if the process that confirms it is killed", async () => {
  const sql = await freshDatabase()
  const service = openService({ sql, settings })
  const steps = await stepsOf(service, addKeywords)
  const rounds: Round[] = [...steps.map((_, step) => ({ before: step + 1 })), ...COMMITS, ...timers(15, 45)].map(
    (death) => ({ write: addKeywords, death }),
  )
  for (const { name } of actions) {
    const write = WRITES[name] as Write
    if (write === addKeywords) continue
    const { length } = await stepsOf(service, write)
    // at this point everything but the audit row is written
    rounds.push({ write, death: { before: length } }, { write, death: { commit: "sent" } })
  }
  // a process takes longer to start than to die, so the next ones start meanwhile
  const start = () => confirming({ databaseUrl: scratchUrl(sql) })
  const children = [start(), start()]
  const outcomes: Outcome[] = []
  try {
    for (const [at, { write, death }] of rounds.entries()) {
      const child = children.shift() as Confirming
      if (at + 2 < rounds.length) children.push(start())
      outcomes.push(await round(service, await begun(service, write), child, death))
    }
  } finally {
    for (const child of children) child.kill()
  }
  report(outcomes)
  expectEveryStep(outcomes, steps)
  expectEveryAction(outcomes)
  expect(service.logged.join("")).not.toContain("internal_error")
})

long("a confirm whose server is killed with the database directory open is applied once or not at all", async () => {
  const dataDir = join(folder, "data")
  const steps = await firstStart(dataDir)
  const nth = (part: string) => ({ before: steps.findIndex((text) => text.startsWith(part)) + 1 })
  const [lost, unanswered, , late, done] = COMMITS as [Death, Death, Death, Death, Death]
  const deaths: Death[] = [lost, done, ...(LONG ? [nth("insert into audit"), unanswered, late, ...timers(15)] : [])]
  const outcomes: Outcome[] = []
  let last: { begun: PendingWrite; died: string } | undefined
  for (const death of [...deaths, null]) {
    // the next server opens the directory as the killed one left it, and a command reads it through that server
    using child = confirming({ dataDir })
    await child.ready
    const { sql, close } = await openDatabase({ dataDir, as: "command", log: silentLog })
    const service = openService({ sql, settings })
    if (last) outcomes.push(await settled(service, last.begun, last.died))
    const next = await begun(service, addKeywords)
    await close()
    if (death) last = { begun: next, died: await dead(child, next, death) }
  }
  report(outcomes)
  const applied = (at: string) => outcomes.find(({ died }) => died.startsWith(at))?.applied
  expect([applied("commit to be sent"), applied("commit done")]).toEqual([false, true])
  if (LONG) expect(applied("insert into audit")).toBe(false)
})

/** Creates a migrated database in the directory without the 4 s of initdb. Returns the steps of a confirm. */
async function firstStart(dataDir: string): Promise<string[]> {
  const memory = await openInMemory()
  await migrate(memory.sql, readTree("sql", ".sql"), silentLog)
  const steps = await stepsOf(openService({ sql: memory.sql, settings }), addKeywords)
  const template = await memory.backend!.dump()
  await memory.close()
  await (await openEmbedded({ dataDir, as: "server", log: silentLog, template })).close()
  return steps
}

/** Returns the first line of each statement of this write's confirm, in order. */
async function stepsOf(service: Service, write: Write): Promise<string[]> {
  const steps: string[] = []
  const sql = stepped(service.sql, { statement: (_, text) => void steps.push(text) })
  const { key, confirmToken } = await prepared(service, write)
  const body = { confirmToken }
  const answer = await openService({ sql, settings }).call("/v1/actions/confirm", { key, method: "POST", body })
  expect([outcomeOf(answer), steps.at(-1)]).toEqual(["200", AUDIT])
  return steps
}

const AUDIT = "insert into audit"

/** A write that waits for its confirm. */
interface PendingWrite extends Prepared {
  write: Write
  before: State
}

async function begun(service: Service, write: Write): Promise<PendingWrite> {
  const writer = await prepared(service, write)
  return { ...writer, write, before: await stateOf(service.sql, writer) }
}

interface Outcome {
  action: string
  /** The step at which the confirming process died, or "never" if the answer came first. */
  died: string
  applied: boolean
}

async function round(service: Service, begun: PendingWrite, child: Confirming, death: Death): Promise<Outcome> {
  return await settled(service, begun, await dead(child, begun, death))
}

/** Lets the child confirm and die. Returns where it died. */
async function dead(child: Confirming, { key, confirmToken }: PendingWrite, death: Death): Promise<string> {
  const { died } = await child.ask({ key, token: confirmToken, death })
  // the answer came before the process died
  if (died === undefined) child.kill()
  expect([died === undefined, await child.exited]).toEqual([died === undefined, 137])
  return (died as string | undefined) ?? "never"
}

/**
 * Waits for transactions of the killed process, then checks that all or nothing was written, and that a remaining token
 * works once.
 */
async function settled(service: Service, begun: PendingWrite, died: string): Promise<Outcome> {
  const { sql } = service
  const { workspace, write } = begun
  // waits for an unfinished commit, which holds the lock of the token's row
  await sql.begin((tx) => tx`select 1 from confirm_token where workspace_id = ${workspace} for update`)
  const [{ used }] = await sql<[{ used: boolean }]>`
    select used_at is not null as used
    from confirm_token
    where workspace_id = ${workspace}`
  await expectState(sql, begun, used)
  expect([write.action, died, await confirmAgain(service, begun)]).toEqual([
    write.action,
    died,
    used ? "400 confirm_token_invalid" : "200",
  ])
  await expectState(sql, begun, true)
  return { action: write.action, died, applied: used }
}

/**
 * Confirms once more. PostgreSQL releases a dead connection's row locks before its advisory locks. A confirm that
 * waited for the token's row may then still get in_progress, and succeeds a moment later.
 */
async function confirmAgain(service: Service, { key, confirmToken }: PendingWrite): Promise<string> {
  const confirm = () => service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
  const until = performance.now() + 5_000
  let answer = await confirm()
  while (outcomeOf(answer) === "409 in_progress" && performance.now() < until) {
    await Bun.sleep(10)
    answer = await confirm()
  }
  if (answer.status === 400) expect(answer.body.detail).toMatch(/^It was already confirmed at \d{4}-/)
  return outcomeOf(answer)
}

async function expectState(sql: Sql, begun: PendingWrite, applied: boolean): Promise<void> {
  const { workspace, write, before } = begun
  expect(await booksOf(sql, workspace)).toEqual(applied ? booksAfter(write) : booksAt(0))
  expect(await stateOf(sql, begun)).toEqual(applied ? stateAfter(write, before) : before)
}

function report(outcomes: Outcome[]): void {
  const groupOf = ({ died }: Outcome) =>
    /^(commit|\d|never)/.test(died) ? died.replace(/^\d+ ms$/, "by timer") : "earlier"
  const counts = tally(outcomes.map((outcome) => `${groupOf(outcome)}: ${outcome.applied ? "applied" : "not"}`))
  console.log(`${outcomes.length} kills around a confirm: ${JSON.stringify(counts)}`)
}

/**
 * Checks that the process died at every statement of a confirm without applying it, and that confirms that died at the
 * commit had both outcomes.
 */
function expectEveryStep(outcomes: Outcome[], steps: readonly string[]): void {
  const adding = outcomes.filter(({ action }) => action === addKeywords.action)
  const before = adding.filter(({ died }) => steps.includes(died))
  expect(new Set(before.map(({ died }) => died))).toEqual(new Set(steps))
  expect(before.filter(({ applied }) => applied)).toEqual([])
  const applied = (at: string) => adding.filter(({ died }) => died === at).map((outcome) => outcome.applied)
  expect(applied("commit to be sent")).toEqual([false])
  expect(applied("commit done")).toEqual([true])
  expect(applied("commit sent")).toHaveLength(3)
}

/** Checks that each action's process died once right before the audit row, and once around the commit. */
function expectEveryAction(outcomes: Outcome[]): void {
  for (const { name } of actions) {
    const actionOutcomes = outcomes.filter(({ action }) => action === name)
    expect([name, actionOutcomes.find(({ died }) => died === AUDIT)?.applied]).toEqual([name, false])
    expect([name, actionOutcomes.some(({ died }) => died === "commit sent")]).toEqual([name, true])
  }
}
