import * as v from "valibot"
import { PLANS } from "./access/plans.ts"
import { SecretKeys } from "./access/sealed.ts"
import { type LogLevel, redact } from "./log.ts"
import { editDistance, nearest } from "./nearest.ts"
import {
  address, days, entries, HOST_NAME, isAddressList, isDatabaseAddress, isSecretKey, LEVELS, oneOf, SECRET_KEY_FIX, whole,
} from "./setting-kinds.ts" // biome-ignore format: a list to scan

interface Setting {
  /** What the text becomes; its failure is explained by `fix`. */
  schema: v.GenericSchema<string, unknown>
  /** Taken when the variable is missing or empty. */
  fallback?: string
  meaning: string
  /** Completes "must be …". */
  fix: string
  example: string
  /** Never shown; may also stand in a file named by NAME_FILE. */
  secret?: true
}

const SETTINGS = {
  HOST: {
    schema: HOST_NAME,
    fallback: "127.0.0.1",
    meaning: "Address to listen on; 0.0.0.0 for every IPv4 address of the machine.",
    fix: "an address or host name without a port",
    example: "0.0.0.0",
  },
  PORT: whole(0, 65_535, 8787, "Port to listen on; 0 takes any free one."),
  PUBLIC_URL: {
    ...address(["http:", "https:"], "https://ranks.example.com"),
    meaning: "Where callers reach this instance; links in answers begin with it. http://HOST:PORT when left out.",
  },
  DATA_DIR: {
    schema: v.string(),
    fallback: ".appmeter",
    meaning: "Folder of the embedded database, used while DATABASE_URL is not set.",
    fix: "a folder",
    example: "/var/lib/appmeter",
  },
  DATABASE_URL: {
    schema: v.pipe(v.string(), v.check(isDatabaseAddress)),
    fix:
      "an address that begins with postgres:// or postgresql:// and names a host (several with commas between them); " +
      "percent-encode special characters in its user and password, % as %25",
    example: "postgres://user:password@db.example.com:5432/appmeter",
    meaning: "PostgreSQL 15 or newer, instead of the embedded database.",
    secret: true,
  },
  DATABASE_CONNECTIONS: whole(1, 1_000, 10, "Connections to the database at most."),
  REDIS_URL: {
    ...address(["redis:", "rediss:"], "redis://:password@cache.example.com:6379"),
    meaning: "Redis that counts calls per second and Hive calls per day for several processes together.",
    secret: true,
  },
  UPSTASH_REDIS_REST_URL: {
    ...address(["http:", "https:"], "https://example.upstash.io"),
    meaning: "The same over Upstash's REST interface; preferred to REDIS_URL.",
  },
  UPSTASH_REDIS_REST_TOKEN: {
    schema: v.pipe(v.string(), v.regex(/^\S+$/)),
    meaning: "The token of UPSTASH_REDIS_REST_URL.",
    fix: "a token without white space",
    example: "AX0aASQgN2Y…",
    secret: true,
  },
  REDIS_PREFIX: {
    schema: v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/)),
    fallback: "appmeter",
    meaning: "Begins every key in Redis; instances that share a Redis but not a database need different ones.",
    fix: "1 to 64 letters, digits, dots, dashes or underscores",
    example: "appmeter-eu",
  },
  TRUSTED_PROXIES: {
    schema: v.pipe(v.string(), v.transform(entries), v.check(isAddressList)),
    fallback: "",
    meaning: "Addresses and networks, with commas, whose X-Forwarded-For is believed.",
    fix: "addresses or networks with commas between them",
    example: "10.0.0.0/8,192.0.2.7",
  },
  LOG_LEVEL: { ...oneOf(LEVELS, "info"), meaning: "Least level of the log lines on stderr." },
  FIRST_WORKSPACE_PLAN: {
    ...oneOf(PLANS, "enterprise"),
    meaning: "Plan of the workspace made at the first start; this and the following count only then.",
  },
  FIRST_WORKSPACE_EXPLORER: { ...oneOf(["yes", "no"], "yes"), meaning: "Whether its Hive endpoints are open." },
  FIRST_WORKSPACE_CREDITS: whole(0, 1e12, 10_000_000, "Its credits a month."),
  FIRST_WORKSPACE_RATE_PER_SECOND: whole(1, 1e6, 100, "Its calls a second, per key."),
  FIRST_WORKSPACE_LIVE_KEYS: whole(1, 1e6, 1_000, "Its live keys."),
  FIRST_WORKSPACE_APPS: whole(0, 1e6, 10_000, "Its apps."),
  FIRST_WORKSPACE_KEYWORDS: whole(0, 1e9, 1_000_000, "Its tracked keywords."),
  SANDBOX_PER_SECOND: whole(1, 1e6, 50, "Sandbox calls a second from one address."),
  REQUEST_DEADLINE_MS: whole(100, 25_000, 4_500, "Milliseconds a call may take before it is answered 503."),
  MAX_WAITING: whole(1, 1e6, 500, "Calls that may wait for the database at once; more are answered 503."),
  METRICS_PORT: {
    schema: whole(0, 65_535, 0, "").schema,
    meaning:
      "Port of its own for GET /metrics (Prometheus); 0 takes any free one. Without this and the token there is none.",
    fix: "a whole number from 0 to 65535",
    example: "9187",
  },
  METRICS_HOST: {
    schema: HOST_NAME,
    meaning: "Address to listen on for METRICS_PORT; HOST when left out.",
    fix: "an address or host name without a port",
    example: "127.0.0.1",
  },
  METRICS_TOKEN: {
    schema: v.pipe(v.string(), v.regex(/^[!-~]{16,512}$/)),
    meaning: "Opens GET /metrics on PORT too, and is asked for on both as a bearer token.",
    fix: "16 characters or more, without white space",
    example: "k3v9…",
    secret: true,
  },
  KEEP_LEDGER_DAYS: days(1, 400, "Days to keep each charge; then monthly sums. This and the last month always stay."),
  KEEP_ATTEMPT_DAYS: days(1, 90, "Days to keep failed reads."),
  KEEP_JOB_DAYS: days(1, 90, "Days to keep finished jobs."),
  KEEP_AUDIT_DAYS: days(365, 0, "Days to keep audit rows, 365 at least."),
  SECRET_KEY: {
    schema: v.pipe(v.string(), v.check(isSecretKey)),
    meaning: "32 bytes, base64 or hex: encrypts what must be stored but not be readable. Lose it, and that is lost.",
    fix: SECRET_KEY_FIX,
    example: "q83v…",
    secret: true,
  },
  SECRET_KEY_PREVIOUS: {
    schema: v.pipe(
      v.string(),
      v.transform(entries),
      v.check((keys: string[]) => keys.every(isSecretKey)),
    ),
    fallback: "",
    meaning: "Earlier SECRET_KEYs, with commas: what they encrypted can still be read.",
    fix: "earlier values of SECRET_KEY with commas between them",
    example: "q83v…",
    secret: true,
  },
  DRAIN_MS: whole(
    0,
    15_000,
    100,
    "Milliseconds between /readyz turning 503 and the port closing; connections end with their next answer meanwhile.",
  ),
} satisfies Record<string, Setting>

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
  kept: { ledgerDays: number; attemptDays: number; jobDays: number; auditDays: number }
  /** Null without SECRET_KEY. */
  secretKeys: SecretKeys | null
  /** Variables that look like misspelt settings, one sentence each. */
  warnings: string[]
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
    },
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
