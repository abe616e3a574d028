import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { openDatabase } from "../../src/database/connect.ts"
import type { Sql, Tx } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { removeApp, trackApp } from "../../src/tracking/apps.ts"
import { TrackingProblem } from "../../src/tracking/checks.ts"
import { addTerms, removeTerms } from "../../src/tracking/terms.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { cases, long } from "../long.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { slowness } from "../unit.ts"
import { steppable } from "./stepped.ts"
import { booksAt, booksOf, outcomeOf, someWriter, tally, termsOf, type Writer } from "./writer.ts"

// a busy machine must not fail it
setDefaultTimeout(60_000)

let sql: Sql
let steps: ReturnType<typeof steppable>
let service: Service
/** The connections of the command line. */
let otherConnection: Sql

beforeAll(async () => {
  sql = await freshDatabase()
  steps = steppable(sql)
  service = openService({ sql: steps.sql, settings: { requestDeadlineMs: 20_000 } })
  if (!process.env.DATABASE_URL) otherConnection = sql
  else
    otherConnection = (await openDatabase({ databaseUrl: scratchUrl(sql), dataDir: "", as: "command", log: silentLog }))
      .sql
})

/** A previewed write, and a concurrent change of the same target. */
interface Meeting {
  action: string
  args(writer: Writer): object
  /** Keywords that the app tracks from the start, in us and de. */
  keywords?: string[]
  overrides?: Record<string, number>
  /** Runs before the preview. */
  prepare?(tx: Tx, writer: Writer): Promise<unknown>
  change(tx: Tx, writer: Writer): Promise<unknown>
  /** The confirm's answer if the confirm comes before the change, and its answer if it comes after. */
  answers: [first: string, second: string]
}

const MISMATCH = "409 confirm_token_mismatch"
const IOS = "389801252"

const MEETINGS: Record<string, Meeting> = {
  "add a keyword, the same one added": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea", "coffee"] }),
    change: (tx, { app }) => addTerms(tx, app, "all", ["tea"]),
    answers: ["200", MISMATCH],
  },
  "add a keyword, the same one added in one storefront": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea"] }),
    change: (tx, { app }) => addTerms(tx, app, ["de"], ["tea"]),
    answers: ["200", MISMATCH],
  },
  "add two keywords, the one tracked already removed": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea", "old"] }),
    keywords: ["old"],
    change: (tx, { app }) => removeTerms(tx, app, "all", ["old"]),
    answers: ["200", MISMATCH],
  },
  "add a keyword tracked already, removed": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["old"] }),
    keywords: ["old"],
    change: (tx, { app }) => removeTerms(tx, app, ["us"], ["old"]),
    answers: ["200", MISMATCH],
  },
  "add a keyword, the app removed": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea"] }),
    keywords: ["old"],
    change: (tx, { app }) => removeApp(tx, app),
    answers: ["200", "404 not_found"],
  },
  "add a keyword, another one added": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea"] }),
    change: (tx, { app }) => addTerms(tx, app, "all", ["coffee"]),
    answers: ["200", "200"],
  },
  "add a keyword, another one added that leaves no room": {
    action: "add_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea"] }),
    overrides: { trackedKeywords: 3 },
    change: (tx, { app }) => addTerms(tx, app, "all", ["coffee"]),
    answers: ["200", "403 write_limit_reached"],
  },
  "remove a keyword, the same one removed": {
    action: "remove_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["old", "tea"] }),
    keywords: ["old"],
    change: (tx, { app }) => removeTerms(tx, app, "all", ["old"]),
    answers: ["200", MISMATCH],
  },
  "remove a keyword, added in the other storefront": {
    action: "remove_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["old"] }),
    prepare: (tx, { app }) => addTerms(tx, app, ["us"], ["old"]),
    change: (tx, { app }) => addTerms(tx, app, ["de"], ["old"]),
    answers: ["200", MISMATCH],
  },
  "remove a keyword, the app removed": {
    action: "remove_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["old"] }),
    keywords: ["old"],
    change: (tx, { app }) => removeApp(tx, app),
    answers: ["200", "404 not_found"],
  },
  "add an app, the same one added": {
    action: "add_app",
    args: () => ({ iosId: IOS, keywords: ["tea"] }),
    change: (tx, { workspace }) => tracked(tx, workspace, { iosId: IOS }),
    answers: ["200", MISMATCH],
  },
  "add an app on both stores, added on one": {
    action: "add_app",
    args: () => ({ iosId: IOS, androidPkg: "com.example.kettle" }),
    change: (tx, { workspace }) => tracked(tx, workspace, { androidPkg: "com.example.kettle" }),
    answers: ["200", MISMATCH],
  },
  "add an app, another one added that leaves no room": {
    action: "add_app",
    args: () => ({ iosId: IOS }),
    overrides: { apps: 2 },
    change: (tx, { workspace }) => tracked(tx, workspace, { iosId: "284882215" }),
    answers: ["200", "403 write_limit_reached"],
  },
  "add an app tracked already, removed": {
    action: "add_app",
    args: () => ({ androidPkg: "com.example.kettle" }),
    prepare: (tx, { app }) => putOnPlay(tx, app),
    change: (tx, { app }) => removeApp(tx, app),
    answers: ["200", MISMATCH],
  },
}

const tracked = (tx: Tx, workspaceId: number, ids: { iosId?: string; androidPkg?: string }) =>
  trackApp(tx, { workspaceId, ...ids, name: "Twin", countries: ["us"], keywords: ["twin"], origin: "own" })

/** Adds a Google Play app to the tracked app. */
async function putOnPlay(tx: Tx, app: string): Promise<void> {
  await tx`
    insert into store_app (platform, store_id)
    select 'android', 'com.example.kettle'
    where not exists (select from store_app where store_id = 'com.example.kettle')`
  await tx`
    update tracked_app
    set android_app = (select id from store_app where store_id = 'com.example.kettle')
    where id = ${app}`
}

/**
 * Everything observable after a confirm and a concurrent change of its target: the answer and its preview, the result
 * of the change, the apps' keywords, the audit rows, and the counts of tokens and credits. It must equal the outcome of
 * running one after the other, in either order.
 */
interface Outcome {
  answer: string
  outcome: unknown
  preview: unknown
  change: unknown
  /** For each app: whether it is the writer's own app, and the app's keywords. */
  terms: (readonly [boolean, string[]])[]
  audit: unknown[]
  books: unknown
}

/** Short runs try every second case, because each-write.test.ts also tries each write after a change. */
const TRIED = Object.entries(MEETINGS).filter((_, at) => at % cases(2, 1) === 0)
const ROUNDS = cases(8, 28)

long(
  "a confirm concurrent with a change of its target takes effect entirely before or after the change",
  async () => {
    const random = randomFrom(7)
    const names = TRIED.map(([name]) => name)
    // the time that a confirm takes on this machine under its present load
    const changeMs = 20 * (await slowness())
    const rounds = Array.from({ length: ROUNDS }, (_, n) => ({
      name: names[n % names.length] as string,
      // every fourth confirm starts late, because a late change on a busy machine always comes after the confirm
      start:
        n % 4 === 3
          ? { confirmMs: changeMs * random(), changeMs: 0 }
          : { confirmMs: 10 * random(), changeMs: changeMs * random() },
    }))
    const orders = await meetAll("started at almost the same time", rounds)
    // both orders must have occurred, otherwise nothing was tested
    for (const order of ["confirm first", "change first"])
      expect(orders.filter((each) => each === order).length).toBeGreaterThan(ROUNDS / 10)
  },
  60_000,
)

test.skipIf(!process.env.DATABASE_URL)(
  "postgres: a change that begins at any step of a confirm takes effect entirely before or after the confirm",
  async () => {
    const rounds = [...(await expected())].flatMap(([name, { length }]) =>
      // the step after the last statement is the commit
      Array.from({ length: length + 1 }, (_, n) => ({ name, start: { step: n + 1 } })),
    )
    await meetAll("begun at each step", rounds)
  },
  // 260 cases, each with about twenty round trips to the server
  300_000,
)

/**
 * How confirm and change overlap: start delays in ms, the statement of the confirm at which the change starts, or one
 * after the other.
 */
type Start = { confirmMs: number; changeMs: number } | { step: number } | "confirm first" | "change first"

/**
 * Runs these confirms with their changes, some at once. Returns the order of each, and fails if a result matches
 * neither order.
 */
async function meetAll(how: string, rounds: { name: string; start: Start }[]): Promise<string[]> {
  const expectedByName = await expected()
  const orders: string[] = []
  const answers: string[] = []
  const waiting = rounds.values()
  const lane = async () => {
    for (const { name, start } of waiting) {
      const outcome = await runMeeting(MEETINGS[name] as Meeting, start)
      const { first, second } = expectedByName.get(name) as Expected
      const text = JSON.stringify(outcome)
      const order = text === first ? "confirm first" : text === second ? "change first" : "stale"
      if (order === "stale") console.log(`${name} ${JSON.stringify(start)}\nsaw ${text}\nnot ${first}\nnor ${second}`)
      orders.push(order)
      answers.push(outcome.answer)
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  const counts = tally(orders)
  console.log(
    `${orders.length} meetings, ${how}: ${counts.stale ?? 0} stale of ${JSON.stringify(counts)}, ` +
      `${JSON.stringify(tally(answers))}`,
  )
  expect([orders.length, counts.stale]).toEqual([rounds.length, undefined])
  expect(service.logged.join("")).not.toMatch(/internal_error|deadlock/)
  return orders
}

interface Expected {
  /** The results of the two orders, as text. */
  first: string
  second: string
  /** Number of statements of the confirm. */
  length: number
}

let found: Map<string, Expected> | undefined

/** Returns the results without overlap, after checking them. */
async function expected(): Promise<Map<string, Expected>> {
  if (found) return found
  const byName = new Map<string, Expected>()
  for (const [name, meeting] of TRIED) byName.set(name, await bothOrders(meeting))
  found = byName
  return byName
}

async function bothOrders(meeting: Meeting): Promise<Expected> {
  let length = 0
  const commit = (n: number) => {
    length = n
  }
  const first = await steps.during({ commit }, () => runMeeting(meeting, "confirm first"))
  const second = await runMeeting(meeting, "change first")
  expect([first.answer, second.answer]).toEqual(meeting.answers)
  if (second.answer !== "200") expect([second.audit, second.books]).toEqual([[], booksAt(0)])
  if (second.answer === MISMATCH) expect(second.preview).not.toEqual(first.preview)
  return { first: JSON.stringify(first), second: JSON.stringify(second), length }
}

async function runMeeting(meeting: Meeting, start: Start): Promise<Outcome> {
  const { action, args, keywords, overrides, prepare, change } = meeting
  const writer = await someWriter(service, { keywords, overrides, countries: ["us", "de"] })
  if (prepare) await sql.begin((tx) => prepare(tx as Tx, writer))
  const body = { action, args: args(writer) }
  const previewed = (await service.call("/v1/actions", { key: writer.key, method: "POST", body })).body
  const [answer, changed] = await overlap(
    start,
    () => writer.confirm(previewed.confirmToken),
    () => otherConnection.begin((tx) => change(tx as Tx, writer)).then((done) => done ?? "done", problemOf),
  )
  const apps = await sql<{ id: string }[]>`
    select id
    from tracked_app
    where workspace_id = ${writer.workspace}
    order by created_at, id`
  const audit = await sql`
    select action, preview, credits, result
    from audit
    where workspace_id = ${writer.workspace}
    order by id`
  const outcome = {
    answer: outcomeOf(answer),
    outcome: answer.status === 200 ? { status: answer.body.status, result: answer.body.result } : null,
    preview: answer.body.preview ?? previewed.preview,
    change: changed,
    // creation order of the two other apps is not fixed, so they are sorted
    terms: (await Promise.all(apps.map(async ({ id }) => [id === writer.app, await termsOf(sql, id)] as const))).sort(
      (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1),
    ),
    audit: [...audit],
    books: await booksOf(sql, writer.workspace),
  }
  return anonymous(outcome, writer.app)
}

async function overlap(
  start: Start,
  confirming: () => Promise<Answer>,
  changing: () => Promise<unknown>,
): Promise<[Answer, unknown]> {
  if (start === "confirm first") return [await confirming(), await changing()]
  if (start === "change first") {
    const changed = await changing()
    return [await confirming(), changed]
  }
  if ("confirmMs" in start) {
    return await Promise.all([Bun.sleep(start.confirmMs).then(confirming), Bun.sleep(start.changeMs).then(changing)])
  }
  let changed: Promise<unknown> | undefined
  // the confirm continues when the change is done, or after enough time for the change to be blocked by the confirm
  const change = async () => {
    changed ??= changing()
    await Promise.race([changed, Bun.sleep(8)])
  }
  const statement = (n: number) => (n === start.step ? change() : undefined)
  const answer = await steps.during({ statement, commit: change }, confirming)
  return [answer, await (changed ?? changing())]
}

/** Returns the only error that a change may have. */
function problemOf(error: unknown): string {
  if (error instanceof TrackingProblem) return error.message
  throw error
}

/** Replaces random ids. */
function anonymous(outcome: Outcome, app: string): Outcome {
  return JSON.parse(
    JSON.stringify(outcome)
      .replaceAll(app, "its app")
      .replaceAll(/app_\w{12}/g, "another app"),
  )
}

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
