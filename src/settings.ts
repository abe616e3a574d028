import * as v from "valibot"
import type { PLANS } from "./access/plans.ts"
import { SecretKeys } from "./access/sealed.ts"
import { type LogLevel, redact } from "./log.ts"
import { editDistance, nearest } from "./nearest.ts"
import { SETTINGS, type Setting } from "./setting-rows.ts"

type Name = keyof typeof SETTINGS
type Values = { [N in Name]: v.InferOutput<(typeof SETTINGS)[N]["schema"]> | MissingOf<(typeof SETTINGS)[N]> }
type MissingOf<S> = S extends { fallback: string } ? never : undefined

const ROWS = Object.entries(SETTINGS) as [Name, Setting][]

export interface Settings {
  host: string
  port: number
  /** Without a trailing slash; undefined when it follows from host and port. */
  publicUrl: string | undefined
  dataDir: string
  databaseUrl: string | undefined
  databaseConnections: number
  redisUrl: string | undefined
  upstash: { url: string; token: string } | undefined
  redisPrefix: string
  trustedProxies: string[]
  logLevel: LogLevel
  firstWorkspace: FirstWorkspace
  sandboxPerSecond: number
  requestDeadlineMs: number
  maxWaiting: number
  drainMs: number
  /** Null without a port of their own. */
  metricsListen: { host: string; port: number } | null
  metricsToken: string | undefined
  kept: { ledgerDays: number; attemptDays: number; jobDays: number; auditDays: number; alertDays: number }
  /** Addresses and networks that may be asked for others although they are not public. */
  allowPrivateTargets: string[]
  /** Whether this process tells alerts on channels. */
  deliver: boolean
  /** Without a trailing slash; undefined for Telegram's own. */
  telegramApi: string | undefined
  /** Whether, and how, this process reads the stores. */
  measuring: MeasuringSettings
  /** Null without SECRET_KEY. */
  secretKeys: SecretKeys | null
  /** Variables that look like misspelt settings, one sentence each. */
  warnings: string[]
}

export interface MeasuringSettings {
  /** Whether a server reads them itself. */
  on: boolean
  atOnce: number
  egress: string
  egressCountry: string | undefined
  sourcesOff: readonly string[]
  /** By host; only those that differ from the default. */
  gapsMs: ReadonlyMap<string, number>
  addresses: ReadonlyMap<string, string>
  raw: { folder: string; days: number; megabytes: number }
}

export interface FirstWorkspace {
  plan: (typeof PLANS)[number]
  explorer: boolean
  overrides: { credits: number; ratePerSecond: number; liveKeys: number; apps: number; trackedKeywords: number }
}

export interface SettingProblem {
  variable: string
  /** As it was given; a secret is hidden. */
  value: string
  fix: string
}

/** Every problem of the settings, for one list. Its message holds no secret. */
export class SettingsProblems extends Error {
  override name = "SettingsProblems"
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ variable, value, fix }) => `${variable} ${value}: ${fix}`).join("\n"))
    this.problems = problems
  }
}

export type Environment = Record<string, string | undefined>

/** The settings of an environment. `readFile` gives the text behind a NAME_FILE. Throws SettingsProblems with all of them. */
export function readSettings(env: Environment, readFile: (path: string) => string): Settings {
  const problems: SettingProblem[] = []
  const values = Object.fromEntries(
    ROWS.map(([name, row]) => [name, settingValue(name, row, env, readFile, problems)]),
  ) as Values
  const upstash = upstashOf(values, problems)
  const secretKeys = secretKeysOf(values, problems)
  if (problems.length > 0) throw new SettingsProblems(problems)
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL?.replace(/\/+$/, ""),
    dataDir: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL,
    databaseConnections: values.DATABASE_CONNECTIONS,
    redisUrl: values.REDIS_URL,
    upstash,
    redisPrefix: values.REDIS_PREFIX,
    trustedProxies: values.TRUSTED_PROXIES,
    logLevel: values.LOG_LEVEL,
    firstWorkspace: firstWorkspaceOf(values),
    sandboxPerSecond: values.SANDBOX_PER_SECOND,
    requestDeadlineMs: values.REQUEST_DEADLINE_MS,
    maxWaiting: values.MAX_WAITING,
    drainMs: values.DRAIN_MS,
    metricsListen:
      values.METRICS_PORT === undefined
        ? null
        : { host: values.METRICS_HOST ?? values.HOST, port: values.METRICS_PORT },
    metricsToken: values.METRICS_TOKEN,
    kept: {
      ledgerDays: values.KEEP_LEDGER_DAYS,
      attemptDays: values.KEEP_ATTEMPT_DAYS,
      jobDays: values.KEEP_JOB_DAYS,
      auditDays: values.KEEP_AUDIT_DAYS,
      alertDays: values.KEEP_ALERT_DAYS,
    },
    allowPrivateTargets: values.ALLOW_PRIVATE_TARGETS,
    deliver: values.DELIVER === "yes",
    telegramApi: values.TELEGRAM_API?.replace(/\/+$/, ""),
    measuring: measuringOf(values),
    secretKeys,
    warnings: misspellings(env),
  }
}

/** Every setting with its default and meaning, a line each, for --help and the README. */
export function settingsTable(): string {
  const width = Math.max(...ROWS.map(([name]) => name.length))
  const fallbacks = Math.max(...ROWS.map(([, { fallback }]) => fallback?.length ?? 0))
  const lines = ROWS.map(([name, { fallback = "", meaning, secret }]) => {
    const note = secret ? ` Secret; ${name}_FILE names a file that holds it.` : ""
    return `${name.padEnd(width)}  ${fallback.padEnd(fallbacks)}  ${meaning}${note}`
  })
  return lines.join("\n")
}

export function settingNames(): string[] {
  return ROWS.map(([name]) => name)
}

/** Settings that are never shown and may stand in a file. */
export function secretNames(): string[] {
  return ROWS.filter(([, { secret }]) => secret).map(([name]) => name)
}

/** Where an instance that listens there is reached from the same machine. */
export function listeningUrl(host: string, port: number): string {
  const near = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

type Problems = SettingProblem[]

function settingValue(
  name: Name,
  { schema, fallback, secret, fix, example }: Setting,
  env: Environment,
  readFile: (path: string) => string,
  problems: Problems,
): unknown {
  const given = secret ? secretText(name, env, readFile, problems) : env[name]
  const text = given?.trim() || fallback
  if (text === undefined) return undefined
  const parsed = v.safeParse(schema, text)
  if (parsed.success) return parsed.output
  const value = secret ? "(hidden)" : `is ${JSON.stringify(redact(text).slice(0, 100))}`
  problems.push({ variable: name, value, fix: `must be ${fix}, for example ${name}=${example}` })
  return undefined
}

function secretText(name: Name, env: Environment, readFile: (path: string) => string, problems: Problems) {
  const variable = `${name}_FILE`
  const path = env[variable]?.trim()
  if (!path) return env[name]
  if (env[name]?.trim()) {
    problems.push({ variable, value: "is set beside it", fix: `give ${name} or ${variable}, not both` })
    return undefined
  }
  const value = `is ${JSON.stringify(path)}`
  try {
    const text = readFile(path).trim()
    if (text) return text
    problems.push({ variable, value, fix: `the file is empty; write the value of ${name} into it` })
  } catch {
    problems.push({ variable, value, fix: `must name a readable file, for example ${variable}=/run/secrets/${name}` })
  }
  return undefined
}

function upstashOf(values: Values, problems: Problems): Settings["upstash"] {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = values
  if (url !== undefined && token !== undefined) return { url, token }
  const bad = problems.some(({ variable }) => variable.startsWith("UPSTASH_"))
  if (bad || url === token) return undefined
  const [variable, other] = url === undefined ? ["URL", "TOKEN"] : ["TOKEN", "URL"]
  problems.push({
    variable: `UPSTASH_REDIS_REST_${variable}`,
    value: "is missing",
    fix: `set it beside UPSTASH_REDIS_REST_${other}, or remove both`,
  })
  return undefined
}

/** Newest first. */
function secretKeysOf({ SECRET_KEY: newest, SECRET_KEY_PREVIOUS: earlier }: Values, problems: Problems) {
  if (newest !== undefined) return earlier === undefined ? null : new SecretKeys([newest, ...earlier])
  if (!earlier?.length || problems.some(({ variable }) => /^SECRET_KEY(_FILE)?$/.test(variable))) return null
  const fix = "set it beside SECRET_KEY_PREVIOUS, or remove both"
  problems.push({ variable: "SECRET_KEY", value: "is missing", fix })
  return null
}

function measuringOf(values: Values): MeasuringSettings {
  return {
    on: values.MEASURE === "yes",
    atOnce: values.MEASURE_AT_ONCE,
    egress: values.EGRESS,
    egressCountry: values.EGRESS_COUNTRY,
    sourcesOff: values.SOURCES_OFF,
    gapsMs: new Map([...values.UPSTREAM_GAPS_MS].map(([host, ms]) => [host, Number(ms)])),
    addresses: new Map([...values.UPSTREAM_URLS].map(([host, url]) => [host, url.replace(/\/+$/, "")])),
    raw: { folder: values.RAW_DIR ?? `${values.DATA_DIR}/raw`, days: values.RAW_DAYS, megabytes: values.RAW_MB },
  }
}

function firstWorkspaceOf(values: Values): FirstWorkspace {
  return {
    plan: values.FIRST_WORKSPACE_PLAN,
    explorer: values.FIRST_WORKSPACE_EXPLORER === "yes",
    overrides: {
      credits: values.FIRST_WORKSPACE_CREDITS,
      ratePerSecond: values.FIRST_WORKSPACE_RATE_PER_SECOND,
      liveKeys: values.FIRST_WORKSPACE_LIVE_KEYS,
      apps: values.FIRST_WORKSPACE_APPS,
      trackedKeywords: values.FIRST_WORKSPACE_KEYWORDS,
    },
  }
}

const PREFIX = /^APPMETER_/

/** A foreign variable must never be called a mistake, so only longer names are compared, and those closely. */
function misspellings(env: Environment): string[] {
  const known = ROWS.flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]))
  return Object.keys(env).flatMap((given) => {
    if (known.includes(given)) return []
    const bare = given.replace(PREFIX, "")
    const ours = bare !== given
    const meant = ours ? nearest(bare, known) : known.find((name) => isNear(given, name))
    return meant ? [`${given} is not a setting; did you mean ${meant}?`] : []
  })
}

function isNear(given: string, name: string): boolean {
  const allowed = Math.min(2, Math.floor(name.length / 6))
  return name.length >= 8 && Math.abs(given.length - name.length) <= allowed && editDistance(given, name) <= allowed
}
