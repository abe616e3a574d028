import * as v from "valibot"
import { SecretKeys } from "../access/sealed.ts"
import { redact } from "../lib/log.ts"
import { editDistance, nearest } from "../lib/text.ts"
import { ASSISTANTS } from "../lib/upstreams.ts"
import type { WireName } from "../lib/writing/written-text.ts"
import type { SmtpServer } from "../outbound/mail/smtp.ts"
import { SETTING_GROUPS } from "./groups.ts"
import { isOnThisMachine, type Setting } from "./kinds.ts"
import { type Rows, SETTINGS } from "./rows.ts"

export type Settings = ReturnType<typeof readSettings>
/** Whether and how this process reads the stores. */
export type MeasuringSettings = Settings["measuring"]
export type FirstWorkspace = Settings["firstWorkspace"]

/** The parsed value of each row. Undefined if a setting without a default is missing. */
type Values<R> = R extends { schema: v.GenericSchema<string, infer Value> }
  ? Value | (R extends { fallback: string } ? never : undefined)
  : { [Name in keyof R]: Values<R[Name]> }
type SettingValues = Values<typeof SETTINGS>

interface SettingProblem {
  variable: string
  /** The given value. A secret is hidden. */
  value: string
  fix: string
}

/** All problems of the settings. The message contains no secrets. */
export class SettingsProblems extends Error {
  override name = "SettingsProblems"
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ variable, value, fix }) => `${variable} ${value}: ${fix}`).join("\n"))
    this.problems = problems
  }
}

export type Environment = Record<string, string | undefined>

/**
 * Parses the settings of an environment. `readFile` returns the text of a file named by NAME_FILE. Throws
 * SettingsProblems with all problems.
 */
export function readSettings(env: Environment, readFile: (path: string) => string) {
  const problems: SettingProblem[] = []
  const given = valuesOf(SETTINGS, (row) => settingValue(row, env, readFile, problems)) as SettingValues
  const { upstash, secretKeys, metrics, raw, measuring, writer, assistants, oidc, mail, ...plain } = given
  const settings = {
    ...plain,
    upstash: upstashOf(upstash, problems),
    /** Null without AI_URL. */
    writer: writerOf(writer, problems),
    assistants: assistantsOf(assistants),
    /** Null without OIDC_ISSUER. */
    oidc: oidcOf(oidc, problems),
    /** Null without SMTP_URL. */
    mail: mailOf(mail, problems),
    /** Null without SECRET_KEY. */
    secretKeys: secretKeysOf(secretKeys, problems),
    /** Null without a separate port for metrics. */
    metricsListen: metrics.port === undefined ? null : { host: metrics.host ?? plain.host, port: metrics.port },
    metricsToken: metrics.token,
    measuring: { ...measuring, raw: { ...raw, folder: raw.folder ?? `${plain.dataDir}/raw` } },
    /** A sentence for each variable that looks like a misspelt setting. */
    warnings: misspellings(env),
  }
  if (problems.length > 0) throw new SettingsProblems(problems)
  return settings
}

/** A setting as it is shown. The meaning of a secret mentions its NAME_FILE. */
interface DescribedSetting {
  name: string
  fallback: string
  meaning: string
}

/** Returns a line per setting with its default and meaning, below the title of its group. */
export function settingsTable(): string {
  const rows = describedSettings()
  const width = Math.max(...rows.map(({ name }) => name.length))
  const fallbacks = Math.max(...rows.map(({ fallback }) => fallback.length))
  const lineOf = (row: DescribedSetting) =>
    `${row.name.padEnd(width)}  ${row.fallback.padEnd(fallbacks)}  ${row.meaning}`
  return settingGroups()
    .map(({ title, settings }) => [title, ...settings.map(lineOf)].join("\n"))
    .join("\n\n")
}

/** Returns the groups of settings in display order. */
export function settingGroups(): { title: string; settings: DescribedSetting[] }[] {
  const described = ROWS.map(({ name, fallback = "", meaning, secret }) => {
    const note = secret ? ` Secret; ${name}_FILE can name a file that contains it.` : ""
    return { name, fallback, meaning: meaning + note }
  })
  return SETTING_GROUPS.map(({ title, names }) => ({
    title,
    settings: described.filter(({ name }) => names.test(name)),
  }))
}

/** Returns every setting with its group, in display order. */
export function describedSettings(): (DescribedSetting & { group: string })[] {
  return settingGroups().flatMap(({ title, settings }) => settings.map((setting) => ({ group: title, ...setting })))
}

/** Returns the names of settings that are never shown and can be read from a file. */
export function secretNames(): string[] {
  return ROWS.filter(({ secret }) => secret).map(({ name }) => name)
}

/** Returns the URL of an instance for clients on the same machine. */
export function listeningUrl(host: string, port: number): string {
  const near = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${near.includes(":") ? `[${near}]` : near}:${port}`
}

type Problems = SettingProblem[]

const isSetting = (row: Setting | Rows): row is Setting => "schema" in row

const rowsIn = (rows: Rows): Setting[] => Object.values(rows).flatMap((row) => (isSetting(row) ? [row] : rowsIn(row)))

const ROWS = rowsIn(SETTINGS)

function valuesOf(rows: Rows, read: (row: Setting) => unknown): unknown {
  const values = Object.entries(rows).map(([name, row]) => [name, isSetting(row) ? read(row) : valuesOf(row, read)])
  return Object.fromEntries(values)
}

function settingValue(
  { name, schema, fallback, secret, fix, example }: Setting,
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

function secretText(name: string, env: Environment, readFile: (path: string) => string, problems: Problems) {
  const variable = `${name}_FILE`
  const path = env[variable]?.trim()
  if (!path) return env[name]
  if (env[name]?.trim()) {
    problems.push({ variable, value: `is set together with ${name}`, fix: "set only one of them" })
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

function upstashOf(
  { url, token }: SettingValues["upstash"],
  problems: Problems,
): { url: string; token: string } | undefined {
  if (url !== undefined && token !== undefined) return { url, token }
  const bad = problems.some(({ variable }) => variable.startsWith("UPSTASH_"))
  if (bad || url === token) return undefined
  const [variable, other] = url === undefined ? ["URL", "TOKEN"] : ["TOKEN", "URL"]
  problems.push({
    variable: `UPSTASH_REDIS_REST_${variable}`,
    value: "is missing",
    fix: `set it together with UPSTASH_REDIS_REST_${other}, or remove both`,
  })
  return undefined
}

function oidcOf({ issuer, clientId, ...rest }: SettingValues["oidc"], problems: Problems) {
  if (issuer !== undefined && clientId !== undefined) return { issuer, clientId, ...rest }
  const isBad = problems.some(({ variable }) => variable.startsWith("OIDC_"))
  if (isBad || issuer === clientId) return null
  const [variable, other] = issuer === undefined ? ["ISSUER", "CLIENT_ID"] : ["CLIENT_ID", "ISSUER"]
  const fix = `set it together with OIDC_${other}, or remove both`
  problems.push({ variable: `OIDC_${variable}`, value: "is missing", fix })
  return null
}

/** Ports at which mail servers accept mail from programs: encrypted from the start, and after STARTTLS. */
const SMTP_PORTS: Readonly<Record<string, number>> = { "smtps:": 465, "smtp:": 587 }

function mailOf({ url, from, tls }: SettingValues["mail"], problems: Problems): SmtpServer | null {
  const isBad = problems.some(({ variable }) => /^(SMTP_URL|MAIL_FROM)/.test(variable))
  if (isBad || (url === undefined && from === undefined)) return null
  if (url === undefined || from === undefined) {
    const [variable, other] = url === undefined ? ["SMTP_URL", "MAIL_FROM"] : ["MAIL_FROM", "SMTP_URL"]
    problems.push({ variable, value: "is missing", fix: `set it together with ${other}, or remove both` })
    return null
  }
  const { protocol, hostname, port, username, password } = url
  const isSecure = protocol === "smtps:"
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? SMTP_PORTS[protocol]! : Number(port),
    isSecure,
    needsTls: isSecure || tls === "required" || (tls === "auto" && !isOnThisMachine(hostname)),
    login: username === "" ? null : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
    from,
  }
}

/** Returns the settings of the language model, with defaults that depend on its URL. */
function writerOf({ url, api, model, contextTokens, ...rest }: SettingValues["writer"], problems: Problems) {
  if (url === undefined || problems.some(({ variable }) => variable === "AI_MODEL")) return null
  if (model === undefined) {
    problems.push({ variable: "AI_MODEL", value: "is missing", fix: "set it together with AI_URL, or remove both" })
    return null
  }
  const { hostname } = new URL(url)
  const near = isPrivateHost(hostname)
  return {
    url,
    model,
    api: api ?? WIRE_OF_HOST[hostname] ?? "chat",
    contextTokens: contextTokens ?? (near ? 8_000 : 100_000),
    ...rest,
  }
}

/** Returns the assistants in the order of ASSISTANTS. Omits those that need a key but have none. */
function assistantsOf({ models, keys, addresses, prices, spreadSeconds, ...rest }: SettingValues["assistants"]) {
  const engines = ASSISTANTS.flatMap((assistant) => {
    const [model, url, key] = [models?.get(assistant), addresses?.get(assistant), keys[assistant]]
    const isConfigured = model !== undefined && (key !== undefined || url !== undefined)
    return isConfigured ? [{ assistant, model, url: url ?? null, key, price: prices?.get(assistant) ?? null }] : []
  })
  return { engines, spreadMs: 1_000 * spreadSeconds, ...rest }
}

const WIRE_OF_HOST: Readonly<Record<string, WireName>> = {
  "api.openai.com": "responses",
  "api.anthropic.com": "messages",
}

/** Returns whether the host is a name of this machine or in a private network. */
function isPrivateHost(hostname: string): boolean {
  if (hostname === "localhost" || !/[.:]/.test(hostname) || /\.(?:local|internal|lan)$/.test(hostname)) return true
  return /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd])/.test(hostname)
}

/** Returns the keys, newest first. Null if there is none. Adds a problem if only earlier keys are given. */
function secretKeysOf({ newest, earlier }: SettingValues["secretKeys"], problems: Problems): SecretKeys | null {
  if (newest !== undefined) return earlier === undefined ? null : new SecretKeys([newest, ...earlier])
  if (!earlier?.length || problems.some(({ variable }) => /^SECRET_KEY(_FILE)?$/.test(variable))) return null
  const fix = "set it together with SECRET_KEY_PREVIOUS, or remove both"
  problems.push({ variable: "SECRET_KEY", value: "is missing", fix })
  return null
}

const PREFIX = /^APPMETER_/

/**
 * Returns a sentence for each name in a settings file that is not a setting. Every name in the file is meant as a
 * setting.
 */
export function unknownSettings(names: readonly string[]): string[] {
  const valid = settingNames()
  return names.flatMap((given) => {
    if (valid.includes(given)) return []
    const meant = nearest(given.replace(PREFIX, ""), valid)
    return [`${given} is not a setting${meant ? `; did you mean ${meant}?` : ""}`]
  })
}

function settingNames(): string[] {
  return ROWS.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]))
}

/**
 * Returns a sentence for each variable that resembles a setting. Only longer names are compared, and strictly, because
 * another program's variable must not be reported as a mistake.
 */
function misspellings(env: Environment): string[] {
  const names = settingNames()
  return Object.keys(env).flatMap((given) => {
    if (names.includes(given)) return []
    const bare = given.replace(PREFIX, "")
    const ours = bare !== given
    const meant = ours ? nearest(bare, names) : names.find((name) => isNear(given, name))
    return meant ? [`${given} is not a setting; did you mean ${meant}?`] : []
  })
}

function isNear(given: string, name: string): boolean {
  const allowed = Math.min(2, Math.floor(name.length / 6))
  return name.length >= 7 && Math.abs(given.length - name.length) <= allowed && editDistance(given, name) <= allowed
}
