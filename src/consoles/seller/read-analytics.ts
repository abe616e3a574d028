import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { json } from "../../database/json.ts"
import type { Sql, Tx } from "../../database/types.ts"
import type { AnalyticsReport } from "../../lib/upstreams.ts"
import { PutAside } from "../../measuring/parsing/put-aside.ts"
import { rawBody } from "../../measuring/source.ts"
import { ConsoleProblem } from "../console.ts"
import { analyticsIn } from "../sources/analytics.ts"
import {
  analyticsInstancesPath,
  analyticsReportsPath,
  analyticsRequestsPath,
  analyticsSegmentsPath,
} from "../sources/request.ts"
import { type AccountTask, endTask, makeTasks, type TaskState } from "../tasks.ts"
import { type ConsoleParts, hoursLater } from "./console-parts.ts"
import { readPages } from "./documents.ts"

/** The variant of each report that contains all rows, without added noise. */
const NAMES: Record<AnalyticsReport, RegExp> = {
  engagement: /^App Store Discovery and Engagement( Standard)?$/i,
  downloads: /^App (Store )?Downloads( Standard)?$/i,
}

/** New files appear once a day, at no documented hour. */
const LOOK_HOURS = 4
/** Time until the next check if a person must act at the console first. */
const WAIT_HOURS = 24

interface Instance {
  report: AnalyticsReport
  processed: string
  instance: string
}

/**
 * Looks for new files of an app's reports. It never requests that reports be made: that needs an Admin key and a
 * person's decision.
 */
export async function readAnalytics(parts: ConsoleParts, task: AccountTask): Promise<void> {
  const { sql, account, now, fence } = parts
  const { state, instances } = await lookFor(parts, task.subject)
  await sql.begin(async (tx) => {
    await fence(tx)
    await storeInstances(tx, account.id, task.subject, instances)
    await endTask(tx, account.id, task, {
      state,
      nextAt: hoursLater(now(), state === "read" ? LOOK_HOURS : WAIT_HOURS),
    })
  })
}

interface AnalyticsListing {
  state: TaskState
  instances: Instance[]
}

async function lookFor({ console, signal }: ConsoleParts, app: string): Promise<AnalyticsListing> {
  const requests = await unlessDenied(() => readPages(console, analyticsRequestsPath(app), signal))
  if (requests === "denied") return { state: "denied", instances: [] }
  const ongoing = (requests ?? []).flatMap(({ data }) => data).filter(isOngoing)
  const running = ongoing.find(({ attributes }) => attributes.stoppedDueToInactivity !== true)
  if (!running) return { state: ongoing.length > 0 ? "stopped" : "not_requested", instances: [] }
  const reports = ((await readPages(console, analyticsReportsPath(running.id), signal)) ?? []).flatMap(
    ({ data }) => data,
  )
  const instances: Instance[] = []
  for (const [report, name] of Object.entries(NAMES) as [AnalyticsReport, RegExp][]) {
    const listedReport = reports.find(({ attributes }) => name.test(String(attributes.name)))
    const pages = listedReport ? await readPages(console, analyticsInstancesPath(listedReport.id), signal) : null
    for (const { id, attributes } of (pages ?? []).flatMap(({ data }) => data)) {
      const processed = String(attributes.processingDate)
      if (/^\d{4}-\d\d-\d\d$/.test(processed)) instances.push({ report, processed, instance: id })
    }
  }
  return { state: "read", instances }
}

function isOngoing({ attributes }: { attributes: Record<string, unknown> }): boolean {
  return attributes.accessType === "ONGOING"
}

/** The role lacks only this right, so everything else is still read. */
async function unlessDenied<Of>(ask: () => Promise<Of>): Promise<Of | "denied"> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ConsoleProblem && error.trouble === "forbidden") return "denied"
    throw error
  }
}

/** Each file is read once. A later reprocessing of the same days is a separate file. */
async function storeInstances(tx: Tx, account: string, app: string, instances: readonly Instance[]): Promise<void> {
  const once = new Map(instances.map((item) => [`${item.report} ${item.processed}`, item]))
  const unread = await tx<Instance[]>`
    insert into analytics_instance as held (account_id, app, report, processed, instance)
    select ${account}, ${app}, report, processed, instance
    from jsonb_to_recordset(${json(tx, [...once.values()])}) r (report text, processed date, instance text)
    order by report, processed
    on conflict (account_id, app, report, processed) do update
    set instance = excluded.instance
    where held.read_at is null
    returning report, processed, instance`
  const wanted = tx`
    select report, instance, processed
    from jsonb_to_recordset(${json(tx, unread)}) r (report text, instance text, processed date)`
  await makeTasks(tx, account, wanted, { isAgain: true })
}

interface StoredInstance extends Instance {
  app: string
}

/** Reads one file. Stores each of its days in a separate transaction, so that no lock lasts for the whole file. */
export async function readInstance(parts: ConsoleParts, task: AccountTask): Promise<void> {
  const { sql, record, account, now, keep, fence } = parts
  const instance = await findInstance(sql, account.id, task.subject)
  const bytes = instance && (await unlessDenied(() => download(parts, task.subject)))
  const end = (state: TaskState, nextAt: Date | null) => endTask(sql, account.id, task, { state, nextAt })
  if (!instance || bytes === null) return await end("gone", null)
  if (bytes === "denied") return await end("denied", hoursLater(now(), WAIT_HOURS))
  if (bytes === "not yet") return await end("late", hoursLater(now(), 1))
  const body = rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  await keep(body)
  const { app, report, processed } = instance
  const aside = new PutAside()
  const days = await analyticsIn(bytes, { account: account.id, app, report, processed }, body, aside)
  for (const day of days) await record(sql, [day], now, { all: true, finish: fence })
  await sql.begin(async (tx) => {
    await fence(tx)
    await noteRead(tx, account.id, instance)
    await endTask(tx, account.id, task, { state: "read", nextAt: null, putAside: aside.text() })
  })
}

async function findInstance(sql: Sql, account: string, instance: string): Promise<StoredInstance | null> {
  const [row] = await sql<StoredInstance[]>`
    select app, report, processed, instance
    from analytics_instance
    where account_id = ${account} and instance = ${instance}
    limit 1`
  return row ?? null
}

async function noteRead(tx: Tx, account: string, { app, report, processed }: StoredInstance): Promise<void> {
  await tx`
    update analytics_instance
    set read_at = now()
    where account_id = ${account} and app = ${app} and report = ${report} and processed = ${processed}`
}

/**
 * Downloads the parts of a file. Their URLs expire after some minutes: an expired URL is requested again once. Null if
 * the file is gone.
 */
async function download(parts: ConsoleParts, instance: string): Promise<Uint8Array | "not yet" | null> {
  for (let tries = 0; ; tries++) {
    const pages = await readPages(parts.console, analyticsSegmentsPath(instance), parts.signal)
    if (!pages) return null
    const segments = pages.flatMap(({ data }) => data)
    if (segments.length === 0) return "not yet"
    const bodies: Uint8Array[] = []
    for (const { attributes } of segments) {
      const answer = await parts.console.download(String(attributes.url), parts.signal)
      if (answer.status !== 200) break
      checkWhole(answer.bytes, attributes)
      bodies.push(answer.bytes)
    }
    if (bodies.length === segments.length) return Buffer.concat(bodies)
    if (tries > 0) throw new ConsoleProblem("refused", "the parts of a report's file cannot be fetched")
  }
}

/** Compares size and checksum with those that the console lists. An unknown checksum algorithm is not checked. */
function checkWhole(bytes: Uint8Array, { checksum, sizeInBytes }: Record<string, unknown>): void {
  const broken = new ConsoleProblem("refused", "a part of a report's file arrived incomplete or damaged")
  if (typeof sizeInBytes === "number" && sizeInBytes !== bytes.length) throw broken
  const expected = typeof checksum === "string" ? checksum.toLowerCase() : ""
  const algorithm = { 32: "md5", 64: "sha256" }[/^[0-9a-f]+$/.test(expected) ? expected.length : 0]
  if (algorithm !== undefined && hash(algorithm, bytes) !== expected) throw broken
}
