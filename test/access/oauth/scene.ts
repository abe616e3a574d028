import { createHash, randomBytes } from "node:crypto"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { PUBLIC_URL, type Service } from "../../service.ts"
import { type Browser, browserOf, fieldIn, type Page } from "../sign-in/browser.ts"

export const REDIRECT = "https://client.example/callback"

/** A browser with a signed-in owner of the workspace, who also operates the server. */
export async function ownerBrowser(
  service: Service,
  workspaceId: number,
  options?: Parameters<typeof browserOf>[1],
): Promise<Browser> {
  const browser = browserOf(service, options)
  await browser.send("/sign-in", { code: await createCode(service.sql, workspaceId) })
  await service.sql`
    update person
    set is_operator = true
    where id in (select person_id from membership where workspace_id = ${workspaceId})`
  return browser
}

let addresses = 0

/** Returns a new address, so that tests do not reach the limits per address. */
const anotherAddress = () => `198.18.${++addresses >> 8}.${addresses & 255}`

/** Sends a client's request as JSON or as a form. Returns status, headers and the JSON response. */
export async function post(
  service: Service,
  path: string,
  body: object,
  { from = anotherAddress(), json = false, headers = {} } = {},
) {
  const response = await service.app.fetch(
    new Request(`${PUBLIC_URL}${path}`, {
      method: "POST",
      headers: { "content-type": json ? "application/json" : "application/x-www-form-urlencoded", ...headers },
      body: json ? JSON.stringify(body) : new URLSearchParams(body as Record<string, string>).toString(),
    }),
    from,
  )
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every endpoint
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : null) as any }
}

export async function register(
  service: Service,
  redirectUris: string[] = [REDIRECT],
  name = "Test client",
): Promise<string> {
  const { body } = await post(
    service,
    "/oauth/register",
    { client_name: name, redirect_uris: redirectUris },
    { json: true },
  )
  return body.client_id
}

export interface Pkce {
  verifier: string
  challenge: string
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url")
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") }
}

/** Returns the query of an authorization request. Undefined removes a parameter. */
export function queryOf(
  clientId: string,
  challenge: string,
  overrides: Record<string, string | undefined> = {},
): string {
  const fields = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    state: "st4te",
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource: `${PUBLIC_URL}/mcp`,
    ...overrides,
  }
  return new URLSearchParams(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString()
}

/** Returns the ticked scopes of a consent page, or all of its scopes. */
export function scopesOn({ text }: Page, selection: "ticked" | "all" = "ticked"): string[] {
  const boxes = [...text.matchAll(/<input type="checkbox" name="scope" value="([^"]+)"( checked)?>/g)]
  return boxes.filter(([, , checked]) => selection === "all" || checked).map(([, scope]) => scope as string)
}

/** Submits the form of a consent page unchanged, or with other fields. */
export async function agree(
  browser: Browser,
  page: Page,
  choices: { scopes?: string[]; apps?: string[]; decision?: string } = {},
) {
  const { scopes = scopesOn(page), apps, decision = "allow" } = choices
  return await browser.send("/oauth/authorize", [
    ["request", fieldIn(page, "request")!],
    ["form", fieldIn(page, "form")!],
    ["decision", decision],
    ["apps", apps ? "some" : "all"],
    ...(apps ?? []).map((app): [string, string] => ["app", app]),
    ...scopes.map((scope): [string, string] => ["scope", scope]),
  ])
}

/** Returns the redirect target of a page that leaves the site. */
export function answerIn({ headers }: Page): URL {
  return new URL(headers.get("refresh")!.replace(/^0;url=/, ""))
}

/** Returns the code after an owner's approval. */
export async function codeFor(browser: Browser, query: string, choices?: Parameters<typeof agree>[2]): Promise<string> {
  const page = await browser.open(`/oauth/authorize?${query}`)
  return answerIn(await agree(browser, page, choices)).searchParams.get("code")!
}

export interface ClientTokens {
  access_token: string
  refresh_token: string
  scope: string
}

/** Creates a client that an owner has approved, with its tokens. */
export async function letIn(service: Service, workspaceId: number, choices: Parameters<typeof agree>[2] = {}) {
  const browser = await ownerBrowser(service, workspaceId)
  const clientId = await register(service)
  const { verifier, challenge } = pkce()
  const code = await codeFor(browser, queryOf(clientId, challenge), choices)
  const exchange = {
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
  }
  const { body } = await post(service, "/oauth/token", exchange)
  return { browser, clientId, exchange, tokens: body as ClientTokens }
}

export const refresh = (service: Service, clientId: string, token: string, overrides: object = {}) =>
  post(service, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: token,
    client_id: clientId,
    ...overrides,
  })
