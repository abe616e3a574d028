import * as v from "valibot"
import { PLANS } from "./access/plans.ts"
import {
  address, days, entries, HOST_NAME, isAddressList, isDatabaseAddress, isGapList, isSecretKey, isSourceList, isUrlList,
  LEVELS, oneOf, pairs, SECRET_KEY_FIX, whole,
} from "./setting-kinds.ts" // biome-ignore format: a list to scan
import { isStorefront } from "./storefronts.ts"

export interface Setting {
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

/** Every setting, in the order in which they are shown. */
export const SETTINGS = {
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
  MEASURE: {
    ...oneOf(["yes", "no"], "yes"),
    meaning: "Whether a server reads the stores itself; appmeter work does it beside servers that do not.",
  },
  MEASURE_AT_ONCE: whole(1, 100, 6, "Readings under way at once in a process."),
  EGRESS: {
    schema: v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/)),
    fallback: "main",
    meaning: "Names the address that this machine reads the stores from; processes of one name share their pace.",
    fix: "1 to 64 letters, digits, dots, dashes or underscores",
    example: "frankfurt-1",
  },
  EGRESS_COUNTRY: {
    schema: v.pipe(v.string(), v.toLowerCase(), v.check(isStorefront)),
    meaning:
      "Country that Google Play is asked for from here. Without it no Play search is read; a page that names another country is no measurement.",
    fix: "a two-letter code of a storefront",
    example: "de",
  },
  SOURCES_OFF: {
    schema: v.pipe(v.string(), v.transform(entries), v.check(isSourceList)),
    fallback: "",
    meaning: "Sources that are never asked, with commas; appmeter sources names them all.",
    fix: "names of sources that are asked, with commas between them",
    example: "apple-store-search,play-suggest",
  },
  UPSTREAM_GAPS_MS: {
    schema: v.pipe(v.string(), v.check(isGapList), v.transform(pairs)),
    fallback: "",
    meaning:
      "Milliseconds between two requests to a host, where the default is not wanted, with commas; developer-sites for all " +
      "sites that app-ads.txt is read from.",
    fix: "hosts of stores or developer-sites, each once with = and 0 to 3600000, with commas between them",
    example: "itunes.apple.com=6000",
  },
  UPSTREAM_URLS: {
    schema: v.pipe(v.string(), v.check(isUrlList), v.transform(pairs)),
    fallback: "",
    meaning: "Addresses to ask in place of hosts, with commas: a proxy, or recorded bodies.",
    fix: "hosts of stores, each once with = and an http or https address without user, query or fragment, with commas between them",
    example: "apps.apple.com=http://127.0.0.1:9000",
  },
  ALLOW_PRIVATE_TARGETS: {
    schema: v.pipe(v.string(), v.transform(entries), v.check(isAddressList)),
    fallback: "",
    meaning: "Addresses and networks, with commas, that may be asked for others although they are not public.",
    fix: "addresses or networks with commas between them",
    example: "10.1.2.0/24",
  },
  DELIVER: {
    ...oneOf(["yes", "no"], "yes"),
    meaning: "Whether a server, or appmeter work, tells alerts on channels and sums up weeks.",
  },
  TELEGRAM_API: {
    ...address(["http:", "https:"], "http://127.0.0.1:8081"),
    meaning: "Telegram's bot API; its own, https://api.telegram.org, when left out.",
  },
  RAW_DIR: {
    schema: v.string(),
    meaning: "Folder of the bodies that stores answered; raw in DATA_DIR when left out.",
    fix: "a folder",
    example: "/var/lib/appmeter-raw",
  },
  RAW_DAYS: whole(0, 3_650, 14, "Days to keep those bodies, compressed; 0 keeps none."),
  RAW_MB: whole(1, 10_000_000, 2_000, "Megabytes that they may take; the oldest go first."),
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
  KEEP_ALERT_DAYS: days(7, 365, "Days to keep alerts, 7 at least, and how they were delivered."),
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
