import * as v from "valibot"
import { PLANS } from "../access/plans.ts"
import { isStorefront } from "../lib/storefronts.ts"
import { WIRE_NAMES } from "../lib/writing/written-text.ts"
import { type Mailbox, mailboxOf } from "../outbound/mail/address.ts"
import {
  address,
  assistantKey,
  byAssistant,
  days,
  enginePrices,
  entries,
  HOST_NAME,
  isAssistantUrlList,
  isDatabaseAddress,
  isEnginePriceList,
  isGapList,
  isMarket,
  isModelList,
  isOriginList,
  isSecretKey,
  isSourceList,
  isUrlList,
  LEVELS,
  marketOf,
  msByHost,
  networks,
  OIDC_ISSUER,
  oneOf,
  pricesOf,
  SECRET_KEY_FIX,
  type Setting,
  SHORT_NAME,
  SMTP_URL,
  urlByHost,
  webAddress,
  whole,
  yesOrNo,
} from "./kinds.ts"

export interface Rows {
  [name: string]: Setting | Rows
}

/** Every setting in display order. Its key path here is its name in the program. */
export const SETTINGS = {
  host: {
    name: "HOST",
    schema: HOST_NAME,
    fallback: "127.0.0.1",
    meaning: "Address to listen on. 0.0.0.0 means every IPv4 address of the machine.",
    fix: "an address or host name without a port",
    example: "0.0.0.0",
  },
  port: whole("PORT", 0, 65_535, 8787, "Port to listen on. 0 picks a free port."),
  publicUrl: {
    name: "PUBLIC_URL",
    ...webAddress("https://ranks.example.com"),
    meaning: "Address where callers reach this instance; links begin with it. Default: http://HOST:PORT.",
  },
  dataDir: {
    name: "DATA_DIR",
    schema: v.string(),
    fallback: ".appmeter",
    meaning: "Folder of the embedded database, used if DATABASE_URL is not set.",
    fix: "a folder",
    example: "/var/lib/appmeter",
  },
  backupDir: {
    name: "BACKUP_DIR",
    schema: v.string(),
    meaning: "Folder in which a server writes a backup each night; the newest seven are kept. Default: no backups.",
    fix: "a folder",
    example: "/var/backups/appmeter",
  },
  databaseUrl: {
    name: "DATABASE_URL",
    schema: v.pipe(v.string(), v.check(isDatabaseAddress)),
    fix:
      "an address that begins with postgres:// or postgresql:// and names a host (several with commas between them); " +
      "percent-encode special characters in its user and password, % as %25",
    example: "postgres://user:password@db.example.com:5432/appmeter",
    meaning: "PostgreSQL 15 or newer, instead of the embedded database.",
    secret: true,
  },
  databaseConnections: whole("DATABASE_CONNECTIONS", 1, 1_000, 10, "Maximum database connections of a process."),
  redisUrl: {
    name: "REDIS_URL",
    ...address(["redis:", "rediss:"], "redis://:password@cache.example.com:6379"),
    meaning: "Redis that counts calls per second and Hive calls per day across processes.",
    secret: true,
  },
  upstash: {
    url: {
      name: "UPSTASH_REDIS_REST_URL",
      ...address(["http:", "https:"], "https://example.upstash.io"),
      meaning: "Redis over Upstash's REST interface. Takes precedence over REDIS_URL.",
    },
    token: {
      name: "UPSTASH_REDIS_REST_TOKEN",
      schema: v.pipe(v.string(), v.regex(/^\S+$/)),
      meaning: "Token for UPSTASH_REDIS_REST_URL.",
      fix: "a token without white space",
      example: "AX0aASQgN2Y…",
      secret: true,
    },
  },
  redisPrefix: {
    name: "REDIS_PREFIX",
    ...SHORT_NAME,
    fallback: "appmeter",
    meaning: "Prefix of every Redis key. Instances that share a Redis but not a database need different prefixes.",
    example: "appmeter-eu",
  },
  trustedProxies: networks(
    "TRUSTED_PROXIES",
    "10.0.0.0/8,192.0.2.7",
    "Proxies whose X-Forwarded-For is trusted: addresses and networks, separated by commas.",
  ),
  authProxyHeader: {
    name: "AUTH_PROXY_HEADER",
    schema: v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z-]{1,63}$/)),
    meaning:
      "Header in which a proxy of TRUSTED_PROXIES names the person at the browser. It signs in existing people, on " +
      "pages only.",
    fix: "the name of a header",
    example: "Remote-User",
  },
  oidc: {
    issuer: {
      name: "OIDC_ISSUER",
      ...OIDC_ISSUER,
      meaning: "Issuer of an OpenID provider that signs people in: https, or http on this machine.",
    },
    clientId: {
      name: "OIDC_CLIENT_ID",
      schema: v.string(),
      meaning: "Id under which the provider knows this instance.",
      fix: "the id of the client",
      example: "appmeter",
    },
    clientSecret: {
      name: "OIDC_CLIENT_SECRET",
      schema: v.string(),
      meaning: "Secret of that client. Leave it out for a public client.",
      fix: "the secret of the client",
      example: "s3cr3t…",
      secret: true,
    },
    name: {
      name: "OIDC_NAME",
      schema: v.pipe(v.string(), v.maxLength(40)),
      fallback: "single sign-on",
      meaning: "Name of the provider on the button.",
      fix: "a name of at most 40 characters",
      example: "Keycloak",
    },
  },
  sessionDays: whole("SESSION_DAYS", 1, 400, 30, "How many days a person stays signed in without opening a page."),
  corsOrigins: {
    name: "CORS_ORIGINS",
    schema: v.pipe(v.string(), v.transform(entries), v.check(isOriginList)),
    fallback: "",
    meaning: "Origins whose pages may call with a key, separated by commas. * allows all. Default: none.",
    fix: "origins as a browser sends them (scheme and host without a path), separated by commas, or *",
    example: "https://dashboard.example.com",
  },
  logLevel: { name: "LOG_LEVEL", ...oneOf(LEVELS, "info"), meaning: "Minimum level of log lines on stderr." },
  logFormat: {
    name: "LOG_FORMAT",
    ...oneOf(["auto", "json", "lines"], "auto"),
    meaning: "Format of log lines: json, or lines for people. auto chooses lines on a terminal, otherwise json.",
  },
  firstWorkspace: {
    plan: {
      name: "FIRST_WORKSPACE_PLAN",
      ...oneOf(PLANS, "enterprise"),
      meaning: "Plan of the workspace that the first start creates. All FIRST_WORKSPACE settings apply only then.",
    },
    explorer: yesOrNo("FIRST_WORKSPACE_EXPLORER", "yes", "Whether the first workspace can call Hive endpoints."),
    overrides: {
      credits: whole("FIRST_WORKSPACE_CREDITS", 0, 1e12, 10_000_000, "Credits per month of the first workspace."),
      ratePerSecond: whole(
        "FIRST_WORKSPACE_RATE_PER_SECOND",
        1,
        1e6,
        100,
        "Calls per second of each key of the first workspace.",
      ),
      liveKeys: whole("FIRST_WORKSPACE_LIVE_KEYS", 1, 1e6, 1_000, "Maximum live keys of the first workspace."),
      apps: whole("FIRST_WORKSPACE_APPS", 0, 1e6, 10_000, "Maximum tracked apps of the first workspace."),
      trackedKeywords: whole(
        "FIRST_WORKSPACE_KEYWORDS",
        0,
        1e9,
        1_000_000,
        "Maximum tracked keywords of the first workspace.",
      ),
    },
  },
  sandboxPerSecond: whole(
    "SANDBOX_PER_SECOND",
    1,
    1e6,
    50,
    "Sandbox calls per second from one address. The same limit applies to documents.",
  ),
  requestDeadlineMs: whole(
    "REQUEST_DEADLINE_MS",
    100,
    25_000,
    4_500,
    "Maximum duration of a call in milliseconds. After that it is answered with 503.",
  ),
  maxWaiting: whole(
    "MAX_WAITING",
    1,
    1e6,
    500,
    "Maximum calls that wait for the database; half as many per workspace. Further calls are answered with 503.",
  ),
  measuring: {
    on: yesOrNo("MEASURE", "yes", "Whether a server reads the stores itself. If not, run appmeter work beside it."),
    atOnce: whole("MEASURE_AT_ONCE", 1, 100, 6, "Maximum concurrent readings of a process."),
    egress: {
      name: "EGRESS",
      ...SHORT_NAME,
      fallback: "main",
      meaning: "Name of the outgoing address of this machine. Processes with the same name share the request rate.",
      example: "frankfurt-1",
    },
    egressCountry: {
      name: "EGRESS_COUNTRY",
      schema: v.pipe(v.string(), v.toLowerCase(), v.check(isStorefront)),
      meaning:
        "Country that Google Play is read for. Without it no Play search is read. " +
        "Pages of other countries are discarded.",
      fix: "a two-letter code of a storefront",
      example: "de",
    },
    sourcesOff: {
      name: "SOURCES_OFF",
      schema: v.pipe(v.string(), v.transform(entries), v.check(isSourceList)),
      fallback: "",
      meaning: "Sources that are never read, separated by commas. The command appmeter sources lists their names.",
      fix: "names of sources that can be read, separated by commas",
      example: "apple-store-search,play-suggest",
    },
    gapsMs: {
      name: "UPSTREAM_GAPS_MS",
      schema: v.pipe(v.string(), v.check(isGapList), v.transform(msByHost)),
      fallback: "",
      meaning:
        "Minimum milliseconds between requests to a host. developer-sites is for app-ads.txt, " +
        "store-pictures for screenshots.",
      fix:
        "HOST=MILLISECONDS, separated by commas, with each host of a store, " +
        "developer-sites or store-pictures at most once and 0 to 3600000",
      example: "itunes.apple.com=6000",
    },
    addresses: {
      name: "UPSTREAM_URLS",
      schema: v.pipe(v.string(), v.check(isUrlList), v.transform(urlByHost)),
      fallback: "",
      meaning: "Replacement addresses for hosts, such as a proxy or recorded responses.",
      fix:
        "HOST=ADDRESS, separated by commas, with each host of a store or api.appstoreconnect.apple.com at most once " +
        "and an http or https address without user, query or fragment",
      example: "apps.apple.com=http://127.0.0.1:9000",
    },
  },
  market: {
    name: "MARKET",
    schema: v.pipe(v.string(), v.check(isMarket), v.transform(marketOf)),
    fallback: "",
    meaning:
      "Storefronts whose charts and charted apps are read daily, separated by commas; jp:6014+6015 selects genres. " +
      "All processes that use the same database need the same value.",
    fix:
      "storefronts, each at most once, separated by commas; to select genres, add a colon and genres separated by +: " +
      "36 for all apps, or 6000 to 6027",
    example: "us,gb,jp:6014+6015",
  },
  allowPrivateTargets: networks(
    "ALLOW_PRIVATE_TARGETS",
    "10.1.2.0/24",
    "Private addresses and networks that webhooks and other supplied URLs may reach, separated by commas.",
  ),
  deliver: yesOrNo(
    "DELIVER",
    "yes",
    "Whether the server and appmeter work send alerts to channels. The alert feed is always written.",
  ),
  telegramApi: {
    name: "TELEGRAM_API",
    ...webAddress("http://127.0.0.1:8081"),
    meaning: "Address of Telegram's bot API. Default: https://api.telegram.org.",
  },
  mail: {
    url: {
      name: "SMTP_URL",
      ...SMTP_URL,
      meaning:
        "Mail server for digests, alerts by mail and codes. smtps:// is encrypted from the start (port 465), smtp:// " +
        "after STARTTLS (port 587). Needs MAIL_FROM.",
      secret: true,
    },
    tls: {
      name: "SMTP_TLS",
      ...oneOf(["auto", "required", "off"], "auto"),
      meaning: "Whether the connection to SMTP_URL must be encrypted. auto: yes, unless the server is on this machine.",
    },
    from: {
      name: "MAIL_FROM",
      schema: v.pipe(
        v.string(),
        v.transform(mailboxOf),
        v.check((mailbox) => mailbox !== null),
        v.transform((mailbox) => mailbox as Mailbox),
      ),
      meaning: "Sender of all mail.",
      fix: "an address, or a name and an address between < and >",
      example: "Appmeter <reports@example.com>",
    },
  },
  raw: {
    folder: {
      name: "RAW_DIR",
      schema: v.string(),
      meaning: "Folder for stored responses of the stores. Default: raw in DATA_DIR.",
      fix: "a folder",
      example: "/var/lib/appmeter-raw",
    },
    days: whole("RAW_DAYS", 0, 3_650, 14, "Days to keep responses of the stores, compressed. 0 keeps none."),
    accountDays: whole(
      "RAW_ACCOUNT_DAYS",
      0,
      3_650,
      400,
      "Days to keep responses of consoles and ad accounts, compressed. 0 keeps none.",
    ),
    megabytes: whole(
      "RAW_MB",
      1,
      10_000_000,
      2_000,
      "Maximum megabytes of stored store responses, and the same again for accounts. The oldest are deleted first.",
    ),
  },
  picturesMb: whole(
    "PICTURES_MB",
    0,
    1_000_000,
    0,
    "Megabytes of icons and screenshots to store in RAW_DIR/pictures and to show on pages. 0 shows none.",
  ),
  metrics: {
    port: {
      name: "METRICS_PORT",
      schema: whole("", 0, 65_535, 0, "").schema,
      meaning:
        "Separate port for GET /metrics (Prometheus). 0 picks a free port. Without it and METRICS_TOKEN there are no " +
        "metrics.",
      fix: "a whole number from 0 to 65535",
      example: "9187",
    },
    host: {
      name: "METRICS_HOST",
      schema: HOST_NAME,
      meaning: "Address to listen on for METRICS_PORT. Default: HOST.",
      fix: "an address or host name without a port",
      example: "127.0.0.1",
    },
    token: {
      name: "METRICS_TOKEN",
      schema: v.pipe(v.string(), v.regex(/^[!-~]{16,512}$/)),
      meaning: "Bearer token that GET /metrics requires. Also enables /metrics on PORT.",
      fix: "16 characters or more, without white space",
      example: "k3v9…",
      secret: true,
    },
  },
  kept: {
    ledgerDays: days(
      "KEEP_LEDGER_DAYS",
      1,
      400,
      "Days to keep each charge; then only monthly sums. This month and the last are always kept.",
    ),
    attemptDays: days("KEEP_ATTEMPT_DAYS", 1, 90, "Days to keep failed reads."),
    jobDays: days("KEEP_JOB_DAYS", 1, 90, "Days to keep finished jobs."),
    auditDays: days("KEEP_AUDIT_DAYS", 365, 0, "Days to keep audit rows, at least 365."),
    alertDays: days("KEEP_ALERT_DAYS", 7, 365, "Days to keep alerts and their deliveries, at least 7."),
  },
  writer: {
    url: {
      name: "AI_URL",
      ...webAddress("http://127.0.0.1:11434/v1"),
      meaning: "Address of a language model API, up to /v1. Without it texts are made by rules or not at all.",
    },
    api: {
      name: "AI_API",
      schema: v.picklist(WIRE_NAMES),
      meaning: "Protocol of AI_URL: chat (Chat Completions), responses or messages. Default: by host, otherwise chat.",
      fix: "one of chat, responses, messages",
      example: "chat",
    },
    model: {
      name: "AI_MODEL",
      schema: v.pipe(v.string(), v.regex(/^[\w.:/@+-]{1,200}$/)),
      meaning: "Name of the model, sent unchanged. Required with AI_URL.",
      fix: "a name without white space",
      example: "llama3.3:8b",
    },
    key: {
      name: "AI_KEY",
      schema: v.pipe(v.string(), v.regex(/^[!-~]{1,1000}$/)),
      meaning: "API key for AI_URL. A local server usually needs none.",
      fix: "a key without white space",
      example: "sk-…",
      secret: true,
    },
    contextTokens: {
      name: "AI_CONTEXT_TOKENS",
      schema: whole("", 1_000, 2_000_000, 8_000, "").schema,
      meaning:
        "Maximum tokens of a request and its answer. Default: 8000 for local and private addresses, otherwise 100000.",
      fix: "a whole number from 1000 to 2000000",
      example: "32000",
    },
    tokensADay: whole("AI_TOKENS_A_DAY", 0, 1e12, 5_000_000, "Maximum tokens per UTC day of all processes together."),
    atOnce: whole("AI_AT_ONCE", 1, 100, 2, "Maximum concurrent requests to AI_URL of a process."),
    price: {
      name: "AI_PRICE",
      schema: v.pipe(v.string(), v.regex(/^\d{1,6}(\.\d{1,6})?,\d{1,6}(\.\d{1,6})?$/), v.transform(pricesOf)),
      meaning: "Price of a million input and a million output tokens, for the costs in doctor and /metrics.",
      fix: "two amounts separated by a comma",
      example: "0.1,0.5",
    },
  },
  ocrData: {
    name: "OCR_DATA",
    schema: v.string(),
    meaning: "Folder with Tesseract data (such as deu.traineddata) for screenshots in languages other than English.",
    fix: "a folder",
    example: "/usr/share/tesseract-ocr/5/tessdata",
  },
  assistants: {
    models: {
      name: "AI_ENGINES",
      schema: v.pipe(v.string(), v.check(isModelList), v.transform(byAssistant)),
      fallback: "",
      meaning:
        "AI assistants to ask about apps, each with its model. perplexity takes a preset or preset/model. " +
        "Each needs its key.",
      fix: "ASSISTANT=MODEL, separated by commas, with each of openai, anthropic, google and perplexity at most once",
      example: "openai=gpt-6-luna,anthropic=claude-haiku-5.5,perplexity=fast",
    },
    keys: {
      openai: assistantKey("AI_KEY_OPENAI", "OpenAI"),
      anthropic: assistantKey("AI_KEY_ANTHROPIC", "Anthropic"),
      google: assistantKey("AI_KEY_GOOGLE", "Google"),
      perplexity: assistantKey("AI_KEY_PERPLEXITY", "Perplexity"),
    },
    addresses: {
      name: "AI_ENGINE_URLS",
      schema: v.pipe(v.string(), v.check(isAssistantUrlList), v.transform(urlByHost)),
      fallback: "",
      meaning:
        "Replacement addresses for the assistants' APIs, up to the version, such as a proxy or recorded responses.",
      fix:
        "ASSISTANT=ADDRESS, separated by commas, with each assistant at most once and an http or https address " +
        "without user, query or fragment",
      example: "openai=http://127.0.0.1:9000/v1",
    },
    prices: {
      name: "AI_ENGINE_PRICES",
      schema: v.pipe(v.string(), v.check(isEnginePriceList), v.transform(enginePrices)),
      fallback: "",
      meaning:
        "Dollars per million input tokens, million output tokens and thousand searches, for the costs of checks.",
      fix: "ASSISTANT=INPUT/OUTPUT/SEARCHES, separated by commas, with each assistant at most once and three amounts",
      example: "openai=0.1/0.5/10,google=0.2/1/14",
    },
    runs: whole("AI_CHECK_RUNS", 1, 20, 3, "Answers per keyword and assistant in a check."),
    mostAnswers: whole(
      "AI_CHECK_ANSWERS",
      1,
      10_000,
      300,
      "Maximum answers of a check. The least searched keywords are left out.",
    ),
    gapMs: whole(
      "AI_ENGINE_GAP_MS",
      0,
      3_600_000,
      2_000,
      "Minimum milliseconds between two questions to an assistant.",
    ),
    spreadSeconds: whole(
      "AI_CHECK_SPREAD_SECONDS",
      0,
      3_600,
      60,
      "Minimum seconds between two answers to a keyword in a check.",
    ),
  },
  secretKeys: {
    newest: {
      name: "SECRET_KEY",
      schema: v.pipe(v.string(), v.check(isSecretKey)),
      meaning: "Encrypts stored secrets: 32 bytes as base64 or hex. If it is lost, the stored secrets are lost.",
      fix: SECRET_KEY_FIX,
      example: "q83v…",
      secret: true,
    },
    earlier: {
      name: "SECRET_KEY_PREVIOUS",
      schema: v.pipe(
        v.string(),
        v.transform(entries),
        v.check((keys: string[]) => keys.every(isSecretKey)),
      ),
      fallback: "",
      meaning: "Earlier values of SECRET_KEY, separated by commas. Secrets encrypted with them can still be read.",
      fix: "earlier values of SECRET_KEY, separated by commas",
      example: "q83v…",
      secret: true,
    },
  },
  assistant: {
    key: {
      name: "APPMETER_KEY",
      schema: v.string(),
      meaning: "Key that appmeter mcp, write, share and export use.",
      fix: "a key",
      example: "svc_live_…",
      secret: true,
    },
    url: {
      name: "APPMETER_URL",
      schema: v.string(),
      meaning: "Server that appmeter mcp forwards calls to. Without it calls are answered from the database.",
      fix: "an address",
      example: "https://ranks.example.com",
    },
  },
  drainMs: whole(
    "DRAIN_MS",
    0,
    15_000,
    100,
    "Milliseconds between /readyz turning 503 and the port closing. Meanwhile connections end with their next answer.",
  ),
} satisfies Rows
