import { describe, expect, test } from "bun:test"
import { SecretKeys } from "../../src/access/sealed.ts"
import { CHART_GENRES } from "../../src/lib/storefronts.ts"
import { SETTING_GROUPS } from "../../src/settings/groups.ts"
import { type Rows, SETTINGS } from "../../src/settings/rows.ts"
import { listeningUrl, readSettings, SettingsProblems, settingsTable } from "../../src/settings/settings.ts"

const files: Record<string, string> = {
  "/run/database": "postgres://user:canary@host/name\n",
  "/run/empty": " \n",
}
const readFile = (path: string) => {
  const text = files[path]
  if (text === undefined) throw new Error(`ENOENT ${path}`)
  return text
}

const read = (env: Record<string, string> = {}) => readSettings(env, readFile)

function problems(env: Record<string, string>) {
  try {
    read(env)
  } catch (error) {
    if (error instanceof SettingsProblems) return error
  }
  throw new Error("the settings were taken")
}

describe("defaults", () => {
  test("without environment variables, settings have their documented defaults", () => {
    const settings = read()
    expect(settings).toMatchObject({
      host: "127.0.0.1",
      port: 8787,
      dataDir: ".appmeter",
      logLevel: "info",
      logFormat: "auto",
      trustedProxies: [],
      warnings: [],
      requestDeadlineMs: 4_500,
      maxWaiting: 500,
      sandboxPerSecond: 50,
      drainMs: 100,
    })
    expect([settings.databaseUrl, settings.redisUrl, settings.upstash, settings.publicUrl]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test("the first workspace has limits that are too high to reach", () => {
    const { plan, explorer, overrides } = read().firstWorkspace
    expect([plan, explorer]).toEqual(["enterprise", true])
    expect(overrides.credits).toBeGreaterThanOrEqual(10_000_000)
  })

  test("an empty variable counts as missing", () => {
    expect(read({ PORT: "", HOST: " ", DATABASE_URL: "" })).toEqual(read())
  })
})

test("each setting is parsed to its type", () => {
  const settings = read({
    HOST: "::",
    PORT: "0",
    PUBLIC_URL: "https://ranks.example.com/base//",
    DATA_DIR: "/data",
    DATABASE_URL: "postgresql://db/x",
    REDIS_URL: "rediss://cache:6380",
    UPSTASH_REDIS_REST_URL: "https://u.example",
    UPSTASH_REDIS_REST_TOKEN: "abc",
    TRUSTED_PROXIES: "10.0.0.0/8, ::1 ,",
    LOG_LEVEL: "debug",
    FIRST_WORKSPACE_PLAN: "free",
    FIRST_WORKSPACE_EXPLORER: "no",
    FIRST_WORKSPACE_CREDITS: "0",
    DRAIN_MS: "250",
  })
  expect(settings).toMatchObject({
    host: "::",
    port: 0,
    publicUrl: "https://ranks.example.com/base",
    dataDir: "/data",
    databaseUrl: "postgresql://db/x",
    redisUrl: "rediss://cache:6380",
    upstash: { url: "https://u.example", token: "abc" },
    trustedProxies: ["10.0.0.0/8", "::1"],
    logLevel: "debug",
    firstWorkspace: { plan: "free", explorer: false, overrides: { credits: 0 } },
    drainMs: 250,
  })
})

describe("invalid settings", () => {
  test("all invalid settings are reported together, each with a fix and an example", () => {
    const { problems: found, message } = problems({
      HOST: "http://x",
      PORT: "http",
      PUBLIC_URL: "ranks.example.com",
      DATABASE_URL: "mysql://user:canary@host",
      REDIS_URL: "canary",
      UPSTASH_REDIS_REST_URL: "https://u.example",
      TRUSTED_PROXIES: "10.0.0.0/33",
      LOG_LEVEL: "loud",
      FIRST_WORKSPACE_PLAN: "gold",
      REQUEST_DEADLINE_MS: "1",
      MAX_WAITING: "-5",
      FIRST_WORKSPACE_CREDITS: "1e3",
      REDIS_PREFIX: "a b",
    })
    expect(found.map(({ variable }) => variable)).toEqual([
      "HOST",
      "PORT",
      "PUBLIC_URL",
      "DATABASE_URL",
      "REDIS_URL",
      "REDIS_PREFIX",
      "TRUSTED_PROXIES",
      "LOG_LEVEL",
      "FIRST_WORKSPACE_PLAN",
      "FIRST_WORKSPACE_CREDITS",
      "REQUEST_DEADLINE_MS",
      "MAX_WAITING",
      "UPSTASH_REDIS_REST_TOKEN",
    ])
    for (const { variable, fix } of found.slice(0, -1)) expect(fix).toContain(`for example ${variable}=`)
    expect(message).toContain('PORT is "http": must be a whole number from 0 to 65535, for example PORT=8787')
  })

  test("invalid settings are reported without secrets, and long values are shortened", () => {
    const { message } = problems({
      DATABASE_URL: "mysql://user:canary@host",
      REDIS_URL: "canary",
      UPSTASH_REDIS_REST_TOKEN: "canary with space",
      PUBLIC_URL: `svc_live_${"canary".repeat(6)}`,
      HOST: "/".repeat(5_000),
    })
    expect(message).not.toContain("canary")
    expect(message).toContain("DATABASE_URL (hidden)")
    expect(message.length).toBeLessThan(2_000)
  })

  test.each([
    ["a raw % in the password", "postgres://user:canary%@host/name"],
    ["a raw % in the user", "postgres://canary%zz@host/name"],
    ["a raw @ in the password", "postgres://user:ca@nary@one,two/name"],
    ["no host", "postgres:///name"],
    ["a user without a host", "postgres://user:canary@/name"],
    ["an empty one of several hosts", "postgres://one,,two/name"],
    ["a port that is none", "postgres://one:5432,two:port/name"],
  ])("a database URL with %s is refused with a hint to percent-encode", (_, text) => {
    const { problems: found, message } = problems({ DATABASE_URL: text })
    expect(found.map(({ variable }) => variable)).toEqual(["DATABASE_URL"])
    expect(message).toContain("percent-encode")
    expect(message).not.toContain("canary")
  })

  test.each([
    "postgres://user:a%25b%40c@host/name?sslmode=require",
    "postgres://one:5432,two:5433/name",
    "postgresql://user:word@one,two/name",
    "postgres://[::1]:5432/name",
    "postgres://host",
  ])("%s is a valid database URL", (text) => expect(read({ DATABASE_URL: text }).databaseUrl).toBe(text))

  test("an Upstash URL without a token is refused, and so is a token without a URL", () => {
    expect(problems({ UPSTASH_REDIS_REST_URL: "https://u.example" }).message).toStartWith(
      "UPSTASH_REDIS_REST_TOKEN is missing",
    )
    expect(problems({ UPSTASH_REDIS_REST_TOKEN: "abc" }).message).toStartWith("UPSTASH_REDIS_REST_URL is missing")
    expect(problems({ UPSTASH_REDIS_REST_TOKEN: "abc", UPSTASH_REDIS_REST_URL: "x" }).problems).toHaveLength(1)
  })
})

describe("metrics settings", () => {
  test("metrics are off by default; METRICS_PORT turns them on, on the API's host by default", () => {
    expect([read().metricsListen, read().metricsToken]).toEqual([null, undefined])
    expect(read({ METRICS_PORT: "9187", HOST: "::1" }).metricsListen).toEqual({ host: "::1", port: 9187 })
    const env = { METRICS_PORT: "0", METRICS_HOST: "10.0.0.1", METRICS_TOKEN: "0123456789abcdef" }
    expect(read(env)).toMatchObject({
      metricsListen: { host: "10.0.0.1", port: 0 },
      metricsToken: env.METRICS_TOKEN,
    })
  })

  test("a guessable metrics token is refused without showing it", () => {
    const { message } = problems({ METRICS_TOKEN: "canary", METRICS_PORT: "70000" })
    expect(message).toContain("METRICS_TOKEN (hidden): must be 16 characters or more")
    expect(message).toContain('METRICS_PORT is "70000"')
    expect(message).not.toContain("canary")
  })
})

describe("retention settings", () => {
  test("each kind of data has its own retention, 0 means forever, and audit rows stay at least a year", () => {
    expect(read().kept).toEqual({ ledgerDays: 400, attemptDays: 90, jobDays: 90, auditDays: 0, alertDays: 365 })
    const least = { KEEP_LEDGER_DAYS: "0", KEEP_ATTEMPT_DAYS: "1", KEEP_JOB_DAYS: "7", KEEP_AUDIT_DAYS: "365" }
    const env = { ...least, KEEP_ALERT_DAYS: "7" }
    expect(read(env).kept).toEqual({ ledgerDays: 0, attemptDays: 1, jobDays: 7, auditDays: 365, alertDays: 7 })
    const wrong = { KEEP_AUDIT_DAYS: "364", KEEP_JOB_DAYS: "-1", KEEP_LEDGER_DAYS: "1.5", KEEP_ALERT_DAYS: "6" }
    expect(problems(wrong).problems).toHaveLength(4)
    expect(read({ KEEP_ALERT_DAYS: "0" }).kept.alertDays).toBe(0)
  })
})

describe("the secret key", () => {
  const key = (fill: number) => Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 7 + fill) % 256))

  test("the secret key is 32 bytes in base64 or hex, from the variable or a file, with optional earlier keys", () => {
    expect(read().secretKeys).toBeNull()
    expect(read({ SECRET_KEY: key(1).toString("hex") }).secretKeys).not.toBeNull()
    const earlier = `${key(2).toString("base64")}, ${key(3).toString("hex")}`
    const settings = readSettings(
      { SECRET_KEY_FILE: "/key", SECRET_KEY_PREVIOUS: earlier },
      () => `${key(1).toString("base64")}\n`,
    )
    expect(SecretKeys.read(settings.secretKeys!)).toEqual([1, 2, 3].map((fill) => new Uint8Array(key(fill))))
    expect(JSON.stringify(settings)).not.toContain(key(1).toString("base64").slice(0, 20))
  })

  test("an invalid secret key is refused with a command that creates a valid one", () => {
    const { problems: found, message } = problems({ SECRET_KEY: "canary", SECRET_KEY_PREVIOUS: "canary" })
    expect(found.map(({ variable }) => variable)).toEqual(["SECRET_KEY", "SECRET_KEY_PREVIOUS"])
    expect(message).not.toContain("canary")
    const command = /create them with: ([^,]+),/.exec(message)![1]!
    const { stdout } = Bun.spawnSync(["sh", "-c", command])
    expect(read({ SECRET_KEY: stdout.toString() }).secretKeys).not.toBeNull()
  })

  test("an earlier secret key without a current one is refused", () => {
    expect(problems({ SECRET_KEY_PREVIOUS: key(1).toString("hex") }).message).toStartWith("SECRET_KEY is missing")
    expect(
      problems({ SECRET_KEY_PREVIOUS: key(1).toString("hex"), SECRET_KEY_FILE: "/run/none" }).problems,
    ).toHaveLength(1)
  })
})

describe("a secret in a file", () => {
  test("a secret in a file is read without its final newline", () => {
    expect(read({ DATABASE_URL_FILE: "/run/database" }).databaseUrl).toBe("postgres://user:canary@host/name")
  })

  test("a secret both in a file and in the variable is refused", () => {
    const { message } = problems({ DATABASE_URL_FILE: "/run/database", DATABASE_URL: "postgres://host/name" })
    expect(message).toContain("DATABASE_URL_FILE is set together with DATABASE_URL: set only one of them")
  })

  test("the error for a missing or empty secret file names the file", () => {
    expect(problems({ REDIS_URL_FILE: "/run/none" }).message).toStartWith(
      'REDIS_URL_FILE is "/run/none": must name a readable',
    )
    expect(problems({ REDIS_URL_FILE: "/run/empty" }).message).toContain("the file is empty")
  })
})

describe("misspelt settings", () => {
  test.each([
    ["DATABSE_URL", "DATABASE_URL"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["DATABASE_URL_FLIE", "DATABASE_URL_FILE"],
    ["APPMETER_PORT", "PORT"],
    ["APPMETER_PROT", "PORT"],
    ["UPSTASH_REDIS_REST_TOKN", "UPSTASH_REDIS_REST_TOKEN"],
    ["LOG_LEVLE", "LOG_LEVEL"],
    ["MEASUR", "MEASURE"],
  ])("%s causes a warning that suggests %s", (misspelled, suggestion) => {
    expect(read({ [misspelled]: "canary" }).warnings).toEqual([
      `${misspelled} is not a setting; did you mean ${suggestion}?`,
    ])
  })

  test("a variable of another program causes no warning", () => {
    const foreign = [
      "HOME",
      "PATH",
      "HOSTNAME",
      "PORTS",
      "PGHOST",
      "PGPORT",
      "POST",
      "REDIS_HOST",
      "REDIS_PORT",
      "REDIS_TLS_URL",
      "BASE_URL",
      "XDG_DATA_DIRS",
      "DATABASE_HOST",
      "NODE_ENV",
      "TERM",
      "APPMETER_SERVICE_PORT_8787_TCP",
      "LOGNAME",
    ]
    expect(read(Object.fromEntries(foreign.map((name) => [name, "x"]))).warnings).toEqual([])
  })
})

describe("measuring settings", () => {
  test("by default this process reads the stores at the default pace, through the main egress", () => {
    expect(read().measuring).toEqual({
      on: true,
      atOnce: 6,
      egress: "main",
      egressCountry: undefined,
      sourcesOff: [],
      gapsMs: new Map(),
      addresses: new Map(),
      raw: { folder: ".appmeter/raw", days: 14, accountDays: 400, megabytes: 2_000 },
    })
  })

  test("each measuring setting is applied", () => {
    const { measuring } = read({
      MEASURE: "no",
      MEASURE_AT_ONCE: "2",
      EGRESS: "fra-1",
      EGRESS_COUNTRY: "DE",
      SOURCES_OFF: "play-suggest, apple-store-search",
      UPSTREAM_GAPS_MS: "itunes.apple.com=6000,developer-sites=0",
      UPSTREAM_URLS: "apps.apple.com=http://127.0.0.1:9000/a/",
      RAW_DIR: "/raw",
      RAW_DAYS: "0",
      RAW_ACCOUNT_DAYS: "30",
      RAW_MB: "1",
    })
    expect(measuring).toEqual({
      on: false,
      atOnce: 2,
      egress: "fra-1",
      egressCountry: "de",
      sourcesOff: ["play-suggest", "apple-store-search"],
      gapsMs: new Map([
        ["itunes.apple.com", 6_000],
        ["developer-sites", 0],
      ]),
      addresses: new Map([["apps.apple.com", "http://127.0.0.1:9000/a"]]),
      raw: { folder: "/raw", days: 0, accountDays: 30, megabytes: 1 },
    })
  })

  test.each([
    ["EGRESS_COUNTRY", "germany"],
    ["EGRESS_COUNTRY", "zz"],
    ["EGRESS", "two words"],
    ["SOURCES_OFF", "apple"],
    ["SOURCES_OFF", "import"],
    ["UPSTREAM_GAPS_MS", "apple.com=1"],
    ["UPSTREAM_GAPS_MS", "itunes.apple.com"],
    ["UPSTREAM_GAPS_MS", "itunes.apple.com=fast"],
    ["UPSTREAM_URLS", "itunes.apple.com=ftp://x"],
    ["UPSTREAM_GAPS_MS", "here=1"],
    ["UPSTREAM_URLS", "developer-sites=http://x"],
    ["UPSTREAM_URLS", "=http://x"],
    ["UPSTREAM_URLS", "apps.apple.com=http://x/?to="],
    ["UPSTREAM_URLS", "apps.apple.com=http://x/#y"],
    ["UPSTREAM_URLS", "apps.apple.com=http://me:secret@x"],
    ["UPSTREAM_URLS", "apps.apple.com=http://x,apps.apple.com=http://y"],
    ["UPSTREAM_GAPS_MS", "itunes.apple.com=1,itunes.apple.com=2"],
    ["RAW_MB", "0"],
  ])("%s=%s is refused by name", (variable, value) => {
    expect(problems({ [variable]: value }).problems.map((problem) => problem.variable)).toEqual([variable])
  })
})

describe("market settings", () => {
  test("no market is followed by default; a storefront can be followed entirely or in some genres", () => {
    expect(read().market).toEqual([])
    expect(read({ MARKET: " US, gb ,jp: 6014 + 6015," }).market).toEqual([
      { storefront: "us", genres: CHART_GENRES },
      { storefront: "gb", genres: CHART_GENRES },
      { storefront: "jp", genres: ["6014", "6015"] },
    ])
  })

  test.each([
    "usa",
    "us,us",
    "us;gb",
    "us gb",
    "us:",
    "us:+",
    "us:6015+6015",
    "us:7001",
    "us:games",
    "us:6015:6014",
    ":6015",
    "us,zz",
  ])("the market %p is refused with the expected format", (value) => {
    const { problems: found } = problems({ MARKET: value })
    expect(found.map(({ variable }) => variable)).toEqual(["MARKET"])
    expect(found[0]!.fix).toContain("for example MARKET=us,gb,jp:6014+6015")
  })
})

describe("private targets", () => {
  test("only the listed private targets are allowed: addresses and networks of IPv4 and IPv6", () => {
    expect(read().allowPrivateTargets).toEqual([])
    const { allowPrivateTargets } = read({ ALLOW_PRIVATE_TARGETS: "10.1.2.0/24, 192.168.7.9 ,fd00::/8," })
    expect(allowPrivateTargets).toEqual(["10.1.2.0/24", "192.168.7.9", "fd00::/8"])
  })

  test.each(["intranet", "10.0.0.0/33", "10.0.0.1:80", "fe80::1%eth0", "*"])(
    "the private target %p is refused, and the error names the setting",
    (value) => {
      const { problems: found } = problems({ ALLOW_PRIVATE_TARGETS: value })
      expect(found.map(({ variable }) => variable)).toEqual(["ALLOW_PRIVATE_TARGETS"])
    },
  )
})

test("the settings table has every setting once, below its group, with its default and meaning", () => {
  const groups = settingsTable().split("\n\n")
  expect(groups.map((group) => group.split("\n")[0])).toEqual(SETTING_GROUPS.map(({ title }) => title))
  const lines = groups.flatMap((group) => group.split("\n").slice(1))
  const names = lines.map((line) => line.split(" ")[0])
  expect(names.sort()).toEqual(settingNames())
  expect(lines.find((line) => line.startsWith("PORT "))).toMatch(/^PORT +8787 +Port to listen on/)
  expect(lines.find((line) => line.startsWith("REDIS_URL "))).toContain("REDIS_URL_FILE can name a file")
  expect(lines.every((line) => /^[A-Z_]+ .*\.$/.test(line))).toBeTrue()
})

test("a client on the same machine can reach the URL of a listener", () => {
  expect(listeningUrl("127.0.0.1", 8787)).toBe("http://127.0.0.1:8787")
  expect(listeningUrl("0.0.0.0", 80)).toBe("http://127.0.0.1:80")
  expect(listeningUrl("::", 1)).toBe("http://[::1]:1")
  expect(listeningUrl("fe80::1", 1)).toBe("http://[fe80::1]:1")
})

/** Returns the names of all settings, from the rows themselves, so that the test finds a setting without a group. */
function settingNames(): string[] {
  const namesIn = (rows: Rows): string[] =>
    Object.values(rows).flatMap((row) => ("schema" in row ? [row.name as string] : namesIn(row as Rows)))
  return namesIn(SETTINGS).sort()
}
