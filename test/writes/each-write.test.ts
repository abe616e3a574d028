import { describe, expect, setDefaultTimeout } from "bun:test"
import { actions as everyAction } from "../../src/catalog.ts"
import type { Sql } from "../../src/database/types.ts"
import { once } from "../../src/lib/prepared.ts"
import { freshDatabase } from "../database.ts"
import { everyRow } from "../every-row.ts"
import { beforeSlow, cases, longOnServer, slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import {
  booksAfter,
  deleted,
  type Prepared,
  prepared,
  type State,
  stateAfter,
  stateOf,
  WRITES,
  type Write,
} from "./each-write-cases.ts"
import { type Steps, steppable } from "./stepped.ts"
import { booksAt, booksOf, outcomeOf, tally } from "./writer.ts"

/** Actions that write to our database. Jobs that write to other platforms have their own tests. */
const actions = everyAction.filter(({ outside }) => !outside)

// a busy machine must not fail it
setDefaultTimeout(60_000)

let sql: Sql
let steps: ReturnType<typeof steppable>
let service: Service

beforeSlow(async () => {
  sql = await freshDatabase()
  steps = steppable(sql)
  service = openService({ sql: steps.sql, settings: { requestDeadlineMs: 20_000, maxWaiting: 1_000 } })
})

const NEVER = booksAt(0)
const CALLERS = cases(4, 40)
const TOKENS = cases(3, 10)
const PREVIEWS = cases(2, 5)

describe.each(Object.entries(WRITES).map(([name, write], at) => ({ name, write, at })))("$name:", ({ write, at }) => {
  slow(`a token confirmed by ${CALLERS} simultaneous callers is applied once`, async () => {
    const writer = await prepared(service, write)
    const before = await stateOf(sql, writer)
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => writer.confirm(writer.confirmToken)))
    expect(tally(answers.map(outcomeOf))).toEqual({ "200": 1, "400 confirm_token_invalid": CALLERS - 1 })
    await expectTimes(1, write, writer, before)
  })

  const times = write.another ? "completely each time" : "only once"
  slow(`${TOKENS} simultaneously confirmed tokens for the same write apply it ${times}`, async () => {
    const writer = await prepared(service, write)
    const before = await stateOf(sql, writer)
    const tokens = await Promise.all(
      Array.from({ length: TOKENS }, () => writer.token(write.action, write.args(writer))),
    )
    const { "200": applied = 0, ...refusedCounts } = tally(
      (await Promise.all(tokens.map(writer.confirm))).map(outcomeOf),
    )
    const refusals = write.another
      ? ["409 in_progress"]
      : ["409 in_progress", "409 confirm_token_mismatch", "404 not_found"]
    expect(Object.keys(refusedCounts).filter((answer) => !refusals.includes(answer))).toEqual([])
    expect(applied).toBeGreaterThan(0)
    await expectTimes(write.another ? applied : 1, write, writer, before)
  })

  slow("a confirm that fails at any statement writes nothing, and its token works", async () => {
    const length = await lengthOf(await prepared(service, write))
    const writer = await prepared(service, write)
    const before = await stateOf(sql, writer)
    // short runs try every sixteenth statement, a different one for each write
    for (let step = 1 + (at % cases(16, 1)); step <= length; step += cases(16, 1)) {
      const statement = (n: number) => {
        if (n === step) throw new Error("as if cut off")
      }
      const answer = await steps.during({ statement }, () => writer.confirm(writer.confirmToken))
      expect([step, outcomeOf(answer)]).toEqual([step, "500 internal_error"])
      await expectTimes(0, write, writer, before)
    }
    // after all these failures, the token still works
    expect((await writer.confirm(writer.confirmToken)).status).toBe(200)
    await expectTimes(1, write, writer, before)
  })
})

const meetings = Object.entries(WRITES).flatMap(([name, write]) =>
  Object.entries(write.changes).map(([change, [make, answer]]) => ({
    name: `${name}, ${change}`,
    write,
    make,
    answer,
  })),
)

describe.each(meetings)("$name:", ({ write, make, answer: after }) => {
  slow("a confirm after its target changed writes nothing and does not use up its token", async () => {
    const writer = await prepared(service, write)
    await make(sql, writer)
    const changed = await stateOf(sql, writer)
    const answer = await writer.confirm(writer.confirmToken)
    expect(outcomeOf(answer)).toBe(after)
    await expectTimes(0, write, writer, changed)
    if (answer.status === 409) expect(answer.body.preview.before).toBeDefined()
  })

  longOnServer(
    "postgres: a change that begins at any step of the confirm takes effect entirely before or after the confirm",
    async () => {
      const first = await prepared(service, write)
      const length = await lengthOf(first)
      await make(sql, first)
      const second = await prepared(service, write)
      await make(sql, second)
      const orders: Record<string, State> = { 200: await stateOf(sql, first), [after]: await stateOf(sql, second) }
      // the step after the last statement is the commit
      for (let step = 1; step <= length + 1; step++) {
        const writer = await prepared(service, write)
        const answer = await metAt(step, writer, () => make(sql, writer))
        expect([step, answer, await stateOf(sql, writer)]).toEqual([step, answer, orders[answer] as State])
        expect(await booksOf(sql, writer.workspace)).toEqual(answer === "200" ? booksAfter(write) : NEVER)
      }
      expect(service.logged.join("")).not.toContain("deadlock")
    },
  )
})

slow("the test cases cover every write", () => {
  expect([...new Set(Object.values(WRITES).map(({ action }) => action))].sort()).toEqual(
    actions.map(({ name }) => name).sort(),
  )
})

describe.each(actions.map(({ name }) => ({ name })))("$name:", ({ name: action }) => {
  slow(`previewing a write ${PREVIEWS} times changes no row of any table except confirm_token`, async () => {
    const { writers, rows } = await allPrepared()
    const writer = writers.get(action) as Prepared
    for (let round = 0; round < PREVIEWS; round++) await writer.token(action, (WRITES[action] as Write).args(writer))
    // previews create tokens, so they are excluded
    expect(await everyRow(sql, "confirm_token")).toEqual(rows)
  })
})

/** Creates a writer for each action and reads all rows at that time. Runs once for all tests. */
const allPrepared = once(async () => {
  const writers = new Map<string, Prepared>()
  for (const { name } of actions) writers.set(name, await prepared(service, WRITES[name] as Write))
  return { writers, rows: await everyRow(sql, "confirm_token") }
})

describe.each(actions.map(({ name, scope }) => ({ name, scope })))("$name:", ({ name: action, scope }) => {
  const write = WRITES[action] as Write

  slow("a write is refused for a test key, for a key without the scope and for a token of another key", async () => {
    const writer = await prepared(service, write)
    const before = await stateOf(sql, writer)
    const ask = (key: string) =>
      service.call("/v1/actions", { key, method: "POST", body: { action, args: write.args(writer) } })
    const confirm = (key: string) =>
      service.call("/v1/actions/confirm", { key, method: "POST", body: { confirmToken: writer.confirmToken } })
    const testKey = await service.key(writer.workspace, { kind: "test" })
    expect([outcomeOf(await ask(testKey)), outcomeOf(await confirm(testKey))]).toEqual(
      Array(2).fill("403 test_key_read_only"),
    )
    const reader = await service.key(writer.workspace, { scopes: ["apps:read"] })
    expect((await ask(reader)).body).toMatchObject({ error: "scope_required", scope })
    const other = await service.key(writer.workspace)
    expect(outcomeOf(await confirm(other))).toBe("400 confirm_token_invalid")
    await expectTimes(0, write, writer, before)
  })

  slow("a write to a just deleted workspace is refused as account_deleted or not_found", async () => {
    const writer = await prepared(service, write)
    // the key was just used, so it is cached for up to a second
    expect((await service.call("/v1/account", { key: writer.key })).status).toBe(200)
    await deleted(sql, writer)
    const before = await stateOf(sql, writer)
    expect(before.apps).toEqual([])
    expect(outcomeOf(await writer.confirm(writer.confirmToken))).toMatch(/^(401 account_deleted|404 not_found)$/)
    await expectTimes(0, write, writer, before)
  })

  slow("a write without enough credits writes nothing, and a free write is never refused", async () => {
    const writer = await prepared(service, write, { credits: Math.max(0, write.credits - 1) })
    const before = await stateOf(sql, writer)
    const refused = write.credits > 0
    expect(outcomeOf(await writer.confirm(writer.confirmToken))).toBe(refused ? "402 credits_exhausted" : "200")
    await expectTimes(refused ? 0 : 1, write, writer, before)
  })
})

/** Checks that the write was applied this many times, completely, in the state and in all books. */
async function expectTimes(times: number, write: Write, writer: Prepared, before: State): Promise<void> {
  expect(await stateOf(sql, writer)).toEqual(times === 0 ? before : stateAfter(write, before, times))
  expect(await booksOf(sql, writer.workspace)).toEqual(times === 0 ? NEVER : booksAfter(write, times))
}

/** Confirms, and returns the number of statements. */
async function lengthOf({ confirm, confirmToken }: Prepared): Promise<number> {
  let length = 0
  const commit = (n: number) => {
    length = n
  }
  expect(outcomeOf(await steps.during({ commit }, () => confirm(confirmToken)))).toBe("200")
  return length
}

/**
 * Confirms, with a change that begins at a step of the confirm. The confirm continues when the change is done, or after
 * enough time for the change to be blocked by the confirm.
 */
async function metAt(step: number, writer: Prepared, change: () => Promise<unknown>): Promise<string> {
  let changed: Promise<unknown> | undefined
  const changing = async () => {
    changed ??= change()
    await Promise.race([changed, Bun.sleep(8)])
  }
  const meeting: Steps = { statement: (n) => (n === step ? changing() : undefined), commit: changing }
  const answer = await steps.during(meeting, () => writer.confirm(writer.confirmToken))
  await changed
  return outcomeOf(answer)
}
