import * as v from "valibot"
import { parseAddressList } from "../access/addresses.ts"
import { secretKeyOf } from "../access/sealed.ts"
import type { LogLevel } from "../lib/log.ts"
import { CHART_GENRES, isStorefront, type MarketStorefront } from "../lib/storefronts.ts"
import { ASSISTANTS, type Assistant, NAMED_HOSTS, SOURCE_NAMES, type SourceName, UPSTREAMS } from "../lib/upstreams.ts"
import type { EnginePrice } from "../lib/writing/assistant-checks.ts"

export interface Setting {
  /** Name of the environment variable. */
  name: string
  /** Converts the text. `fix` explains an invalid value. */
  schema: v.GenericSchema<string, unknown>
  /** Default if the variable is missing or empty. */
  fallback?: string
  meaning: string
  /** Completes "must be …". */
  fix: string
  example: string
  /** True for a secret, which is never shown. A secret can also be read from the file that NAME_FILE names. */
  secret?: true
}

/** Returns a setting that is a whole number within inclusive bounds. */
export const whole = (name: string, from: number, to: number, fallback: number, meaning: string) => ({
  name,
  schema: v.pipe(
    v.string(),
    v.regex(/^\d{1,13}$/),
    v.transform(Number),
    v.check((amount: number) => amount >= from && amount <= to),
  ),
  fallback: String(fallback),
  meaning,
  fix: `a whole number from ${from} to ${to}`,
  example: String(fallback),
})

/** Returns the schema of a URL with one of these protocols. */
export const address = (protocols: string[], example: string) => ({
  schema: v.pipe(
    v.string(),
    v.check((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol)),
  ),
  fix: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  example,
})

/** Returns the schema of a page's URL, without trailing slashes. */
export const webAddress = (example: string) => {
  const row = address(["http:", "https:"], example)
  return { ...row, schema: v.pipe(row.schema, v.transform(withoutSlashes)) }
}

/** An issuer, exactly as its provider writes it. Plain http would show tokens to everybody on the way. */
export const OIDC_ISSUER = {
  schema: v.pipe(
    v.string(),
    v.check((text) => {
      const url = URL.parse(text)
      if (!url || url.search || url.hash || url.username) return false
      return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname))
    }),
  ),
  fix: "the issuer of the provider's discovery document: https, or http on this machine",
  example: "https://id.example.com/realms/team",
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]

export function isOnThisMachine(hostname: string): boolean {
  return LOOPBACK.includes(hostname)
}

/** A mail server with user and password, which are percent-encoded. */
export const SMTP_URL = {
  schema: v.pipe(
    v.string(),
    v.check((text) => {
      const url = /^smtps?:\/\//.test(text) ? URL.parse(text) : null
      if (!url || url.hostname === "" || url.search || url.hash || !["", "/"].includes(url.pathname)) return false
      return [url.username, url.password].every(isDecodable) && (url.username !== "" || url.password === "")
    }),
    v.transform((text) => new URL(text)),
  ),
  fix:
    "an address that begins with smtps:// or smtp:// and has a host, without path and query; percent-encode special " +
    "characters in its user and password, @ as %40",
  example: "smtps://reports%40example.com:password@mail.example.com:465",
}

/** Returns the schema of one of a few options. */
export const oneOf = <const Options extends readonly string[]>(options: Options, fallback: Options[number]) => ({
  schema: v.picklist(options) as v.GenericSchema<string, Options[number]>,
  fallback,
  fix: `one of ${options.join(", ")}`,
  example: fallback,
})

export const yesOrNo = (name: string, fallback: "yes" | "no", meaning: string) => {
  const row = oneOf(["yes", "no"], fallback)
  return {
    ...row,
    name,
    schema: v.pipe(
      row.schema,
      v.transform((word) => word === "yes"),
    ),
    meaning,
  }
}

/** Returns a setting that is a list of addresses and networks. */
export const networks = (name: string, example: string, meaning: string) => ({
  name,
  schema: v.pipe(v.string(), v.transform(entries), v.check(isAddressList)),
  fallback: "",
  meaning,
  fix: "addresses or networks, separated by commas",
  example,
})

/** Returns a setting that is 0 or at least `least` days. */
export const days = (name: string, least: number, fallback: number, meaning: string) => ({
  name,
  schema: v.pipe(
    v.string(),
    v.regex(/^\d{1,5}$/),
    v.transform(Number),
    v.check((amount: number) => amount === 0 || (amount >= least && amount <= 36_500)),
  ),
  fallback: String(fallback),
  meaning: `${meaning} 0 keeps them forever.`,
  fix: `0 or a whole number of days from ${least} to 36500`,
  example: "400",
})

/** Completes "must be …". The command is available in every shell. */
export const SECRET_KEY_FIX = "32 random bytes as base64 or hex; create them with: head -c 32 /dev/urandom | base64"

export const HOST_NAME = v.pipe(v.string(), v.regex(/^[0-9A-Za-z.:_-]{1,253}$/))

export const SHORT_NAME = {
  schema: v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/)),
  fix: "1 to 64 letters, digits, dots, dashes or underscores",
}

export const LEVELS = ["debug", "info", "warn", "error"] as const satisfies LogLevel[]

/**
 * Returns whether the driver accepts the address. The driver decodes user, password and hosts; an address with several
 * hosts is not a valid URL.
 */
export function isDatabaseAddress(text: string): boolean {
  const [, scheme, login = "", hosts = "", rest = ""] =
    /^(postgres(?:ql)?:\/\/)([^/?#@]*@)?([^/?#@]+)([/?].*)?$/s.exec(text) ?? []
  return hosts.split(",").every((host) => {
    const url = `${scheme}${login}${host}${rest}`
    if (!URL.canParse(url)) return false
    const { hostname, username, password } = new URL(url)
    return hostname !== "" && [host, username, password].every(isDecodable)
  })
}

/** Splits at commas. */
export function entries(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
}

/** Parses milliseconds per host: "a=1,b=2". */
export function msByHost(text: string): Map<string, number> {
  return new Map([...pairs(text)].map(([host, ms]) => [host, Number(ms)]))
}

/** Parses URLs per host, without trailing slashes. */
export function urlByHost(text: string): Map<string, string> {
  return new Map([...pairs(text)].map(([host, url]) => [host, withoutSlashes(url)]))
}

function withoutSlashes(url: string): string {
  return url.replace(/\/+$/, "")
}

function pairs(text: string): Map<string, string> {
  return new Map(
    entries(text).map((entry) => {
      const at = entry.indexOf("=")
      return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()]
    }),
  )
}

/** Returns whether the text assigns milliseconds to hosts, or to lanes that several hosts share. */
export function isGapList(text: string): boolean {
  return isListByHost(text, UPSTREAMS, (value) => /^\d{1,7}$/.test(value) && Number(value) <= 3_600_000)
}

/**
 * Returns whether the text assigns URLs to hosts. Paths are appended to these URLs unchanged, and the resulting URLs
 * are stored with the readings.
 */
export function isUrlList(text: string): boolean {
  return isListByHost(
    text,
    NAMED_HOSTS,
    (value) => /^https?:/.test(value) && !/[?#@]/.test(value) && URL.canParse(value),
  )
}

function isListByHost(text: string, hosts: readonly string[], isValue: (value: string) => boolean): boolean {
  const list = entries(text)
  const values = pairs(text)
  return (
    list.every((entry) => entry.includes("=")) &&
    values.size === list.length &&
    [...values].every(([host, value]) => hosts.includes(host) && isValue(value))
  )
}

/** Returns storefronts, each with its genres or, if none is named, with all: "us,jp:6014+6015". */
export function marketOf(text: string): MarketStorefront[] {
  return entries(text.toLowerCase()).map((entry) => {
    const [storefront = "", genres] = entry.split(/\s*:\s*/)
    return { storefront, genres: genres === undefined ? CHART_GENRES : genres.split(/\s*\+\s*/) }
  })
}

/** Returns whether each storefront, and each of its genres, is valid and occurs once. */
export function isMarket(text: string): boolean {
  const market = marketOf(text)
  return (
    isEachOnce(market.map(({ storefront }) => storefront)) &&
    entries(text).every((entry) => entry.split(":").length <= 2) &&
    market.every(
      ({ storefront, genres }) => isStorefront(storefront, "ios") && isEachOnce(genres) && genres.every(hasCharts),
    )
  )
}

const isEachOnce = (names: readonly string[]) => new Set(names).size === names.length

const hasCharts = (genre: string) => CHART_GENRES.includes(genre)

/** Returns whether the origins have the form that browsers send, so that they compare as text. "null" is refused. */
export function isOriginList(list: string[]): boolean {
  return list.every((origin) => {
    if (origin.includes("*")) return origin === "*"
    if (/^https?:/.test(origin)) return URL.canParse(origin) && new URL(origin).origin === origin
    return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:\d{1,5})?$/.test(origin)
  })
}

/** Returns whether all names are sources that read from upstreams. Imports cannot be switched off with this setting. */
export function isSourceList(list: string[]): boolean {
  return list.every((name) => SOURCE_NAMES.includes(name as SourceName) && !IMPORTED.includes(name))
}

const IMPORTED: string[] = ["import", "foreign", "apple-ads-report"] satisfies SourceName[]

function isAddressList(list: string[]): boolean {
  try {
    parseAddressList(list)
    return true
  } catch {
    return false
  }
}

/** Parses "0.1,0.5": prices of a million input and output tokens. */
export function pricesOf(text: string): { input: number; output: number } {
  const [input, output] = text.split(",").map(Number) as [number, number]
  return { input, output }
}

/** Returns the setting of the API key for an assistant. */
export const assistantKey = (name: string, maker: string) => ({
  name,
  schema: v.pipe(v.string(), v.regex(/^[!-~]{1,1000}$/)),
  meaning: `API key for ${maker}.`,
  fix: "a key without white space",
  example: "sk-…",
  secret: true as const,
})

/** Returns whether the text assigns models to assistants. */
export function isModelList(text: string): boolean {
  return isListByHost(text, ASSISTANTS, (model) => /^[\w.:/@+-]{1,200}$/.test(model))
}

export function byAssistant(text: string): Map<Assistant, string> {
  return pairs(text) as Map<Assistant, string>
}

/** Returns whether the text assigns URLs to assistants. Paths are appended to these URLs unchanged. */
export function isAssistantUrlList(text: string): boolean {
  return isListByHost(
    text,
    ASSISTANTS,
    (value) => /^https?:/.test(value) && !/[?#@]/.test(value) && URL.canParse(value),
  )
}

export function isEnginePriceList(text: string): boolean {
  return isListByHost(text, ASSISTANTS, (value) => /^\d{1,6}(\.\d{1,6})?(\/\d{1,6}(\.\d{1,6})?){2}$/.test(value))
}

export function enginePrices(text: string): Map<string, EnginePrice> {
  return new Map(
    [...pairs(text)].map(([assistant, prices]) => {
      const [input, output, searches] = prices.split("/").map(Number) as [number, number, number]
      return [assistant, { input, output, searches }]
    }),
  )
}

/** Returns whether the text is 32 bytes in base64 or hex. */
export function isSecretKey(text: string): boolean {
  return secretKeyOf(text) !== null
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
