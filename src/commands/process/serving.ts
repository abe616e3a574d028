import { setTimeout as sleep } from "node:timers/promises"
import { type Limits, openLimits } from "../../access/limits/open.ts"
import type { Digests } from "../../alerts/digest/worker.ts"
import { type App, createApp } from "../../app.ts"
import { catalog } from "../../catalog.ts"
import { readTree, versionOf } from "../../database/assets.ts"
import type { Database } from "../../database/types.ts"
import { prepareSandbox, type Sandbox } from "../../http/sandbox.ts"
import type { Log } from "../../lib/log.ts"
import { listeningUrl, type Settings } from "../../settings/settings.ts"
import {
  CommandProblem,
  type Invocation,
  type ListeningProcess,
  type ListenOptions,
  type ProcessPort,
} from "../cli/command.ts"
import { checksOf } from "./asking.ts"
import { openDigests } from "./digests.ts"
import { greet } from "./greeting.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { openPictureCache } from "./picture-cache.ts"
import { createReceiving } from "./receiving.ts"
import { openSettingsPorts } from "./settings-ports.ts"
import type { Stop } from "./stop.ts"
import type { RunningProcess } from "./until-stopped.ts"
import { openWorkers, type Workers } from "./workers.ts"

/** Prepared while the database opens, and created again if the server listens on another port than expected. */
interface ServingParts {
  url: string
  sandbox: Sandbox
}

export function prepare({ publicUrl, host, port }: Settings): ServingParts {
  return preparedFor(publicUrl ?? listeningUrl(host, port))
}

const preparedFor = (url: string): ServingParts => ({
  url,
  sandbox: prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), url),
})

/** Serves with a migrated database until the process is stopped. */
export async function serve(invocation: Invocation, running: RunningProcess, prepared: ServingParts): Promise<void> {
  const { stop, log } = running
  await live(invocation, await listen(invocation, running, prepared), stop, log)
}

interface LiveService {
  database: Database
  app: App
  workers: Workers
  /** Null without a mail server. */
  digests: Digests | null
  listening: ListeningProcess
  /** The port of the metrics. Null if they have none of their own. */
  metrics: ListeningProcess | null
  url: string
  closeLimits(): void
}

/** Serves until a stop, then closes. A stop interrupts the welcome; the next start repeats it. */
async function live(invocation: Invocation, service: LiveService, stop: Stop, log: Log): Promise<void> {
  try {
    await Promise.race([greet(invocation, service, stop, log), stop.reason])
    log("info", "stopping", { signal: await stop.reason })
  } finally {
    stop.ask("error") // ends the service if the welcome failed
    await close(invocation, service)
  }
}

/**
 * Opens the port and creates the app in the same turn of the event loop: the app's links need the port, and no request
 * can arrive before the app exists.
 */
async function listen(
  { settings, process }: Invocation,
  { database, log }: RunningProcess,
  prepared: ServingParts,
): Promise<LiveService> {
  const { sql, background } = database
  const workers = await openWorkers(settings, { sql: background, log, as: "server" })
  const { redisUrl, upstash, host, port, redisPrefix: prefix } = settings
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  const limits = openLimits({ upstash, wire, sql, log, prefix })
  const closeLimits = () => wire?.close()
  let listening: ListeningProcess | undefined
  let metrics: ListeningProcess | null = null
  try {
    const receive = await createReceiving(sql, settings)
    const settingsPorts = await openSettingsPorts(settings)
    listening = openPort({ host, port, setting: "PORT" }, process, (request, peer) => app.fetch(request, peer))
    const url = settings.publicUrl ?? listeningUrl(host, listening.port)
    const app: App = createApp({
      sql,
      fetch: guardedFetch(settings.allowPrivateTargets),
      measure: workers.reading.measure,
      write: workers.writing.write,
      pictures: workers.pictures.read,
      assistants: checksOf(settings),
      platforms: workers.platforms,
      ...(settings.measuring.on && { budget: workers.reading.budget }),
      limits,
      sandbox: (prepared.url === url ? prepared : preparedFor(url)).sandbox,
      settings: { ...settings, publicUrl: url },
      log,
      now: () => new Date(),
      disk: database.disk,
      receive,
      settingsPorts,
      pictureCache: openPictureCache(settings, log),
      metered: meteredOf(settings, database),
    })
    metrics = openMetrics(settings, process, app, log)
    log("info", "listening", { url, database: database.kind, limits: limits.store })
    if (!(await answersSoon(limits)))
      log("warn", "limits_unreachable", { limits: limits.store, reason: "counting in this process until it answers" })
    workers.start()
    const { mail, deliver } = settings
    const digests =
      mail && deliver ? openDigests(mail, { sql: background, log, invoke: app.invoke, publicUrl: url }) : null
    digests?.start()
    return { database, app, workers, digests, listening, metrics, url, closeLimits }
  } catch (error) {
    await listening?.stop(true)
    await metrics?.stop(true)
    closeLimits()
    throw error
  }
}

/** Returns the parts of /metrics other than calls. Undefined if metrics are off. */
function meteredOf({ metricsListen, metricsToken, databaseConnections, writer }: Settings, { kind }: Database) {
  if (!metricsListen && metricsToken === undefined) return undefined
  return {
    version: versionOf(),
    database: { kind, connections: databaseConnections, ...(writer && { writer: { price: writer.price } }) },
  }
}

function openMetrics(
  { metricsListen }: Settings,
  process: ProcessPort,
  { metrics }: App,
  log: Log,
): ListeningProcess | null {
  if (!metricsListen || !metrics) return null
  const listening = openPort({ ...metricsListen, setting: "METRICS_PORT" }, process, metrics)
  log("info", "metrics_listening", { url: `${listeningUrl(metricsListen.host, listening.port)}/metrics` })
  return listening
}

// Twice the timeout of connecting (redis-wire.ts), which happens in the background.
const SOON_MS = 1_000

async function answersSoon({ ping }: Limits): Promise<boolean> {
  const until = performance.now() + SOON_MS
  while (!(await ping())) {
    if (performance.now() > until) return false
    await sleep(50)
  }
  return true
}

type ListenAddress = { host: string; port: number; setting: "PORT" | "METRICS_PORT" }

function openPort(
  { host, port, setting }: ListenAddress,
  process: ProcessPort,
  fetch: ListenOptions["fetch"],
): ListeningProcess {
  try {
    return process.listen({ host, port, fetch })
  } catch (error) {
    const { code } = error as { code?: string }
    const why = UNUSABLE[code ?? ""]?.(setting)
    if (why) throw new CommandProblem(`cannot listen on ${host}, port ${port}: ${why}`)
    throw error
  }
}

const UNUSABLE: Record<string, (setting: ListenAddress["setting"]) => string> = {
  EADDRINUSE: (setting) =>
    `the port is in use; choose another, for example ${setting}=${setting === "PORT" ? 8788 : 9188}`,
  EADDRNOTAVAIL: (setting) =>
    `this machine does not have the address; set ${setting === "PORT" ? "HOST" : "METRICS_HOST"} to one it has`,
  EACCES: () => "the port needs rights that this user does not have; choose one above 1023",
}

// Time from the signal until unanswered calls are dropped.
const ANSWERED_BY_MS = 18_000

/**
 * Makes /readyz fail first, so that load balancers stop sending, then closes the port while open requests are answered.
 * Meanwhile running jobs and readings finish or are released, and no new one starts.
 */
async function close({ settings: { drainMs } }: Invocation, service: LiveService): Promise<void> {
  const { app, workers, digests, listening, metrics, closeLimits } = service
  const late = setTimeout(() => void listening.stop(true), ANSWERED_BY_MS)
  app.setReady(false)
  const workersEnded = Promise.all([workers.stop(), digests?.stop()])
  await sleep(drainMs)
  await listening.stop()
  clearTimeout(late)
  closeLimits()
  await workersEnded
  await metrics?.stop(true)
}
