import { Buffer } from "node:buffer"
import type { Channel } from "../../../src/alerts/delivery/channel-kinds.ts"
import { addChannel } from "../../../src/alerts/delivery/channels.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import type { ReceivedRequest, Receiver } from "./receiver.ts"
import { outbound, type Scene } from "./scene.ts"

const TOKEN = "123456789:AAEcanaryCanaryCanaryCanaryCanary_-1"

/** A stand-in for a chat service on loopback: it accepts and refuses messages as documented by the service. */
export interface Service {
  kind: Channel
  /** The path of the stand-in, and what a person enters to reach it. */
  path: string
  entered(standIn: Receiver): Record<string, string>
  /** Returns the service's response to a message. */
  answer(request: ReceivedRequest): Response
  /** Returns the text of a message, as the service stores it. */
  textOf(request: ReceivedRequest): string
  /** Responses that disable the channel, and the reason that is shown. */
  endings: readonly { answer: () => Response; reason: string }[]
  /** Returns the response to too many messages, which asks to wait for a second. */
  busy(): Response
}

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers })

const ntfy: Service = {
  kind: "ntfy",
  path: "/tea-canary",
  entered: ({ url }) => ({ url: `${url}/tea-canary`, token: "tk_canarycanarycanarycanarycana1" }),
  answer({ body, headers }) {
    if (headers.authorization !== "Bearer tk_canarycanarycanarycanarycana1")
      return json(403, { code: 40301, http: 403, error: "forbidden" })
    // a longer message becomes a file, which a server without attachments refuses
    if (Buffer.byteLength(body) > 4_096)
      return json(400, { code: 40014, http: 400, error: "invalid request: attachments not allowed" })
    return json(200, { id: "hwQ2YpKdmg", event: "message", topic: "tea-canary", message: body })
  },
  textOf: ({ body }) => body,
  endings: [
    { answer: () => json(401, { code: 40101, http: 401, error: "unauthorized" }), reason: "status 401: the access" },
    { answer: () => json(403, { code: 40301, http: 403, error: "forbidden" }), reason: "status 403: the access token" },
  ],
  busy: () => json(429, { code: 42901, http: 429, error: "limit reached" }, { "retry-after": "1" }),
}

const discord: Service = {
  kind: "discord",
  path: "/discord.com/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44fecd1canary",
  entered: () => ({
    url: "https://discord.com/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44fecd1canary",
  }),
  answer({ body, search }) {
    const { content } = JSON.parse(body)
    if (content === "") return json(400, { code: 50006, message: "Cannot send an empty message" })
    if (content.length > 2_000) return json(400, { code: 50035, message: "Invalid Form Body" })
    return search === "?wait=true" ? json(200, { id: "1", content }) : new Response(null, { status: 204 })
  },
  textOf: ({ body }) => JSON.parse(body).content,
  endings: [
    { answer: () => json(404, { code: 10015, message: "Unknown Webhook" }), reason: "status 404: the webhook was" },
    { answer: () => json(401, { code: 50027, message: "Invalid Webhook Token" }), reason: "status 401: the webhook's" },
    { answer: () => json(404, { code: 10003, message: "Unknown Channel" }), reason: "status 404: the channel or" },
  ],
  busy: () => json(429, { message: "You are being rate limited.", retry_after: 1.001, global: false }),
}

const TEAMS = "default-1.a2.environment.api.powerplatform.com"
const FLOW = "/powerautomate/automations/direct/workflows/00aa/triggers/manual/paths/invoke"

const teams: Service = {
  kind: "teams",
  path: `/${TEAMS}${FLOW}`,
  entered: () => ({ url: `https://${TEAMS}:443${FLOW}?api-version=1&sp=%2Ftriggers&sv=1.0&sig=canarySig` }),
  answer({ body, search }) {
    if (Buffer.byteLength(body) > 28 * 1_024) return json(413, { error: { code: "RequestEntityTooLarge" } })
    if (!search.endsWith("&sig=canarySig")) return json(401, { error: { code: "DirectApiAuthorizationRequired" } })
    const { type, attachments } = JSON.parse(body)
    const isCard = type === "message" && attachments[0].contentType === "application/vnd.microsoft.card.adaptive"
    return isCard ? new Response(null, { status: 202 }) : json(400, { error: { code: "TriggerInputSchemaMismatch" } })
  },
  textOf: ({ body }) => JSON.parse(body).attachments[0].content.body[0].inlines[0].text,
  endings: [
    {
      answer: () => json(400, { error: { code: "WorkflowTriggerIsNotEnabled", message: "state 'Deleted'" } }),
      reason: "status 400: the workflow is off or was deleted",
    },
    { answer: () => json(404, { error: { code: "WorkflowNotFound" } }), reason: "status 404: the workflow is off" },
    { answer: () => json(401, { error: { code: "AuthorizationFailed" } }), reason: "status 401: the address of the" },
  ],
  busy: () => json(429, { statusCode: 429, message: "Rate limit is exceeded." }, { "retry-after": "1" }),
}

const slack: Service = {
  kind: "slack",
  path: "/services/T0/B0/canary",
  entered: ({ url }) => ({ url: `${url}/services/T0/B0/canary` }),
  answer: ({ body }) => new Response(JSON.parse(body).text === "" ? "no_text" : "ok"),
  textOf: ({ body }) => JSON.parse(body).text,
  endings: [{ answer: () => new Response("no_service", { status: 404 }), reason: "status 404: Slack no longer" }],
  busy: () => new Response(null, { status: 429, headers: { "retry-after": "1" } }),
}

const telegram: Service = {
  kind: "telegram",
  path: `/bot${TOKEN}/sendMessage`,
  entered: () => ({ token: TOKEN, chat: "-1001234567890" }),
  answer: ({ body }) =>
    JSON.parse(body).text.length > 4_096
      ? json(400, { ok: false, description: "Bad Request: message is too long" })
      : json(200, { ok: true }),
  textOf: ({ body }) => JSON.parse(body).text,
  endings: [{ answer: () => json(403, { ok: false }), reason: "status 403: the bot may not write" }],
  busy: () => json(429, { ok: false, parameters: { retry_after: 1 } }),
}

export const SERVICES: readonly Service[] = [telegram, slack, ntfy, discord, teams]

/** Sends requests to Discord and Teams to the stand-in, whose path begins with their host. */
export function toStandIn(url: string): SafeFetch {
  return async (address, options) => {
    const { protocol, hostname, pathname, search } = new URL(address)
    const isOutside = protocol === "https:"
    return await outbound(isOutside ? `${url}/${hostname}${pathname}${search}` : address, {
      ...options,
      ...(isOutside && { ports: [Number(new URL(url).port)] }),
    })
  }
}

/** Adds a channel that reaches the stand-in. Returns its id. */
export async function addService({ kind, entered }: Service, scene: Scene, standIn: Receiver): Promise<string> {
  return (await addChannel(scene.register, scene.workspaceId, kind, entered(standIn))).channel.id
}
