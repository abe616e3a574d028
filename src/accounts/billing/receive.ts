import { hash } from "node:crypto"
import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import type { BillingObservation } from "../../observations/kinds/billing.ts"
import { record } from "../../observations/record.ts"
import type { BillingSource } from "../../vocabulary/upstreams.ts"
import { openKey } from "../credentials.ts"
import { accountKind } from "../kinds.ts"
import { noteState } from "../state.ts"
import { isSame, type Message } from "./proof.ts"

interface ReceivingParts {
  sql: Sql
  sealer: Sealer
  now: () => Date
}

/** `not theirs`: no such account, or no proof: nobody learns which. */
type Receipt = "stored" | "known" | "not theirs" | "unreadable"

const PARSER = 1

/** Stores what a message tells, once, and before it returns. Of the message itself nothing is kept. */
export async function storeMessage(
  { sql, sealer, now }: ReceivingParts,
  id: string,
  message: Message,
): Promise<Receipt> {
  const account = await findReceiving(sql, id)
  if (!account) return refused(message)
  const key = await openKey(sealer, id, account.sealed)
  const told = accountKind(account.kind).receive?.(key, account.part, message) ?? refused(message)
  if (typeof told === "string") return told
  if (await isKnown(sql, id, told.eventId)) return "known"
  const sha256 = hash("sha256", message.body, "buffer")
  const provenance = { seenAt: message.at, parser: PARSER, origin: "own" as const, sha256 }
  const seen = { kind: "billing_event", source: account.kind, platform: "ios", account: id, ...told, ...provenance }
  const { refused: wrong } = await record(sql, [seen as BillingObservation], now, {
    async finish(tx) {
      await tx`update connected_account set last_ok = now(), failure = null where id = ${id}`
      await noteState(tx, id, { state: "ok", why: null })
    },
  })
  return wrong.length > 0 ? "unreadable" : "stored"
}

/** What takes no longer where there is no account to prove anything to. */
function refused({ headers, body }: Message): "not theirs" {
  isSame(headers.get("authorization") ?? "", hash("sha256", body, "hex"))
  return "not theirs"
}

async function findReceiving(sql: Sql, id: string) {
  const [account] = await sql<{ kind: BillingSource; part: string; sealed: string }[]>`
    select kind, part, sealed
    from connected_account
    where id = ${id} and sealed is not null`
  return account
}

async function isKnown(sql: Sql, account: string, event: string): Promise<boolean> {
  const [row] = await sql`
    select
    from billing_event
    where account_id = ${account} and event_id = ${event}`
  return row !== undefined
}
