import { createPublicKey, generateKeyPairSync, randomUUID, verify } from "node:crypto"

export interface MadePlayKey {
  email: string
  keyId: string
  /** The JSON file, which Google Cloud lets people download once. */
  json: string
}

/** A file of the bucket; each `put` gives it a new generation. */
interface StoredFile {
  generation: number
  updated: string
  bytes: Uint8Array
}

/** A request to the publisher API, with an accepted token. */
export interface PublisherRequest {
  method: string
  /** Example: /androidpublisher/v3/applications/com.example.tea/reviews */
  pathname: string
  query: URLSearchParams
  body: unknown
}

export interface PlayStandIn {
  url: string
  bucket: string
  /** Creates a service account with a key. */
  key(): MadePlayKey
  /** Deletes a key in Google Cloud. */
  revoke(keyId: string): void
  /** Addresses of service accounts that are disabled or deleted. */
  accounts: Map<string, "disabled" | "deleted">
  files: Map<string, StoredFile>
  /** Writes a file as a new generation. Text is stored as UTF-16LE with a byte order mark, like Google's statistics. */
  put(name: string, content: string | Uint8Array, updated?: Date): void
  /** The permissions that Play Console gives every service account. */
  may: { statistics: boolean; financial: boolean; reviews: boolean; replies: boolean }
  /** True if the publisher API is disabled in the project of the keys. */
  isApiDisabled: boolean
  /** Overrides the response to requests to the publisher API. Null keeps the default response, an empty list or 404. */
  publisher: (request: PublisherRequest) => Response | null | Promise<Response | null>
  /** Maximum number of names in a page of a list. */
  pageSize: number
  /** Overrides a response. Null keeps the stand-in's own response. */
  before: (path: string) => Response | null | Promise<Response | null>
  /** Method, path and query of the requests that had an accepted token. */
  requests: string[]
  tokensIssued: number
  forgetTokens(): void
  /** How many seconds Google's clock is ahead of ours. */
  aheadS: number
  stop(): Promise<void>
}

/** RSA keys take long to generate, so tests share a few of them. */
const PAIRS: { publicKey: string; privateKey: string }[] = []
function pairAt(place: number) {
  PAIRS[place] ??= generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  })
  return PAIRS[place]
}

const AUDIENCE = "https://oauth2.googleapis.com/token"
const SCOPES = [
  "https://www.googleapis.com/auth/devstorage.read_only",
  "https://www.googleapis.com/auth/androidpublisher",
]

/**
 * A stand-in on localhost for Google's token endpoint, the bucket of a developer's reports and the publisher API, with
 * the same formats, texts, limits and refusals.
 */
export function playStandIn(): PlayStandIn {
  const keys = new Map<string, { email: string; publicKey: string; isRevoked: boolean }>()
  const tokens = new Set<string>()
  const playState: PlayStandIn = {
    url: "",
    bucket: "pubsite_prod_rev_01234567890123456789",
    key() {
      const place = keys.size
      const { publicKey, privateKey } = pairAt(place)
      const email = `reports-${place}@tea-house.iam.gserviceaccount.com`
      const keyId = `${String(place).padStart(4, "0")}${randomUUID().replaceAll("-", "")}${"c0de"}`
      keys.set(keyId, { email, publicKey, isRevoked: false })
      return { email, keyId, json: keyFile({ email, keyId, privateKey }) }
    },
    revoke(keyId) {
      keys.get(keyId)!.isRevoked = true
      tokens.clear()
    },
    accounts: new Map(),
    files: new Map(),
    put(name, content, updated = new Date()) {
      const bytes = typeof content === "string" ? utf16(content) : content
      const generation = 1_700_000_000_000_000 + counted++
      playState.files.set(name, { generation, updated: updated.toISOString(), bytes })
    },
    may: { statistics: true, financial: true, reviews: true, replies: true },
    isApiDisabled: false,
    publisher: () => null,
    pageSize: 1_000,
    before: () => null,
    requests: [],
    tokensIssued: 0,
    forgetTokens: () => tokens.clear(),
    aheadS: 0,
    async stop() {
      await server.stop(true)
    },
  }
  let counted = 0
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const answer = await answerRequest(request)
      answer.headers.set("date", new Date(Date.now() + 1_000 * playState.aheadS).toUTCString())
      return answer
    },
  })
  playState.url = `http://127.0.0.1:${server.port}`

  const answerRequest = async (request: Request): Promise<Response> => {
    const text = await request.text()
    const url = new URL(request.url)
    const override = await playState.before(decodeURIComponent(`${url.pathname}${url.search}`))
    if (override) return override
    if (url.pathname === "/token") return tokenFor(request, text)
    const [, token = ""] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? []
    if (!tokens.has(token)) return googleRefusal(401, "authError", "Invalid Credentials")
    playState.requests.push(`${request.method} ${url.pathname}${url.search}`)
    if (url.pathname.startsWith("/storage/v1/b/")) return answerStorage(request, url)
    if (!url.pathname.startsWith("/androidpublisher/v3/")) return new Response("Not Found", { status: 404 })
    return await answerPublisher({
      method: request.method,
      pathname: url.pathname,
      query: url.searchParams,
      body: text === "" ? undefined : JSON.parse(text),
    })
  }

  const tokenFor = (request: Request, text: string): Response => {
    const form = new URLSearchParams(text)
    if (request.method !== "POST" || form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer")
      return tokenRefusal("unsupported_grant_type", "Invalid grant_type: ")
    const parts = (form.get("assertion") ?? "").split(".")
    const [head, claims] = parts.slice(0, 2).map(partOf) as [Record<string, string>, Record<string, string & number>]
    const { iss, aud, scope, iat, exp } = claims
    const key = keys.get(head.kid ?? "")
    const state = playState.accounts.get(iss!)
    if (state === "deleted") return tokenRefusal("invalid_grant", "Invalid grant: account not found")
    if (state === "disabled") return tokenRefusal("invalid_grant", "Account has been disabled")
    const signed = Buffer.from(parts.slice(0, 2).join("."))
    const isSigned =
      key !== undefined &&
      !key.isRevoked &&
      key.email === iss &&
      head.alg === "RS256" &&
      head.typ === "JWT" &&
      verify("sha256", signed, createPublicKey(key.publicKey), Buffer.from(parts[2] ?? "", "base64url"))
    if (!isSigned) return tokenRefusal("invalid_grant", "Invalid JWT Signature.")
    if (aud !== AUDIENCE) return tokenRefusal("invalid_grant", "Invalid JWT: Failed audience check.")
    const now = Date.now() / 1_000 + playState.aheadS
    // Google allows some clock skew.
    if (!(exp! - iat! <= 3_600 && iat! <= now + 30 && exp! > now - 30))
      return tokenRefusal(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. " +
          "Check your iat and exp values in the JWT claim.",
      )
    const scopes = String(scope).split(" ")
    if (!SCOPES.every((name) => scopes.includes(name)) || scopes.length !== SCOPES.length)
      return tokenRefusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
    playState.tokensIssued++
    const token = `ya29.c.${randomUUID()}`
    tokens.add(token)
    return Response.json({ access_token: token, expires_in: 3_599, token_type: "Bearer" })
  }

  const answerStorage = (request: Request, url: URL): Response => {
    const [, bucket = "", rest = ""] = /^\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(url.pathname) ?? []
    if (request.method !== "GET") return googleRefusal(405, "methodNotAllowed", "Method Not Allowed")
    if (bucket !== playState.bucket) return googleRefusal(404, "notFound", "The specified bucket does not exist.")
    if (rest === "") return answerList(url.searchParams)
    const name = decodeURIComponent(rest)
    if (!mayRead(name)) return noAccess("storage.objects.get", `object ${name}`)
    const file = playState.files.get(name)
    const requestedGeneration = url.searchParams.get("generation")
    if (!file || (requestedGeneration !== null && requestedGeneration !== String(file.generation)))
      return googleRefusal(404, "notFound", `No such object: ${bucket}/${name}`)
    if (url.searchParams.get("alt") !== "media") return Response.json(facts(name, file))
    return new Response(new Uint8Array(file.bytes), {
      headers: { "content-type": "application/octet-stream", "x-goog-generation": String(file.generation) },
    })
  }

  const mayRead = (name: string) => (name.startsWith("stats/") ? playState.may.statistics : playState.may.financial)

  const answerList = (query: URLSearchParams): Response => {
    if (!playState.may.statistics) return noAccess("storage.objects.list", "the Google Cloud Storage bucket")
    const [prefix, glob, from] = ["prefix", "matchGlob", "pageToken"].map((name) => query.get(name))
    const pattern = glob && new RegExp(`^${glob.split("*").map(RegExp.escape).join("[^/]*")}$`)
    const names = [...playState.files.keys()]
      .filter((name) => name.startsWith(prefix ?? "") && (!pattern || pattern.test(name)))
      .sort()
    const start = from ? names.findIndex((name) => name > Buffer.from(from, "base64url").toString()) : 0
    const size = Math.min(playState.pageSize, Number(query.get("maxResults") ?? 1_000))
    const page = start < 0 ? [] : names.slice(start, start + size)
    const isLast = start < 0 || start + size >= names.length
    return Response.json({
      kind: "storage#objects",
      ...(!isLast && { nextPageToken: Buffer.from(page.at(-1)!).toString("base64url") }),
      // Google leaves out `items` in a page without matches.
      ...(page.length > 0 && { items: page.map((name) => facts(name, playState.files.get(name)!)) }),
    })
  }

  const answerPublisher = async (request: PublisherRequest): Promise<Response> => {
    if (playState.isApiDisabled)
      return googleRefusal(
        403,
        "accessNotConfigured",
        "Google Play Android Developer API has not been used in project 123456789 before or it is disabled.",
      )
    const isReply = request.method === "POST" && request.pathname.endsWith(":reply")
    if (isReply ? !playState.may.replies : !playState.may.reviews)
      return googleRefusal(
        401,
        "permissionDenied",
        "The current user has insufficient permissions to perform the requested operation.",
      )
    const answer = await playState.publisher(request)
    if (answer) return answer
    const isList = request.method === "GET" && /\/applications\/[^/]+\/reviews$/.test(request.pathname)
    return isList ? Response.json({}) : googleRefusal(404, "notFound", "Not Found")
  }
  return playState
}

function noAccess(permission: string, part: string): Response {
  return googleRefusal(403, "forbidden", `The service account does not have ${permission} access to ${part}.`)
}

/** Returns an error document of Google's APIs. */
export function googleRefusal(status: number, reason: string, message: string): Response {
  const error = { code: status, message, errors: [{ message, domain: "global", reason }] }
  return Response.json({ error }, { status })
}

function tokenRefusal(error: string, description: string): Response {
  return Response.json({ error, error_description: description }, { status: 400 })
}

function facts(name: string, { generation, updated, bytes }: StoredFile) {
  return { name, generation: String(generation), updated, size: String(bytes.length) }
}

function partOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString())
  } catch {
    return {}
  }
}

interface KeyFileParts {
  email: string
  keyId: string
  privateKey: string
}

/** Returns the file of a key. Its URLs lead to another host, so that a request to one of them would fail. */
export function keyFile({ email, keyId, privateKey }: KeyFileParts): string {
  const file = {
    type: "service_account",
    project_id: "tea-house",
    private_key_id: keyId,
    private_key: privateKey,
    client_email: email,
    client_id: "104523412345123451234",
    auth_uri: "https://attacker.example/auth",
    token_uri: "https://attacker.example/token",
    auth_provider_x509_cert_url: "https://attacker.example/certs",
    client_x509_cert_url: "https://attacker.example/x509",
    universe_domain: "attacker.example",
  }
  return JSON.stringify(file, null, 2)
}

/** Encodes a text as UTF-16LE with a byte order mark. */
export function utf16(text: string): Uint8Array {
  return Buffer.from(`\uFEFF${text}`, "utf16le")
}
