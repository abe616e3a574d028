import { expect } from "bun:test"
import { join } from "node:path"
import postgres from "postgres"
import { connectControl } from "../../src/database/embedded/control.ts"
import { embeddedOptions } from "../../src/database/options.ts"
import type { Sql } from "../../src/database/types.ts"
import type { Alone, Started, StartOptions } from "./alone.ts"
import { serving } from "./serving.ts"

/** Writes that were acknowledged to clients of the binary. */
export interface Acknowledged {
  /** Confirmed calls of add_keywords, such as "batch7" for the keywords "batch7 0" to "batch7 4". */
  batches: Set<string>
  /** Request ids of answers that cost credits, including the confirms. */
  paid: Set<string>
  /** Imports of TERMS readings each, by the time of these readings. */
  imports: Set<string>
}

const WRITERS = 3
const READERS = 2
const TERMS = 20
const KEYWORDS = 5
const IOS_ID = "100000001"
/** The app's rank in every reading. */
const RANK = 2

/**
 * The binary with the data folder `dataDir`, a path inside the binary's folder, and clients that record every
 * acknowledged write. The server runs under the command `wrapper`, if one is given.
 */
export class Trial {
  readonly acknowledged: Acknowledged = { batches: new Set(), paid: new Set(), imports: new Set() }
  /** Unexpected answers that clients got before a kill. */
  readonly refused: string[] = []
  #alone: Alone
  #dataDir: string
  #options: StartOptions
  #server: Started | null = null
  /** An import in progress. */
  #command: Started | null = null
  #working: Promise<unknown>[] = []
  #url = ""
  #key = ""
  #app = ""
  #made = 0

  constructor(binary: Alone, dataDir: string, wrapper: string[] = []) {
    this.#alone = binary
    this.#dataDir = dataDir
    this.#options = {
      env: { DATA_DIR: dataDir, PORT: "0", FIRST_WORKSPACE_RATE_PER_SECOND: "1000000" },
      under: wrapper,
    }
  }

  /** Starts the server on the directory, for the first time or on the state after a kill. */
  async start(): Promise<void> {
    const server = await serving(this.#alone, this.#options)
    this.#server = server
    this.#url = server.url
    if (this.#key !== "") return
    this.#key = server.key!
    const terms = Array.from({ length: TERMS }, (_, i) => ["--keyword", `term ${i}`]).flat()
    const added = await this.#alone.run(["app", "add", "--ios", IOS_ID, ...terms, "--json"], this.#commandOptions())
    this.#app = JSON.parse(added.out).app.id
  }

  /** Starts to write, to read for credits and to import, until the server is killed. */
  write({ checkpoints = false } = {}): void {
    this.#working = [
      ...Array.from({ length: WRITERS }, () => this.#again(() => this.#track())),
      ...Array.from({ length: READERS }, () => this.#again(() => this.#read())),
      this.#again(() => this.#import()),
      ...(checkpoints ? [this.#again(() => this.#withSql((sql) => sql`checkpoint`))] : []),
    ]
  }

  /** Kills the server, if it runs, and a running command, and waits until both have ended. */
  async kill(): Promise<void> {
    const running = [this.#server, this.#command]
    this.#server = null
    for (const process of running) process?.kill("SIGKILL")
    await Promise.all([...running.map((process) => process?.exited), ...this.#working])
    this.#command = null
  }

  /** Stops the server in order; no client may be running. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    server?.kill("SIGTERM")
    expect(await server?.exited).toBe(0)
  }

  /** Starts the server and kills it after this delay, which may be during recovery. */
  async startKilled(afterMs: number): Promise<void> {
    const begun = this.#alone.start(["serve"], this.#options)
    await Bun.sleep(afterMs)
    begun.kill("SIGKILL")
    await begun.exited
  }

  /**
   * Compares the data of the running server with the acknowledged writes. Returns each lost write, each partial write,
   * and each disagreement between two books.
   */
  judge(): Promise<string[]> {
    return this.#withSql((sql) => judge(sql, this.acknowledged))
  }

  async #again(work: () => Promise<unknown>): Promise<void> {
    while (this.#server) await work().catch((error) => this.#server && this.refused.push(String(error)))
  }

  async #track(): Promise<void> {
    const batch = `batch${++this.#made}`
    const keywords = Array.from({ length: KEYWORDS }, (_, i) => `${batch} ${i}`)
    const { answer } = await this.#ask("/actions", { action: "add_keywords", args: { appId: this.#app, keywords } })
    const { requestId } = await this.#ask("/actions/confirm", { confirmToken: answer.confirmToken })
    this.acknowledged.batches.add(batch)
    this.acknowledged.paid.add(requestId)
  }

  async #read(): Promise<void> {
    this.acknowledged.paid.add((await this.#ask("/apps")).requestId)
  }

  async #import(): Promise<void> {
    const seenAt = momentOf(++this.#made)
    const command = this.#alone.start(["import", "-", "--json"], this.#commandOptions(readings(seenAt)))
    this.#command = command
    const code = await command.exited
    if (code !== 0) throw new Error(`import: ${code} ${command.err()}`)
    expect(JSON.parse(command.out())).toMatchObject({ recorded: TERMS, bad: [] })
    this.acknowledged.imports.add(seenAt)
  }

  async #ask(path: string, body?: object) {
    const response = await fetch(`${this.#url}/v1${path}`, {
      headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${answer.error}`)
    return { answer, requestId: response.headers.get("x-request-id")! }
  }

  #commandOptions(stdin = ""): StartOptions {
    return { env: this.#options.env!, stdin }
  }

  // Reads only through the server's socket: if the server was just killed, a command would open the directory itself,
  // and the driver would retry forever.
  async #withSql<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const exited = this.#server!.exited.then(() => {
      throw new Error("the server is gone")
    })
    const connect = () => connectControl(join(this.#alone.folder, this.#dataDir)).on("error", () => {})
    const sql = postgres(embeddedOptions(connect, 1)) as Sql
    return await Promise.race([work(sql), exited]).finally(() => sql.end({ timeout: 0 }))
  }
}

/** Returns a time in November 2025. Its day and second depend on the number only. */
function momentOf(number: number): string {
  const day = String(1 + (number % 28)).padStart(2, "0")
  return new Date(Date.parse(`2025-11-${day}T00:00:00Z`) + number * 1_000).toISOString()
}

function readings(seenAt: string): string {
  const results = Array.from({ length: 10 }, (_, i) => ({ id: String(100_000_000 + i) }))
  const line = (term: string) =>
    JSON.stringify({
      kind: "search",
      source: "import",
      platform: "ios",
      storefront: "us",
      term,
      seenAt,
      depth: 10,
      results,
    })
  return Array.from({ length: TERMS }, (_, i) => line(`term ${i}`)).join("\n")
}

async function judge(sql: Sql, { batches, paid, imports }: Acknowledged): Promise<string[]> {
  const tracked = await sql<{ name: string; n: number }[]>`
    select split_part(term, ' ', 1) as name, count(*) as n
    from tracked_term
    where term like 'batch%'
    group by 1`
  const ledger = await sql<{ id: string }[]>`
    select request_id as id
    from ledger`
  const recorded = await readImports(sql)
  const missing = (reported: Set<string>, stored: string[]) => [...reported.difference(new Set(stored))]
  const lost = [
    ...missing(
      batches,
      tracked.map(({ name }) => name),
    ),
    ...missing(
      paid,
      ledger.map(({ id }) => id),
    ),
    ...missing(
      imports,
      recorded.map(({ at }) => at.toISOString()),
    ),
  ]
  const batchesInPart = tracked.filter(({ n }) => n !== KEYWORDS)
  const importsInPart = recorded.filter(({ n, derived }) => n !== TERMS || derived !== TERMS)
  return [
    ...lost.map((id) => `lost: ${id}`),
    ...batchesInPart.map(({ name, n }) => `in part: ${n} of ${KEYWORDS} keywords of ${name}`),
    ...importsInPart.map(({ at, n, derived }) => `in part: ${n} readings of ${at.toISOString()}, ${derived} derived`),
    ...(await books(sql, tracked.length)),
  ]
}

/**
 * Returns the imports by the time of their readings: the number of readings, and how many of them are in the derived
 * ranks.
 */
async function readImports(sql: Sql): Promise<{ at: Date; n: number; derived: number }[]> {
  return await sql`
    select s.seen_at as at, count(*) as n, count(*) filter (
      where get_byte(r.ranks, extract(day from s.day)::int - 1) = ${RANK} and l.last_day >= s.day
    ) as derived
    from search_results s
    join list l on l.id = s.list_id
    cross join tracked_app a
    left join rank_month r
      on r.app_id = a.ios_app and r.list_id = s.list_id and r.month = date_trunc('month', s.day)::date
    group by 1`
}

/** Compares every credit in three books, and every confirm in four. */
async function books(sql: Sql, confirmed: number): Promise<string[]> {
  const [row] = await sql<Record<"used" | "ledger" | "keys" | "tokens" | "audit" | "paid", number>[]>`
    select
      (select sum(used)::bigint from account) as used,
      (select coalesce(sum(cost), 0)::bigint from ledger) as ledger,
      (select sum(used)::bigint from key_month) as keys,
      (select count(*) from confirm_token where used_at is not null) as tokens,
      (select count(*) from audit) as audit,
      (select count(*) from ledger where operation = 'add_keywords') as paid`
  const { used, ledger, keys, tokens, audit, paid } = row!
  const differ: string[] = []
  if (used !== ledger || used !== keys) differ.push(`credits: account ${used}, ledger ${ledger}, keys ${keys}`)
  if (new Set([confirmed, tokens, audit, paid]).size > 1)
    differ.push(`confirms: keywords ${confirmed}, tokens ${tokens}, audit ${audit}, ledger ${paid}`)
  return differ
}
