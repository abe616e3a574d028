import { expect } from "bun:test"
import postgres from "postgres"
import { openPool } from "../../src/database/driver/pool.ts"
import { type PoolOptions, serverOptions } from "../../src/database/options.ts"
import type { Sql, Tx } from "../../src/database/types.ts"

/** The results of a trial's questions. An answer either belongs to the question or is wrong. */
export interface Outcomes {
  right: number
  /** Answers that belong to another question, or are incomplete. */
  wrong: string[]
  /** Number of failed questions by error code. */
  errors: Record<string, number>
}

export interface Trial {
  sql: Sql
  /**
   * Number of concurrent questions. It exceeds the number of connections in the pool, so that the driver pipelines
   * them.
   */
  callers?: number
  questions?: number
  /** A disturbance that runs next to the questions, with a separate token. Its result is verified as well. */
  disturb?: (sql: Sql, token: number) => Promise<unknown>
  /** Number of questions per disturbance. */
  every?: number
  /** Runs until all questions are answered. */
  background?: (isOver: () => boolean) => Promise<void>
}

/** Thrown by a disturbance that got the answer to another question. */
export class WrongAnswer extends Error {}

/**
 * Asks many questions at once, each with a token that only its own answer can contain. Throws if one is never answered.
 */
export async function askMany(trial: Trial): Promise<Outcomes> {
  const { sql, callers = 16, questions = 2_000, disturb, every = 3, background } = trial
  const outcomes: Outcomes = { right: 0, wrong: [], errors: {} }
  let next = 1
  let isOver = false
  const pending = new Set<number>()
  const caller = async () => {
    while (next <= questions) {
      const token = next++
      pending.add(token)
      const question = disturb && token % every === 0 ? disturb(sql, token) : askOwn(sql, token)
      try {
        await question
        outcomes.right++
      } catch (error) {
        if (error instanceof WrongAnswer) outcomes.wrong.push(error.message)
        else {
          const code = String((error as { code?: string }).code ?? error)
          outcomes.errors[code] = (outcomes.errors[code] ?? 0) + 1
        }
      }
      pending.delete(token)
    }
  }
  const all = Promise.all(Array.from({ length: callers }, caller)).finally(() => {
    isOver = true
  })
  await withTimeout(20_000, Promise.all([all, background?.(() => isOver)]), () => {
    isOver = true
    return (
      `${pending.size} questions were never answered, ${[...pending].slice(0, 5)} among them: ` +
      `${JSON.stringify(outcomes)}`
    )
  })
  return outcomes
}

async function withTimeout<T>(ms: number, work: Promise<T>, complaint: () => string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint())), ms)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Asks one of several kinds of question: with and without parameters, with one row and several, with arrays and JSON.
 */
export async function askOwn(sql: Sql, token: number): Promise<void> {
  switch (token % 6) {
    case 0:
      return expectRows(await sql`select ${token}::int as token`, [{ token }])
    case 1:
      return expectRows(
        await sql`select ${token}::int as token, ${[token, token + 1]}::int[] as list, now() > ${EARLY} as later`,
        [{ token, list: [token, token + 1], later: true }],
      )
    case 2:
      return expectRows(await sql`select i, ${String(token)}::text as token from generate_series(1, 3) i`, [
        { i: 1, token: String(token) },
        { i: 2, token: String(token) },
        { i: 3, token: String(token) },
      ])
    case 3:
      // The token is part of the statement's text, so no statement with this text is prepared yet.
      return expectRows(await sql.unsafe(`select ${token} as token`), [{ token }])
    case 4:
      return expectRows(await sql`select ${sql.json({ token })}::jsonb as json, ${token % 4 === 0} as flag`, [
        { json: { token }, flag: token % 4 === 0 },
      ])
    default:
      return expectRows(await sql`select ${token}::bigint as token where ${token}::int < 0`, [])
  }
}

const EARLY = new Date("2020-01-01T00:00:00Z")

export function expectRows(rows: Iterable<unknown>, expected: readonly unknown[]): void {
  const found = JSON.stringify([...rows])
  if (found !== JSON.stringify(expected)) throw new WrongAnswer(`${found} in place of ${JSON.stringify(expected)}`)
}

export const server = process.env.DATABASE_URL
/** Opens a separate connection, which changes and inspects the pool's data. */
export const openAdmin = () => postgres(server!, { max: 1, onnotice: () => {} })

export const CONNECTIONS = 4
export const OWN = "more queries in flight than connections"

/**
 * Runs a trial with a separate pool. Every answer must belong to its question, or be one of the errors in `allowed`.
 */
export async function trial(
  questions: Omit<Trial, "sql">,
  { allowed = [], options = {} }: Expectation = {},
): Promise<Outcomes> {
  const sql = openPool({ ...serverOptions("server", CONNECTIONS), ...options } as PoolOptions, server)
  try {
    return check(await askMany({ sql, ...questions }), allowed)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

interface Expectation {
  allowed?: string[]
  options?: object
}

export function check(outcomes: Outcomes, allowed: string[]): Outcomes {
  expect(outcomes.wrong).toEqual([])
  expect(Object.keys(outcomes.errors).filter((code) => !allowed.includes(code))).toEqual([])
  expect(outcomes.right).toBeGreaterThan(0)
  return outcomes
}

export const turn = (token: number, count: number) => Math.floor(token / 3) % count

/** Returns an error with a code that a trial can expect. */
export const failure = (code: string) => Object.assign(new Error(code), { code })

export async function askTransaction(sql: Sql, token: number): Promise<void> {
  await sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql & Tx
    await askOwn(tx, token)
    await tx.savepoint((inner) => inner`select 1 / 0`).catch(() => {})
    await Promise.all([askOwn(tx, token), askOwn(tx, token + 1), token % 2 ? tx`select 1 / 0` : null])
  })
}

/** Runs a transaction that ends or fails while a part of its function still runs and sends another statement. */
export async function askAfterEnd(sql: Sql, token: number): Promise<void> {
  let lateStatement: Promise<void> | undefined
  const transaction = sql.begin(async (tx) => {
    const [inside] = await tx`select pg_current_xact_id()::text as id`
    lateStatement = (async () => {
      await Bun.sleep(1)
      const [outside] = await tx`select pg_current_xact_id()::text as id, ${token}::int as token`
      if (outside!.token !== token || outside!.id !== inside!.id)
        throw new WrongAnswer("ran outside of its transaction")
    })()
    lateStatement.catch(() => {})
    if (token % 2) throw failure("OWN")
  })
  await transaction.catch((error) => {
    if (error.code !== "OWN") throw error
  })
  await lateStatement
}
