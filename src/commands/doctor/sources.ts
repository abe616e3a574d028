import { OWN } from "../../core/observation/origins.ts"
import type { Platform } from "../../core/observation/provenance.ts"
import { createGate, isConnectionProblem } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { redact } from "../../lib/log.ts"
import { DAY_MS } from "../../lib/time.ts"
import { STORE_HOSTS, type Upstream } from "../../lib/upstreams.ts"
import { MARKET_SOURCES } from "../../market/market-plan.ts"
import { readFollowedMarket } from "../../market/read/followed.ts"
import { type Budget, readBudget } from "../../measuring/budget.ts"
import type { CanarySource } from "../../measuring/source-alarms.ts"
import { type OpenAlert, openAlerts } from "../../measuring/source-alarms.ts"
import type { MeasuringSettings, Settings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { measuredBy } from "../process/measured-kinds.ts"
import { checkCountry } from "./countries.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/** Checks whether the stores can be read from this machine, often enough, and with working sources. */
export async function checkSources(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  // the finding "database" reports problems of the database
  const database = await reached.database().catch(() => null)
  if (!database) return []
  try {
    return await createGate({ deadlineMs: DEADLINE_MS }).run(() => look(database.sql, settings))
  } catch (error) {
    const isReported = isConnectionProblem(error) || MISSING.has((error as { code?: string }).code ?? "")
    return isReported ? [] : [unknown(error)]
  }
}

const DEADLINE_MS = 15_000

// SQLSTATEs of a missing table or column: the finding "database" reports an old schema
const MISSING = new Set(["42P01", "42703"])

function unknown(error: unknown): Finding {
  const says = `unknown: ${redact((error as Error).message).split("\n")[0]}`
  return problem("sources", says, "fix the database as described above, then run: appmeter doctor")
}

async function look(sql: Sql, settings: Settings): Promise<Finding[]> {
  const { measuring } = settings
  const platforms = await readTrackedPlatforms(sql)
  const market: readonly string[] = (await readFollowedMarket(sql)).length > 0 ? MARKET_SOURCES : []
  if (platforms.length + market.length === 0) return [ok("sources", "no app is tracked, so no store is read")]
  const parts = measuredBy(measuring)
  const sources = parts.sources.filter(
    ({ on, upstream, name }) => on && (platforms.includes(platformOf(upstream)) || market.includes(name)),
  )
  return [
    await checkEgressCountry(sql, measuring, platforms),
    ...(await checkReachability(sql, measuring, sources)),
    ...budgets(await readBudget(sql, parts), settings),
    ...alerts(await openAlerts(sql), parts.sources),
  ]
}

async function readTrackedPlatforms(sql: Sql): Promise<Platform[]> {
  const [row] = await sql<[{ ios: boolean; android: boolean }]>`
    select coalesce(bool_or(ios_app is not null), false) as ios,
      coalesce(bool_or(android_app is not null), false) as android
    from tracked_app
    where origin = ${OWN}`
  return (["ios", "android"] as const).filter((platform) => row[platform])
}

const platformOf = (upstream: Upstream): Platform => (upstream === "play.google.com" ? "android" : "ios")

/** Checks EGRESS_COUNTRY. Sends no request if no Android app is tracked, or with MEASURE=no. */
async function checkEgressCountry(
  sql: Sql,
  measuring: MeasuringSettings,
  platforms: readonly Platform[],
): Promise<Finding> {
  if (platforms.includes("android")) return await checkCountry(sql, measuring, { asks: measuring.on })
  return ok("EGRESS_COUNTRY", measuring.egressCountry ?? "not set; no Android app is tracked")
}

/**
 * Sends a request to each host that is read from this address. With MEASURE=no, sends it only if another process behind
 * this address has read within the last hour.
 */
async function checkReachability(sql: Sql, measuring: MeasuringSettings, sources: readonly CanarySource[]) {
  if (!measuring.on && !(await isReadFromHere(sql, measuring.egress)))
    return [
      ok(
        "stores",
        `not read from here: MEASURE=no, and no process with EGRESS=${measuring.egress} read anything for an hour`,
      ),
    ]
  // developers' sites are out of the operator's control
  const hosts = sources.filter(({ upstream }) => STORE_HOSTS.some((host) => host === upstream))
  const upstreams = [...new Set(hosts.map(({ upstream }) => upstream))]
  return await Promise.all(upstreams.map((upstream) => reachable(upstream, measuring.addresses.get(upstream))))
}

async function isReadFromHere(sql: Sql, egress: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from pace
    where egress = ${egress} and next_at > now() - interval '1 hour'
    limit 1`
  return rows.length > 0
}

const REACHED_WITHIN_MS = 3_000

/** Any response counts, because only the connection is checked. */
async function reachable(upstream: Upstream, standIn: string | undefined): Promise<Finding> {
  const url = `${standIn ?? `https://${upstream}`}/`
  const place = standIn === undefined ? "" : ` at ${new URL(url).host} (UPSTREAM_URLS)`
  try {
    const signal = AbortSignal.timeout(REACHED_WITHIN_MS)
    const answer = await fetch(url, { method: "HEAD", redirect: "manual", signal })
    return ok(upstream, `reached${place}; status ${answer.status}`)
  } catch (error) {
    const { name, code } = error as { name: string; code?: unknown }
    const why = name === "TimeoutError" ? `no answer within ${REACHED_WITHIN_MS / 1_000} s` : `${code ?? name}`
    const fix = standIn
      ? `start the service there, or remove ${upstream} from UPSTREAM_URLS`
      : `allow this machine to connect to port 443 there and test it: curl -sI ${url}; ` +
        `or set UPSTREAM_URLS=${upstream}=ADDRESS to use a proxy`
    return problem(upstream, `cannot be reached${place} from this machine: ${why}`, fix)
  }
}

function budgets(all: readonly Budget[], settings: Settings): Finding[] {
  const short = all.filter((budget) => budget.short > 0)
  if (short.length > 0) return short.map((budget) => shortfall(budget, settings))
  const spent = all
    .filter(({ asked: requests }) => requests > 0)
    .map(({ upstream, asked: requests, can }) => `${requests} of ${can} to ${upstream}`)
  return [ok("budget", spent.length > 0 ? `${spent.join(", ")} requests a day` : "no request is due")]
}

function shortfall({ upstream, asked: requests, can, canAtBase, short }: Budget, { databaseUrl }: Settings): Finding {
  const demand = `${upstream} needs ${requests} requests a day but only ${can} are possible`
  const says = `${demand}, ${short} too few; paid plans go first`
  if (canAtBase >= requests)
    return warning(
      "budget",
      `${says}. It refused requests, so it is read more slowly`,
      "wait until it answers reliably again; watch the column GAP of: appmeter sources",
    )
  const gapMs = Math.max(1, Math.floor(DAY_MS / requests))
  const another =
    databaseUrl && upstream !== "play.google.com"
      ? "run EGRESS=second appmeter work on a machine with another address; or "
      : ""
  const fix =
    `${another}remove keywords that you do not need (appmeter app keywords remove); ` +
    `or set UPSTREAM_GAPS_MS=${upstream}=${gapMs} and watch whether it refuses requests`
  return warning("budget", says, fix)
}

/** Returns a finding for each open alert, except alerts of sources that are off. */
function alerts(open: readonly OpenAlert[], sources: readonly CanarySource[]): Finding[] {
  const findings = open.flatMap((alert) => {
    if (alert.kind.startsWith("account_")) return [accountProblem(alert)]
    const source = sources.find(({ name, on }) => on && name === alert.subject)
    return source
      ? [problem(source.name, `${alert.detail} (since ${alert.at.toISOString()})`, fixOf(alert, source))]
      : []
  })
  return findings.length > 0 ? findings : [ok("sources", "no open alerts")]
}

function accountProblem({ subject, detail, at }: OpenAlert): Finding {
  return problem(
    subject,
    `${detail} (since ${at.toISOString()})`,
    `find out what is missing: appmeter account test ${subject}`,
  )
}

function fixOf({ kind }: OpenAlert, { name, upstream }: CanarySource): string {
  const off = `to stop reading it, set SOURCES_OFF=${name}`
  if (kind === "source_changed") return `install the newest Appmeter, then run: appmeter replay; ${off}`
  if (kind === "source_mismatched" && upstream === "play.google.com")
    return (
      "check which country is answered: appmeter sources; set EGRESS_COUNTRY to it, " +
      `or read from an address in the country you want; ${off}`
    )
  if (kind === "source_mismatched") return `check the attempts (appmeter sources) and report a bug; ${off}`
  return `read it more slowly with UPSTREAM_GAPS_MS=${upstream}=10000, or from another address; ${off}`
}
