import { limitKeylessWrites } from "../../access/keyless-writes.ts"
import { createOidcProvider, type OidcSettings } from "../../access/oidc/provider.ts"
import { createPeople } from "../../access/sign-in/person.ts"
import { unsubscribeRoute } from "../../alerts/digest/unsubscribe-page.ts"
import type { Invoke } from "../../core/invoke.ts"
import type { Operation } from "../../core/operation.ts"
import { readTree } from "../../database/assets.ts"
import { messageRoute, type ReceiveMessage } from "../../http/messages.ts"
import { prepareSandbox, type Sandbox } from "../../http/sandbox.ts"
import { once } from "../../lib/prepared.ts"
import { type SafeFetch, safeFetch } from "../../outbound/safe-fetch.ts"
import { pageOperations } from "../../pages/app/operations.ts"
import { appRoutes } from "../../pages/app/surface.ts"
import { oauthRoutes } from "../../pages/oauth/surface.ts"
import { type SettingsPorts, settingsSections } from "../../pages/settings/sections.ts"
import { createSettingsPages } from "../../pages/settings/surface.ts"
import { signInRoutes } from "../../pages/sign-in/surface.ts"
import type { LinkParts } from "../../sharing/link-kind.ts"
import { linkRoutes } from "../../sharing/surface.ts"
import { SOURCES } from "../../sources.ts"
import type { PictureCache } from "../../stores/pictures/picture-cache.ts"
import { type OpenRoute, openPages } from "../../ui/routes.ts"
import { approvalRoutes } from "../../writes/approving/surface.ts"

interface PagesParts extends LinkParts {
  invoke: Invoke
  catalog: readonly Operation[]
  /** How long a session lasts without use. */
  sessionDays: number
  /** The header in which a trusted proxy names the person. Undefined: no proxy signs people in. */
  authProxyHeader: string | undefined
  /** The OpenID provider that signs people in. Null without one. */
  oidc: OidcSettings | null
  sandbox: Sandbox
  /** Undefined without SECRET_KEY; /in/ does not exist then. */
  receive?: ReceiveMessage | undefined
  /** Icons and screenshots on pages. Omit to show none. */
  pictureCache?: PictureCache | undefined
  /** Connects the settings pages to the world outside the database. Omit to leave out the settings that need this. */
  settingsPorts?: SettingsPorts | undefined
  /** Fetches documents of clients. Default: only on the public network. */
  fetch?: SafeFetch | undefined
}

const RECEIVE_MS = 5_000

const PAGE_OPERATIONS = pageOperations(SOURCES)

/** Returns the routes without a key: public links, sign-in pages and messages from services. */
export function openRoutes(parts: PagesParts): OpenRoute[] {
  const { sql, gate, publicUrl, invoke, catalog, sandbox, receive, trustedProxies, now } = parts
  const { settingsPorts: ports, sessionDays, authProxyHeader } = parts
  const proxy = authProxyHeader === undefined ? null : { header: authProxyHeader, trusted: trustedProxies }
  const people = createPeople({ sql, gate, publicUrl, sessionDays, proxy, sealer: ports?.sealer })
  const fetch = parts.fetch ?? safeFetch
  const oidc = parts.oidc && createOidcProvider({ ...parts.oidc, publicUrl, fetch })
  const visitorGate = limitKeylessWrites(gate)
  const pages = openPages(parts, [
    ...signInRoutes({ sql, gate, visitorGate, people, publicUrl, sessionDays, oidc, log: parts.log }),
    ...appRoutes({
      invoke,
      people,
      now,
      operations: [...catalog, ...PAGE_OPERATIONS.all],
      sampleAnswer: samplesOf(sandbox, publicUrl),
      pictures: parts.pictureCache,
      settings: createSettingsPages({
        sql,
        gate,
        people,
        publicUrl,
        sections: settingsSections({ sql, people, ports, provider: oidc?.name ?? null }),
      }),
    }),
    ...oauthRoutes({ ...parts, visitorGate, people, fetch }),
    ...approvalRoutes({ sql, gate, people }),
    unsubscribeRoute({ sql, visitorGate }),
  ])
  const messages = receive && {
    receive: (...sent: Parameters<ReceiveMessage>) => gate.run(() => receive(...sent), RECEIVE_MS),
    publicUrl,
    trustedProxies,
    now,
  }
  return [...(messages ? [messageRoute(messages)] : []), ...linkRoutes(parts), ...pages]
}

/**
 * Returns a function with the sandbox's answers, and with samples that only pages use. These samples are loaded at
 * their first use.
 */
function samplesOf(sandbox: Sandbox, publicUrl: string): Sandbox["answer"] {
  const pageSamples = once(() =>
    prepareSandbox(PAGE_OPERATIONS.sampled, readTree("fixtures/pages", ".json"), publicUrl),
  )
  return (operation, input) =>
    (PAGE_OPERATIONS.sampled.includes(operation) ? pageSamples() : sandbox).answer(operation, input)
}
