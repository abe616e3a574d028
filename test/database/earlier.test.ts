import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import postgres from "postgres"
import { readTree } from "../../src/database/assets.ts"
import { migrate } from "../../src/database/migrate.ts"
import type { Sql } from "../../src/database/types.ts"
import { silentLog } from "../../src/log.ts"
import { rebuildAppTexts } from "../../src/observations/derived/app-texts.ts"
import { rebuildNow } from "../../src/observations/derived/now.ts"
import { rebuildReviews } from "../../src/observations/derived/rebuild-reviews.ts"
import { removeFolders, scratch, serving } from "../commands/child.ts"
import { inFolder, inServer } from "../commands/filled.ts"
import { openHouse } from "../house.ts"
import { long } from "../long.ts"
import { nowByTruth, nowKept } from "../observations/now-truth.ts"
import { daysByTruth, daysKept } from "../observations/review-days.ts"
import { scratchDatabase } from "./server.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const KEPT = join(import.meta.dirname, "earlier")
/** When each workspace's calls were answered. */
const THEN = { own: new Date("2026-11-23T12:00:00Z"), demo: new Date("2025-10-26T12:00:00Z") }

interface Answered {
  as: "own" | "demo"
  path: string
  status: number
  credits: number
  body: unknown
}

const [first, ...lines] = readFileSync(join(KEPT, "answers.jsonl"), "utf8").trim().split("\n")
const { keys } = JSON.parse(first!) as { keys: Record<Answered["as"], string> }
const answers = lines.map((line) => JSON.parse(line) as Answered)

/** What answers have gained since; nothing else may differ. */
const SINCE = [
  // an alert is withdrawn when later readings show that it does not hold, and the feed has pages
  "/alerts.body.alerts[].withdrawnAt",
  "/alerts.body.nextCursor",
  // an unknown app is answered with the apps that the key may see
  "/apps/nobody.body.detail",
  "/fetch?id=app:nobody.body.detail",
  // a sentence speaks to the owner and leaves the alert's own day to its field
  ...["", " since 2026-11-21"].map(
    (since, at) =>
      `/alerts.body.alerts[].sentence: "Between 2026-11-21 and 2026-11-${22 + at} 'tea' fell from 3 to 9 in us on iOS." is now "\\"tea\\" fell from 3 to 9 in the US App Store${since}"`,
  ),
  '/apps/:appId/keywords?tag=x.body.detail: "There is no such argument: the call takes appId, country, platform." is now "There is no such argument: the call takes appId, country, platform, adsPopularity, fields."',
  "/apps/:appId/keywords?tag=x.body.problems",
  "/apps/:appId/chart-movers.body.rivalsTruncated",
  "/apps/:appId/chart-movers?country=us&kind=grossing.body.rivalsTruncated",
  "/apps/:appId/today.body.changesOmitted",
  "/apps/:appId/today.body.movesOmitted",
  // writes to other platforms have steps, and what was found out later of one that may have been sent
  ...["done", "failed", "unknown"].flatMap((state) => [
    `/jobs/job_${state}.body.findings`,
    `/jobs/job_${state}.body.steps`,
  ]),
  '/jobs/job_unknown.body.note: "The write was interrupted after it may have been sent, so it may or may not have been applied. It is never tried again. Look at the target on its platform; if it is not as wanted, preview the action anew." is now "The write was interrupted after it may have been sent, so it may or may not have been applied. It is never tried again. What the target shows later can prove it either way: see findings. Look at the target on its platform; if it is not as wanted, preview the action anew."',
  // an estimate of popularity is a band and no number
  ...["", "?country=de", "?country=fr", "?platform=android"].flatMap((query) => [
    `/apps/:appId/keywords${query}.body.adsPopularity`,
    `/apps/:appId/keywords${query}.body.keywords[].popularityHigh`,
    `/apps/:appId/keywords${query}.body.keywords[].popularityLow`,
  ]),
  "/apps/:appId/keywords.body.keywords[].popularity: 45 is now null",
  "/apps/:appId/keywords?country=de.body.keywords[].popularity: 45 is now null",
  // what a connected ads account cost stands beside the other figures
  "/apps/:appId/today.body.conns[apple_ads]",
  "/apps/:appId/today.body.figures[].currency",
  "/apps/:appId/today.body.figures[adSpend]",
  "/apps/:appId/today.body.figures[proceeds]",
  // and what was changed in one is an alert
  "/alerts.body.alerts[].ads",
  "/portfolio.body.apps[].adSpend",
  "/portfolio.body.conns[apple_ads]",
  "/portfolio.body.totals.adSpend",
  "/usage.body.quotas[aiWriting]",
  "/usage.body.quotas[listingWrites]",
  // reviewAi was not metered then
  "/usage.body.quotas[].used: null is now 0",
].sort()

async function folder(): Promise<string> {
  const made = scratch()
  const packed = Bun.zstdDecompressSync(readFileSync(join(KEPT, "folder.tar.zst")))
  await new Bun.Archive(packed).extract(made)
  return made
}

/** What differs: by its place, and of what is no new field also what it was and is. */
function differences(was: unknown, is: unknown, at: string): string[] {
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length)
    return was.flatMap((part, i) => differences(part, is[i], `${at}[]`))
  // of named rows those that came since are told by their name
  if (Array.isArray(was) && Array.isArray(is) && [...was, ...is].every((row) => nameOf(row) !== undefined)) {
    const held = new Map(is.map((row) => [nameOf(row), row]))
    const names = was.map(nameOf)
    return [
      ...was.flatMap((row) => differences(row, held.get(nameOf(row)), `${at}[]`)),
      ...is.flatMap((row) => (names.includes(nameOf(row)) ? [] : [`${at}[${nameOf(row)}]`])),
    ]
  }
  if (isObject(was) && isObject(is))
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) => {
      if (name === "requestId") return []
      if (!(name in was)) return [`${at}.${name}`]
      return differences(was[name], is[name], `${at}.${name}`)
    })
  return Bun.deepEquals(was, is, true) ? [] : [`${at}: ${JSON.stringify(was)} is now ${JSON.stringify(is)}`]
}

function nameOf(row: unknown): string | undefined {
  if (!isObject(row)) return undefined
  const name = row.id ?? row.key
  return name === undefined ? undefined : [name, row.platform, row.country].filter((part) => part != null).join(" ")
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

async function answersAsThen(sql: Sql): Promise<void> {
  expect(await migrate(sql, readTree("sql", ".sql"), silentLog)).toContain("0029_now.sql")
  // a process that reads searches alone stood by when the answers were given
  await sql`update reader set seen_at = now() + interval '1 hour'`
  // and a scan was under way, which ends an hour after it began by the database's own clock
  await sql`update storefront_audit set started_at = now() where finished_at is null`
  // at the pace of that day: one that is older says nothing of when a scan may end
  await sql`update pace set next_at = now()`
  const houses = { own: openHouse({ sql, now: () => THEN.own }), demo: openHouse({ sql, now: () => THEN.demo }) }
  const found = new Set<string>()
  for (const { as, path, ...then } of answers) {
    const { status, credits, body } = await houses[as].call(`/v1${path}`, { key: keys[as] })
    const what = path.replace(/app_\w{12}/, ":appId")
    for (const difference of differences(then, { status, credits: credits.used, body }, what)) found.add(difference)
  }
  expect([...found].sort()).toEqual(SINCE)
}

async function livesOn(sql: Sql): Promise<void> {
  // what is kept beside the truth since
  expect(await nowKept(sql)).toEqual(await nowByTruth(sql))
  expect(await rebuildNow(sql, async () => {})).toMatchObject({ ranks: 0, figures: 0 })
  expect(await daysKept(sql)).toEqual(await daysByTruth(sql))
  expect(await rebuildReviews(sql, async () => {})).toBe(0)
  // filled when a server starts
  expect(await rebuildAppTexts(sql, async () => {})).toBeGreaterThan(0)
  expect(await rebuildAppTexts(sql, async () => {})).toBe(0)
  const house = openHouse({ sql, now: () => THEN.own })
  const call = (path: string, body: object) => house.call(path, { key: keys.own, method: "POST", body })
  const shown = await call("/v1/actions", { action: "add_app", args: { iosId: "987654321", keywords: ["new"] } })
  const { confirmToken } = shown.body
  expect((await call("/v1/actions/confirm", { confirmToken })).body).toMatchObject({ status: "applied" })
  for (const change of [sql`delete from audit`, sql`truncate audit`])
    expect(String(await change.catch((error: Error) => error))).toContain("audit is append-only")
}

test("the answers that are kept are many, and few of them refusals", () => {
  expect(answers.length).toBeGreaterThan(80)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(75)
})

describe("a database of the version before starts with this one, answers as it did, and lives on", () => {
  test("embedded, a data folder", async () => {
    await inFolder(await folder(), async (sql) => {
      await answersAsThen(sql)
      await livesOn(sql)
    })
  })

  test.skipIf(!process.env.DATABASE_URL)("postgres: a database on a server", async () => {
    await using server = await scratchDatabase("earlier")
    const dump = Bun.zstdDecompressSync(readFileSync(join(KEPT, "server.sql.zst")))
    const loading = postgres(server.url, { max: 1, onnotice: () => {} })
    await loading.unsafe(Buffer.from(dump).toString("utf8"))
    await loading.end()
    await inServer(server.url, async (sql) => {
      await answersAsThen(sql)
      await livesOn(sql)
    })
  })

  long("served, by the command of the README", async () => {
    const server = await serving({ env: { DATA_DIR: await folder() } })
    const headers = { authorization: `Bearer ${keys.demo}` }
    for (const { path, body } of answers.filter(({ as, path }) => as === "demo" && path.endsWith("/keywords"))) {
      const response = await fetch(`${server.url}/v1${path}`, { headers })
      // a key of then is a key of now, and what stands latest is what stood
      const what = path.replace(/app_\w{12}/, ":appId")
      const others = differences({ body }, { body: await response.json() }, what).filter((one) => !SINCE.includes(one))
      expect([response.status, others]).toEqual([200, []])
    }
    server.kill()
    expect(await server.exited).toBe(0)
  })
})
