import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/lib/log.ts"
import { freshDatabase, openInMemory, scratchUrl } from "../database.ts"
import { cases, long, slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { type Confirming, confirming } from "./processes.ts"
import { anApp, booksAt, booksOf, outcomeOf, someWriter, tally, termsOf } from "./writer.ts"

// a busy machine must not fail it
setDefaultTimeout(60_000)

let sql: Sql
let service: Service

// time is not tested here, so waiting on two busy cores must not cause a 503
const settings = { requestDeadlineMs: 20_000, maxWaiting: 1_000 }

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, settings })
})

const postgresOnly = test.skipIf(!process.env.DATABASE_URL)
const times = <T>(count: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

const ROUNDS = 5
const APPS = cases(10, 25)
/** Callers in one process; several processes have 500 in total. */
const CALLERS = cases(40, 200)
const ONCE = { "200": 1, "400 confirm_token_invalid used": 499 }

describe("one token", () => {
  postgresOnly(
    `postgres: a token confirmed by 500 simultaneous callers in 4 processes is applied once, in ${ROUNDS} rounds`,
    async () => {
      const children = Array.from({ length: 4 }, () => confirming({ databaseUrl: scratchUrl(sql) }))
      try {
        // the first call of a process is much slower, on a slow machine slower than the statement timeout
        await Promise.all(children.map((child) => confirmOnce(child)))
        const answers = []
        for (let round = 0; round < ROUNDS; round++) answers.push(await raced(children))
        console.log(
          `500 confirms of a token over 4 processes: ${answers.map((each) => JSON.stringify(each)).join(" ")}`,
        )
        expect(answers).toEqual(Array(ROUNDS).fill(ONCE))
      } finally {
        for (const child of children) child.kill()
      }
      expect(service.logged.join("")).not.toContain("internal_error")
    },
  )

  async function confirmOnce(child: Confirming): Promise<void> {
    const { key, app, token } = await someWriter(service)
    const confirmToken = await token("add_keywords", { appId: app, keywords: ["tea"] })
    expect(await child.ask({ key, token: confirmToken, calls: 1 })).toEqual({ "200": 1 })
  }

  async function raced(children: Confirming[]): Promise<Record<string, number>> {
    const { workspace, key, app, token } = await someWriter(service)
    const confirmToken = await token("add_keywords", { appId: app, keywords: ["tea", "coffee"] })
    await Promise.all(children.map(({ ready }) => ready))
    const parts = await Promise.all(children.map((child) => child.ask({ key, token: confirmToken, calls: 125 })))
    expect(await booksOf(sql, workspace)).toEqual(booksAt(1))
    expect(await termsOf(sql, app)).toEqual(["us coffee", "us tea"])
    return added(parts as Record<string, number>[])
  }

  slow(`a token confirmed by ${CALLERS} simultaneous callers in one process is applied once`, async () => {
    const { sql, close } = await openInMemory()
    await migrate(sql, readTree("sql", ".sql"), silentLog)
    const service = openService({ sql, settings })
    const { workspace, app, token, confirm } = await someWriter(service)
    const confirmToken = await token("add_keywords", { appId: app, keywords: ["tea"] })
    const answers = await times(CALLERS, () => confirm(confirmToken))
    const counts = tally(answers.map((answer) => outcomeOf(answer) + (answer.body.detail ? " used" : "")))
    console.log(`${CALLERS} confirms of a token on the embedded database: ${JSON.stringify(counts)}`)
    expect(counts).toEqual({ "200": 1, "400 confirm_token_invalid used": CALLERS - 1 })
    expect(await booksOf(sql, workspace)).toEqual(booksAt(1))
    expect(await termsOf(sql, app)).toEqual(["us tea"])
    await close()
  })
})

function added(parts: Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {}
  for (const part of parts)
    for (const [outcome, count] of Object.entries(part)) sum[outcome] = (sum[outcome] ?? 0) + count
  return sum
}

long(
  "twenty simultaneous confirms on the embedded database are applied, and a read waits for at most ten confirms",
  async () => {
    const { sql, bridge, close } = await openInMemory()
    await migrate(sql, readTree("sql", ".sql"), silentLog)
    const service = openService({ sql, settings })
    const { workspace, app, token, confirm } = await someWriter(service)
    const tokens = await times(21, (n) => token("add_keywords", { appId: app, keywords: [`own ${n}`] }))
    // waiting is measured in round trips to the single backend
    const trips = () => bridge!.trips
    const before = trips()
    await confirm(tokens[20]!)
    const ofOne = trips() - before
    let isRunning = true
    const waits: number[] = []
    const reading = async () => {
      while (isRunning) {
        const from = trips()
        await sql`select count(*) from tracked_term`
        waits.push(trips() - from)
      }
    }
    const readers = times(2, reading)
    const answers = await Promise.all(tokens.slice(0, 20).map(confirm))
    isRunning = false
    await readers
    console.log(
      `20 confirms of ${ofOne} trips each; ${waits.length} reads meanwhile waited ${Math.max(...waits)} trips at most`,
    )
    expect(tally(answers.map(outcomeOf))).toEqual({ "200": 20 })
    expect(await booksOf(sql, workspace)).toEqual(booksAt(21))
    // a read waits at most for the confirms that were sent before it: one on each of ten connections
    expect(waits.length).toBeGreaterThan(2)
    expect(Math.max(...waits)).toBeLessThan(11 * ofOne)
    await close()
  },
)

describe("many tokens of one app", () => {
  postgresOnly(
    "postgres: while one token of an app is applied, the app's other tokens get in_progress and work afterwards",
    async () => {
      const { workspace, app, token, confirm } = await someWriter(service)
      const tokens = await times(50, (n) => token("add_keywords", { appId: app, keywords: [`own ${n}`] }))
      const hold = await lockApp(app)
      // the first confirm holds the lock of the target while it waits for the app's row
      const first = confirm(tokens[0]!)
      await blocked(1)
      const rest = await Promise.all(tokens.slice(1).map(confirm))
      expect(tally(rest.map(outcomeOf))).toEqual({ "409 in_progress": 49 })
      expect(await booksOf(sql, workspace)).toEqual(booksAt(0))
      await hold.release()
      expect(outcomeOf(await first)).toBe("200")
      const later = []
      for (const each of tokens) later.push(outcomeOf(await confirm(each)))
      console.log(`50 confirms of one app, one held up: 49 in_progress, then ${JSON.stringify(tally(later))}`)
      expect(tally(later)).toEqual({ "200": 49, "400 confirm_token_invalid": 1 })
      expect(await booksOf(sql, workspace)).toEqual(booksAt(50))
      expect(await termsOf(sql, app)).toHaveLength(50)
    },
  )

  slow("simultaneous writes to one app add up; a refused token works later or returns a new preview", async () => {
    const { workspace, app, token, confirm } = await someWriter(service, {
      keywords: ["old"],
      countries: ["us", "de"],
    })
    // ten of the tokens also add the same keyword: the first confirm adds it, and no preview of the others shows it
    const keywordsFor = (n: number) => (n % 5 === 0 ? [`own ${n}`, "shared"] : [`own ${n}`])
    const tokens = await times(50, async (n) => ({
      n,
      confirmToken: await token("add_keywords", { appId: app, keywords: keywordsFor(n) }),
    }))
    const answers = await Promise.all(tokens.map(async (each) => ({ ...each, ...(await confirm(each.confirmToken)) })))
    const counts = tally(answers.map(outcomeOf))
    const applied = answers.filter(({ status }) => status === 200)
    expect(applied.length).toBeGreaterThan(0)
    expect(
      Object.keys(counts).filter((each) => !/^(200|409 (in_progress|confirm_token_mismatch))$/.test(each)),
    ).toEqual([])
    const union = () => [...new Set(["old", ...applied.flatMap(({ n }) => keywordsFor(n))])]
    const inBoth = (terms: string[]) => ["us", "de"].flatMap((country) => terms.map((term) => `${country} ${term}`))
    expect(await termsOf(sql, app)).toEqual(inBoth(union()).sort())
    expect(await booksOf(sql, workspace)).toEqual(booksAt(applied.length))

    const refused = answers.filter(({ status }) => status !== 200)
    const later = []
    for (const { n, confirmToken } of refused) {
      const isTracked = union().includes("shared")
      const repeated = await confirm(confirmToken)
      later.push(outcomeOf(repeated))
      if (repeated.status === 200) applied.push({ ...repeated, n, confirmToken })
      else {
        expect([outcomeOf(repeated), isTracked, keywordsFor(n)]).toEqual([
          "409 confirm_token_mismatch",
          true,
          [`own ${n}`, "shared"],
        ])
        expect(repeated.body.preview.before.tracked).toEqual([{ countries: ["us", "de"], keywords: ["shared"] }])
      }
    }
    console.log(
      `50 confirms of one app at once: ${JSON.stringify(counts)}, refused ones later: ${JSON.stringify(tally(later))}`,
    )
    expect(later.filter((each) => each !== "200")).toHaveLength(9)
    expect(await termsOf(sql, app)).toEqual(inBoth(union()).sort())
    expect(await booksOf(sql, workspace)).toEqual(booksAt(41))
  })
})

describe("tokens of different apps of a workspace", () => {
  slow("simultaneously confirmed tokens of different apps are all applied without in_progress", async () => {
    const { workspace, token, confirm } = await someWriter(service)
    const tokens = await times(APPS, async (n) => {
      const appId = await anApp(sql, workspace, ["old"])
      return n % 2
        ? await token("add_keywords", { appId, keywords: ["new"] })
        : await token("remove_keywords", { appId, keywords: ["old"] })
    })
    const counts = tally((await Promise.all(tokens.map(confirm))).map(outcomeOf))
    console.log(`${APPS} confirms of as many apps at once: ${JSON.stringify(counts)}`)
    expect(counts).toEqual({ "200": APPS })
    expect(await booksOf(sql, workspace)).toEqual(booksAt(APPS))
  })

  postgresOnly("postgres: confirms for different apps do not wait for each other", async () => {
    const { workspace, token, confirm } = await someWriter(service)
    const apps = await times(10, () => anApp(sql, workspace, ["old"]))
    const tokens = await Promise.all(apps.map((appId) => token("remove_keywords", { appId, keywords: ["old"] })))
    const hold = await lockApp(apps[0]!)
    let first: string | null = null
    const waiting = confirm(tokens[0]!).then((answer) => {
      first = outcomeOf(answer)
    })
    await blocked(1)
    expect(tally((await Promise.all(tokens.slice(1).map(confirm))).map(outcomeOf))).toEqual({ "200": 9 })
    expect(first).toBeNull()
    await hold.release()
    await waiting
    expect(first as string | null).toBe("200")
    expect(await booksOf(sql, workspace)).toEqual(booksAt(10))
  })
})

describe("a limit and twenty simultaneous confirms", () => {
  long("simultaneous confirms in two workspaces each use up their workspace's keyword limit exactly", async () => {
    const writers = await times(2, () => someWriter(service, { overrides: { trackedKeywords: 32, apps: 100 } }))
    const tokens = await Promise.all(
      writers.map(({ workspace, token }) =>
        times(20, async () =>
          token("add_keywords", { appId: await anApp(sql, workspace), keywords: ["one", "two", "three"] }),
        ),
      ),
    )
    const answers = await Promise.all(
      writers.map(({ confirm }, w) => Promise.all(tokens[w]!.map(confirm)).then((all) => tally(all.map(outcomeOf)))),
    )
    console.log(`20 confirms of 3 keywords where 32 are allowed, in 2 workspaces: ${JSON.stringify(answers)}`)
    expect(answers).toEqual(Array(2).fill({ "200": 10, "403 write_limit_reached": 10 }))
    for (const { workspace } of writers) {
      expect(await booksOf(sql, workspace)).toEqual(booksAt(10))
      expect(await usageOf(workspace)).toEqual({ apps: 21, keywords: 30 })
    }
  })

  slow(
    "simultaneous confirms use up the limit of apps or credits exactly, and refused confirms write nothing",
    async () => {
      const small = await someWriter(service, { overrides: { apps: 8 } })
      const poor = await someWriter(service, { overrides: { credits: 15, apps: 100 } })
      const addApps = ({ token }: typeof small) =>
        times(20, (n) => token("add_app", { iosId: String(700_000_000 + n), keywords: ["tea"] }))
      const tokens = await Promise.all([small, poor].map(addApps))
      const answers = await Promise.all(
        [small, poor].map(({ confirm }, w) =>
          Promise.all(tokens[w]!.map(confirm)).then((all) => tally(all.map(outcomeOf))),
        ),
      )
      console.log(`20 confirms of add_app where 7 fit: ${JSON.stringify(answers)}`)
      expect(answers).toEqual([
        { "200": 7, "403 write_limit_reached": 13 },
        { "200": 7, "402 credits_exhausted": 13 },
      ])
      for (const { workspace } of [small, poor]) {
        expect(await booksOf(sql, workspace)).toEqual(booksAt(7, 14))
        expect(await usageOf(workspace)).toEqual({ apps: 8, keywords: 7 })
      }
    },
  )

  long("simultaneous confirms for different apps use up the workspace's limit of shared pages exactly", async () => {
    const { workspace, app, token, confirm } = await someWriter(service)
    await sql`
      insert into share_link (sha256, workspace_id, app_id, created_at, expires_at, content)
      select sha256((${app}::text || g)::bytea), ${workspace}, ${app}, now(), now() + interval '1 hour', '{}'
      from generate_series(1, 193) g`
    const tokens = await times(20, async () =>
      token("create_share_link", { appId: await anApp(sql, workspace), country: "us" }),
    )
    const counts = tally((await Promise.all(tokens.map(confirm))).map(outcomeOf))
    console.log(`20 confirms of shared pages where 7 fit: ${JSON.stringify(counts)}`)
    expect(counts).toEqual({ "200": 7, "403 write_limit_reached": 13 })
    expect(await booksOf(sql, workspace)).toEqual(booksAt(7))
    const [row] = await sql`select count(*)::int as links from share_link where workspace_id = ${workspace}`
    expect(row!.links).toBe(200)
  })

  async function usageOf(workspace: number) {
    const [row] = await sql`
      select count(distinct a.id) as apps, count(t.term) as keywords
      from tracked_app a
      left join tracked_term t on t.app_id = a.id
      where a.workspace_id = ${workspace}`
    return { ...row }
  }
})

/** Locks the app's row on another connection until it is released. */
async function lockApp(app: string) {
  const other = await sql.reserve()
  await other`begin`
  await other`select id from tracked_app where id = ${app} for update`
  const release = async () => {
    await other`commit`
    other.release()
  }
  return { release }
}

/** Waits until this many backends of the database wait for a lock. */
async function blocked(count: number): Promise<void> {
  const waiting = () => sql`
    select pid
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting()).length < count) await Bun.sleep(5)
}
