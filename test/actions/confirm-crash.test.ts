import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { readTree } from "../../src/database/assets.ts"
import { openDatabase } from "../../src/database/connect.ts"
import { openEmbedded } from "../../src/database/embedded/open.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { scratchFolder } from "../database/processes.ts"
import { freshDatabase, openInMemory } from "../database.ts"
import { type House, openHouse } from "../house.ts"
import { addressOf, type Confirming, confirming, type Death } from "./processes.ts"
import { stepped } from "./stepped.ts"
import { booksAt, booksOf, said, someWriter, tally, termsOf, type Writer } from "./writer.ts"

// a busy machine is no failure
setDefaultTimeout(60_000)

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

/** A write, and where the process that confirms it dies. */
interface Round {
  write: Write
  death: Death
}

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: kill -9 at each step of a confirm, 40 rounds: applied once or not at all, and every book agrees",
  async () => {
    const sql = await freshDatabase()
    const house = openHouse({ sql })
    const steps = await stepsOf(house, addTwo)
    const at = (write: Write, deaths: Death[]): Round[] => deaths.map((death) => ({ write, death }))
    const rounds = [
      ...at(
        addTwo,
        [...steps.keys()].map((step) => ({ before: step + 1 })),
      ),
      ...at(addTwo, COMMITS),
      ...at(removeOne, [{ before: 2 }, { commit: "sent" }]),
      ...at(trackOne, [{ before: 2 }, { commit: "sent" }]),
    ]
    rounds.push(...at(addTwo, timers(...Array.from({ length: Math.max(3, 40 - rounds.length) }, (_, n) => 5 + n * 12))))
    // starting takes longer than dying: the next ones start meanwhile
    const start = () => confirming({ databaseUrl: addressOf(sql) })
    const children = [start(), start()]
    const outcomes: Outcome[] = []
    for (const { write, death } of rounds) {
      const child = children.shift() as Confirming
      children.push(start())
      outcomes.push(await round(house, await prepared(house, write), child, death))
    }
    for (const child of children) child.kill()
    report(outcomes)
    expect(outcomes.length).toBeGreaterThanOrEqual(40)
    expectEveryStep(outcomes, steps)
    expect(house.logged.join("")).not.toContain("internal_error")
  },
  60_000,
)

test("kill -9 of the server that holds the directory during a confirm: applied once or not at all", async () => {
  const dataDir = join(folder, "data")
  const steps = await firstStart(dataDir)
  const nth = (part: string) => ({ before: steps.findIndex((text) => text.startsWith(part)) + 1 })
  const deaths: Death[] = [
    nth("insert into audit"),
    ...COMMITS.filter((death) => "commit" in death && death.turns !== 1),
    ...timers(15),
  ]
  const outcomes: Outcome[] = []
  let last: { write: Prepared; died: string } | undefined
  for (const death of [...deaths, null]) {
    // the next server finds the directory as the killed one left it; a command looks at it through that
    using child = confirming({ dataDir })
    await child.ready
    const { sql, close } = await openDatabase({ dataDir, as: "command", log: silentLog })
    const house = openHouse({ sql })
    if (last) outcomes.push(await settled(house, last.write, last.died))
    const write = await prepared(house, addTwo)
    await close()
    if (death) last = { write, died: await dead(child, write, death) }
  }
  report(outcomes)
  const applied = (at: string) => outcomes.find(({ died }) => died.startsWith(at))?.applied
  expect([applied("insert into audit"), applied("commit to be sent"), applied("commit done")]).toEqual([
    false,
    false,
    true,
  ])
}, 60_000)

/** A migrated database in that directory, without the 4 s of an initdb; gives the steps of a confirm. */
async function firstStart(dataDir: string): Promise<string[]> {
  const memory = await openInMemory()
  await migrate(memory.sql, readTree("sql", ".sql"), silentLog)
  const steps = await stepsOf(openHouse({ sql: memory.sql }), addTwo)
  const template = await memory.backend!.dump()
  await memory.close()
  await (await openEmbedded({ dataDir, as: "server", log: silentLog, template })).close()
  return steps
}

interface Write {
  action: string
  args(app: string): object
  credits: number
  /** Of the app before; afterwards it has `after`, or the workspace one app more. */
  keywords: string[]
  after: "one app more" | ((app: string) => string[])
}

const addTwo: Write = {
  action: "add_keywords",
  // that no list has yet, so that lists are made as well
  args: (appId) => ({ appId, keywords: [`tea of ${appId.toLowerCase()}`, "coffee"] }),
  credits: 1,
  keywords: ["old"],
  after: (app) => ["us coffee", "us old", `us tea of ${app.toLowerCase()}`],
}
const removeOne: Write = {
  action: "remove_keywords",
  args: (appId) => ({ appId, keywords: ["old"] }),
  credits: 1,
  keywords: ["old"],
  after: () => [],
}
const trackOne: Write = {
  action: "add_app",
  args: () => ({ androidPkg: "com.example.kettle", keywords: ["tea"] }),
  credits: 2,
  keywords: ["old"],
  after: "one app more",
}

/** The first line of every statement of this write's confirm, in order. */
async function stepsOf(house: House, write: Write): Promise<string[]> {
  const steps: string[] = []
  const sql = stepped(house.sql, { statement: (_, text) => void steps.push(text) })
  const { key, confirmToken } = await prepared(house, write)
  const body = { confirmToken }
  expect((await openHouse({ sql }).call("/v1/actions/confirm", { key, method: "POST", body })).status).toBe(200)
  return steps
}

interface Prepared extends Writer {
  write: Write
  confirmToken: string
}

async function prepared(house: House, write: Write): Promise<Prepared> {
  const writer = await someWriter(house, { keywords: write.keywords })
  return { ...writer, write, confirmToken: await writer.token(write.action, write.args(writer.app)) }
}

interface Outcome {
  /** Where it died, or "never" when the answer came first. */
  died: string
  applied: boolean
}

async function round(house: House, write: Prepared, child: Confirming, death: Death): Promise<Outcome> {
  return await settled(house, write, await dead(child, write, death))
}

/** Lets the child confirm and die, and says where it did. */
async function dead(child: Confirming, { key, confirmToken }: Prepared, death: Death): Promise<string> {
  const { died } = await child.ask({ key, token: confirmToken, death })
  // the answer was faster than the timer
  if (died === undefined) child.kill()
  expect([died === undefined, await child.exited]).toEqual([died === undefined, 137])
  return (died as string | undefined) ?? "never"
}

/** Waits for what the killed process had begun; then all of it stands or nothing, and a token left over works once. */
async function settled(house: House, write: Prepared, died: string): Promise<Outcome> {
  const { sql } = house
  // a commit that is under way holds the token's row
  await sql.begin((tx) => tx`select 1 from confirm_token where workspace_id = ${write.workspace} for update`)
  const [{ used }] = await sql<[{ used: boolean }]>`
    select used_at is not null as used
    from confirm_token
    where workspace_id = ${write.workspace}`
  await expectState(sql, write, used)
  const again = await confirmAgain(house, write)
  expect(again).toBe(used ? "400 confirm_token_invalid" : "200")
  await expectState(sql, write, true)
  return { died, applied: used }
}

async function confirmAgain(house: House, { key, confirmToken }: Prepared): Promise<string> {
  const answer = await house.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
  if (answer.status === 400) expect(answer.body.detail).toMatch(/^It was used at \d{4}-/)
  return said(answer)
}

async function expectState(sql: Sql, { workspace, app, write }: Prepared, applied: boolean): Promise<void> {
  expect(await booksOf(sql, workspace)).toEqual(applied ? booksAt(1, write.credits) : booksAt(0))
  const apps = await sql`select id from tracked_app where workspace_id = ${workspace}`
  const { after } = write
  expect(apps).toHaveLength(applied && after === "one app more" ? 2 : 1)
  expect(await termsOf(sql, app)).toEqual(applied && after !== "one app more" ? after(app) : ["us old"])
}

function report(outcomes: Outcome[]): void {
  const where = ({ died }: Outcome) =>
    /^(commit|\d|never)/.test(died) ? died.replace(/^\d+ ms$/, "by timer") : "earlier"
  const counts = tally(outcomes.map((outcome) => `${where(outcome)}: ${outcome.applied ? "applied" : "not"}`))
  console.log(`${outcomes.length} kills around a confirm: ${JSON.stringify(counts)}`)
}

/** Every statement was died at, none of these was applied; the commit was lost, and was seen to be kept unanswered. */
function expectEveryStep(outcomes: Outcome[], steps: readonly string[]): void {
  const before = outcomes.filter(({ died }) => steps.includes(died))
  expect(new Set(before.map(({ died }) => died))).toEqual(new Set(steps))
  expect(before.filter(({ applied }) => applied)).toEqual([])
  const applied = (at: string) => outcomes.filter(({ died }) => died === at).map((outcome) => outcome.applied)
  expect(applied("commit to be sent")).toEqual([false])
  expect(applied("commit done")).toEqual([true])
  expect(applied("commit sent").length).toBeGreaterThan(0)
}
