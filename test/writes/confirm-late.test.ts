import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { openDatabase } from "../../src/database/connect.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { proxyTo } from "../database/proxy.ts"
import { freshDatabase, scratchUrl } from "../database.ts"
import { cases, slow } from "../long.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { type Steps, steppable } from "./stepped.ts"
import { booksAt, booksOf, outcomeOf, someWriter, tally, termsOf, type Writer } from "./writer.ts"

// a busy machine must not fail it
setDefaultTimeout(120_000)

const TIMES = cases(4, 12)

let sql: Sql
/** Uses the usual deadlines, for the steps before and after. */
let service: Service
/** Answers its callers after 500 ms, even if their call has not ended. */
let hasty: Service
let steps: ReturnType<typeof steppable>

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  steps = steppable(sql)
  hasty = openService({ sql: steps.sql, settings: { requestDeadlineMs: 500 } })
})

const postgresOnly = test.skipIf(!process.env.DATABASE_URL)

describe("a confirm delayed until its caller got a 503", () => {
  slow(
    `a confirm that starts only after its caller got a 503 writes nothing in ${TIMES} runs, and its token works`,
    async () => {
      const statements: string[] = []
      const confirmations = await inPairs(TIMES, () =>
        late((hold) => ({ begin: hold, statement: (_, text) => void statements.push(text) })),
      )
      expect(statements).toEqual([])
      const ends = tally(await Promise.all(confirmations.map(settled)))
      console.log(`${TIMES} confirms whose turn came late: ${JSON.stringify(ends)}`)
      expect(ends).toEqual({ "nothing, then 200": TIMES })
    },
  )

  slow("a confirm delayed within its transaction is rolled back, and its token works", async () => {
    for (const step of ["update confirm_token", "insert into audit"]) {
      const pending = await late((hold) => ({ statement: (_, text) => (text.startsWith(step) ? hold() : undefined) }))
      expect([step, await settled(pending)]).toEqual([step, "nothing, then 200"])
    }
  })

  postgresOnly("postgres: a confirm delayed at any statement is rolled back, and its token works", async () => {
    const length = await lengthOf()
    const confirmations = await inPairs(length, (n) =>
      late((hold) => ({ statement: (at) => (at === n + 1 ? hold() : undefined) })),
    )
    const ends = tally(await Promise.all(confirmations.map(settled)))
    console.log(`confirms held up at each of their ${length} statements: ${JSON.stringify(ends)}`)
    expect(ends).toEqual({ "nothing, then 200": length })
  })

  slow("a confirm delayed in or after its commit is applied, and its token is reported as used", async () => {
    for (const step of ["commit", "committed"] as const) {
      const pending = await late((hold) => ({ [step]: hold }))
      expect([step, await settled(pending)]).toEqual([step, "applied, then 400 confirm_token_invalid"])
    }
  })

  postgresOnly(
    "postgres: a confirm delayed by another transaction's lock is rolled back, and its token works",
    async () => {
      const account = (writer: Writer) => sql`select 1 from account where workspace_id = ${writer.workspace} for update`
      const app = (writer: Writer) => sql`select 1 from tracked_app where id = ${writer.app} for update`
      const token = (writer: Writer) =>
        sql`select 1 from confirm_token where workspace_id = ${writer.workspace} for update`
      for (const row of [account, app, token]) {
        const { promise: released, resolve: release } = Promise.withResolvers<void>()
        const locked = Promise.withResolvers<void>()
        const writer = await removing()
        const locking = sql.begin(async (tx) => {
          await tx`${row(writer)}`
          locked.resolve()
          await released
        })
        await locked.promise
        const pending = await late(() => ({}), { writer, answered: release })
        await locking
        expect(await settled(pending)).toBe("nothing, then 200")
      }
    },
  )
})

describe("a confirm that loses its database", () => {
  postgresOnly(
    "postgres: after a confirm loses its connection at any step, its token shows whether it was applied",
    async () => {
      const proxy = await proxyTo(new URL(scratchUrl(sql)))
      const far = await openDatabase({ databaseUrl: proxy.url, dataDir: "", as: "server", log: silentLog })
      const { sql: distant, during } = steppable(far.sql)
      const distantService = openService({ sql: distant, settings: { requestDeadlineMs: 500 } })
      const ends: string[] = []
      const length = await lengthOf()
      for (const cut of awayAt(proxy, length)) {
        const writer = await removing()
        const { key, confirmToken } = writer
        while ((await distantService.call("/v1/account", { key })).status !== 200) await Bun.sleep(20)
        const over = Promise.withResolvers<void>()
        const confirming = () =>
          distantService.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
        const answer = await during({ ...cut.steps, ended: over.resolve }, confirming)
        proxy.freeze(false)
        proxy.cut()
        await over.promise
        // an unfinished commit holds the lock of the token's row
        await sql.begin((tx) => tx`select 1 from confirm_token where workspace_id = ${writer.workspace} for update`)
        // the last connections may be cut too late
        const inTime = cut.where !== "cut around the commit" || answer.status !== 200
        ends.push(`${cut.where}: ${inTime ? await settled({ writer, answer }) : "answered before"}`)
      }
      await far.close()
      proxy.close()
      console.log(`${ends.length} confirms whose database went away: ${JSON.stringify(tally(ends))}`)
      expect(tally(ends)).toMatchObject({
        "cut at a statement: nothing, then 200": length,
        "frozen at a statement: nothing, then 200": 3,
        "cut before the commit: nothing, then 200": 1,
        "frozen before the commit: nothing, then 200": 1,
        "cut once committed: applied, then 400 confirm_token_invalid": 1,
      })
    },
  )
})

/** Runs the work in pairs, since each delayed confirm holds a slot and the embedded database has two. */
async function inPairs<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let from = 0; from < count; from += 2) {
    const some = Array.from({ length: Math.min(2, count - from) }, (_, i) => work(from + i))
    done.push(...(await Promise.all(some)))
  }
  return done
}

/** Yields every step of a confirm with this many statements, with a cut or frozen connection. */
function* awayAt({ cut, freeze }: Awaited<ReturnType<typeof proxyTo>>, length: number): Generator<Away> {
  const frozen = () => {
    freeze(true)
  }
  for (let step = 1; step <= length; step++)
    yield { where: "cut at a statement", steps: { statement: (n) => (n === step ? cut() : undefined) } }
  for (const step of [1, 5, length])
    yield { where: "frozen at a statement", steps: { statement: (n) => (n === step ? frozen() : undefined) } }
  yield { where: "cut before the commit", steps: { commit: cut } }
  yield { where: "frozen before the commit", steps: { commit: frozen } }
  // the commit is sent one turn of the event loop later, and passes the proxy some turns after that
  for (let turns = 1; turns <= 6; turns++)
    yield { where: "cut around the commit", steps: { commit: () => void afterTurns(turns, cut) } }
  yield { where: "cut once committed", steps: { committed: () => Bun.sleep(600) } }
}

interface Away {
  where: string
  steps: Steps
}

async function afterTurns(turns: number, action: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
  action()
}

interface PendingConfirm {
  writer: Removing
  answer: Answer
}

type Removing = Writer & { confirmToken: string }

async function removing(): Promise<Removing> {
  const writer = await someWriter(service, { keywords: ["old"] })
  return { ...writer, confirmToken: await writer.token("remove_keywords", { appId: writer.app, keywords: ["old"] }) }
}

/** Counts the statements of such a confirm. */
async function lengthOf(): Promise<number> {
  const { key, confirmToken } = await removing()
  let length = 0
  const commit = (n: number) => {
    length = n
  }
  const confirming = () => hasty.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
  expect(outcomeOf(await steps.during({ commit }, confirming))).toBe("200")
  return length
}

/**
 * Starts a confirm that `hold` delays until its caller has got a 503 after 500 ms. Resolves when the confirm has ended.
 */
async function late(
  stepsOf: (hold: () => Promise<void>) => Steps,
  { writer, answered }: { writer?: Removing; answered?: () => void } = {},
): Promise<PendingConfirm> {
  const ownWriter = writer ?? (await removing())
  const gate = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const { key, confirmToken } = ownWriter
  // fills the cache of keys first, so that the time is that of the confirm only
  while ((await hasty.call("/v1/account", { key })).status !== 200) await Bun.sleep(50)
  const confirming = () => hasty.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken } })
  const answer = await steps.during({ ...stepsOf(() => gate.promise), ended: over.resolve }, confirming)
  gate.resolve()
  answered?.()
  await over.promise
  return { writer: ownWriter, answer }
}

const MAYBE =
  "The write may have been applied. Confirm again with the same token: if it was applied, the answer says that " +
  "the token was used."

/**
 * Returns the outcome of a confirm that was answered with 503 (applied completely or not at all) and the answer to a
 * second confirm.
 */
async function settled({ writer, answer }: PendingConfirm): Promise<string> {
  expect([outcomeOf(answer), answer.body.detail]).toEqual(["503 unavailable", MAYBE])
  const books = await booksOf(sql, writer.workspace)
  const applied = books.tokens === 1
  expect(books).toEqual(booksAt(applied ? 1 : 0))
  expect(await termsOf(sql, writer.app)).toEqual(applied ? [] : ["us old"])
  const repeated = await writer.confirm(writer.confirmToken)
  if (repeated.status === 400) expect(repeated.body.detail).toMatch(/^It was already confirmed at \d{4}-/)
  expect(await booksOf(sql, writer.workspace)).toEqual(booksAt(1))
  expect(await termsOf(sql, writer.app)).toEqual([])
  return `${applied ? "applied" : "nothing"}, then ${outcomeOf(repeated)}`
}
