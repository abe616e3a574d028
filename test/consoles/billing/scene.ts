import { createHmac } from "node:crypto"
import type { AccountKindName } from "../../../src/consoles/account-kind.ts"
import { storeMessage } from "../../../src/consoles/billing/receive.ts"
import { addAccount } from "../../../src/consoles/register.ts"
import type { Sql } from "../../../src/database/types.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { reachOf, TEA } from "../scene.ts"

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

export interface BillingScene {
  sql: Sql
  service: Service
  workspaceId: number
  appId: string
  key: string
  clock: { now: Date }
  /** Connects an account and returns its id. */
  add(kind: AccountKindName, storeId?: string): Promise<string>
  send(account: string, body: string | object, headers?: Record<string, string>, method?: string): Promise<Response>
}

/**
 * A workspace that tracks Tea Timer, and a server that receives messages. `roots` are the accepted root certificates.
 */
export async function billingScene(sql: Sql, { now = new Date(), roots = [] as string[] } = {}): Promise<BillingScene> {
  const clock = { now }
  const service = openService({
    sql,
    now: () => clock.now,
    async receive(account, message) {
      const receipt = await storeMessage({ recording, sql, sealer, now: () => clock.now }, account, {
        ...message,
        roots,
      })
      return typeof receipt === "object" || receipt === "unreadable" ? receipt : receipt !== "not theirs"
    },
  })
  const workspaceId = await service.workspace()
  const tracked = { name: TEA.name, iosId: TEA.id, countries: ["us"], keywords: ["tea"], origin: "own" as const }
  const appId = await trackOwn(sql, { workspaceId, ...tracked })
  const register = { sql, sealer, reach: reachOf("http://127.0.0.1:9") }
  return {
    sql,
    service,
    workspaceId,
    appId,
    clock,
    key: await service.key(workspaceId),
    async add(kind, storeId = TEA.id) {
      const key = kind === "app-store-notifications" ? {} : { secret: SECRET }
      return (await addAccount(register, workspaceId, { kind, key, part: storeId } as never)).id
    },
    async send(account, body, headers = { authorization: SECRET }, method = "POST") {
      const text = typeof body === "string" ? body : JSON.stringify(body)
      const sent = { method, headers, ...(method === "POST" && { body: text }) }
      return await service.app.fetch(new Request(`http://127.0.0.1/in/${account}`, sent), "127.0.0.1")
    },
  }
}

/** Returns the headers of a message signed by the scheme of Standard Webhooks. */
export function signedHeaders(body: string, at: Date, id = "msg_1"): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1_000)
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64")
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")
  return { "svix-id": id, "svix-timestamp": `${seconds}`, "svix-signature": `v1,other v1,${signature}` }
}

export interface Bought {
  id: string
  type?: string
  at?: Date
  price?: number
  usd?: number
  [field: string]: unknown
}

/** Returns a RevenueCat webhook that names a buyer. */
export function purchase({ id, type = "RENEWAL", at = new Date(), price = 19.99, usd = 23.21, ...rest }: Bought) {
  const buyer = {
    app_user_id: "buyer-4711",
    aliases: ["alias-0815"],
    subscriber_attributes: { $email: { value: "a@b.example" } },
  }
  return {
    api_version: "1.0",
    event: {
      id,
      type,
      event_timestamp_ms: at.getTime(),
      environment: "PRODUCTION",
      store: "APP_STORE",
      product_id: "tea.year",
      price,
      price_in_purchased_currency: price,
      currency: "EUR",
      country_code: "DE",
      period_type: "NORMAL",
      ...(usd !== undefined && { price: usd }),
      ...buyer,
      ...rest,
    },
  }
}
