import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Configuration, Provider } from "oidc-provider"
import type { Browser, Page } from "../sign-in/browser.ts"

export const CLIENT = { clientId: "appmeter", clientSecret: "a secret of the client" }

export interface RunningProvider {
  issuer: string
  /** Fills in the provider's page for an account. Returns the path to which it redirects the browser. */
  signIn(authorizationUrl: string, account: string): Promise<string>
  close(): Promise<void>
}

/** Runs a certified OpenID provider on loopback. Its accounts all claim one unverified e-mail address. */
export async function runProvider({
  redirectUri,
  email,
}: {
  redirectUri: string
  email: string
}): Promise<RunningProvider> {
  let handle: ReturnType<Provider["callback"]> | null = null
  const server: Server = createServer((request, response) => void handle?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configurationOf(redirectUri, email))
  const callback = provider.callback()
  handle = async (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return await callback(request, response)
    const accountId = new URL(request.url, issuer).searchParams.get("account") ?? ""
    await provider.interactionFinished(request, response, { login: { accountId } })
  }
  return {
    issuer,
    signIn: (url, account) => followUntil(url, account, redirectUri),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function configurationOf(redirectUri: string, email: string): Configuration {
  return {
    clients: [{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: false,
    cookies: { keys: ["only for tests"] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, email, email_verified: false, name: sub }),
    }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    // Every account has already consented.
    async loadExistingGrant(context) {
      const { Grant } = context.oidc.provider
      const grant = new Grant({ clientId: CLIENT.clientId, accountId: context.oidc.session?.accountId ?? "" })
      grant.addOIDCScope("openid profile email")
      await grant.save()
      return grant
    },
    // A client that sent a challenge must prove it. Some tests remove the challenge.
    pkce: { required: () => false },
  }
}

async function followUntil(first: string, account: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = new URL(first)
  for (let hops = 0; hops < 10; hops++) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ")
    const response = await fetch(url, { headers: { cookie }, redirect: "manual" })
    for (const line of response.headers.getSetCookie()) {
      const [name = "", ...value] = (line.split(";")[0] ?? "").split("=")
      cookies.set(name, value.join("="))
    }
    const location = response.headers.get("location")
    if (location === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`)
    url = new URL(location, url)
    if (url.href.startsWith(redirectUri)) return `${url.pathname}${url.search}`
    if (url.pathname.startsWith("/interaction/")) url.searchParams.set("account", account)
  }
  throw new Error("the provider redirects without end")
}

/** Sends the form that begins a visit to the provider, and returns the provider's address. */
export async function beginVisit(browser: Browser, fields: Record<string, string> = {}): Promise<string> {
  const page = await browser.send("/sign-in/oidc", fields)
  if (page.status !== 200) throw new Error(`the start answered ${page.status}: ${page.text}`)
  return targetOf(page)
}

export function targetOf(page: Page): string {
  return page.headers.get("refresh")?.replace(/^0; url=/, "") ?? ""
}
