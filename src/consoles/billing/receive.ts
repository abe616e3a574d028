import { hash } from "node:crypto"
import type { Sealer } from "../../access/sealed.ts"
import type { Recording } from "../../core/recording.ts"
import type { Sql } from "../../database/types.ts"
import { isStorable } from "../../lib/text.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { BillingSource } from "../../lib/upstreams.ts"
import type { MessageReply } from "../account-kind.ts"
import { accountKind } from "../account-kinds.ts"
import { openKey } from "../credentials.ts"
import type { BillingObservation } from "../kinds/billing.ts"
import { noteState } from "../state.ts"
import { isSame, type Message } from "./proof.ts"

interface ReceivingParts {
  sql: Sql
  recording: Pick<Recording, "record">
  sealer: Sealer
  now: () => Date
}

/** `not theirs`: the account does not exist or the proof is wrong; the response does not reveal which. */
type Receipt = "stored" | "known" | "not theirs" | "unreadable" | MessageReply

const PARSER = 1

/** Stores the event of a message, once. The message itself is not stored. */
export async function storeMessage(
  { sql, recording, sealer, now }: ReceivingParts,
  id: string,
  message: Message,
): Promise<Receipt> {
  const account = await findReceiving(sql, id)
  if (!account) return refused(message)
  const key = await openKey(sealer, id, account.sealed)
  const { kind, part, bundleIds } = account
  const parsed = accountKind(kind).receive?.(key, part, { ...message, bundleIds }) ?? refused(message)
  if (typeof parsed === "string" || "reply" in parsed) return parsed
  if (Object.values(parsed).some((value) => typeof value === "string" && !isStorable(value))) return "unreadable"
  if (await isStored(sql, id, parsed.eventId)) return "known"
  const sha256 = hash("sha256", message.body, "buffer")
  const provenance = { seenAt: message.at, parser: PARSER, origin: "own" as const, sha256 }
  const seen = {
    kind: "billing_event",
    source: account.kind,
    platform: "ios",
    account: id,
    ...parsed,
    ...provenance,
    happenedAt: happenedBy(parsed.happenedAt, message.at),
  }
  const { refused: wrong } = await recording.record(sql, [seen as BillingObservation], now, {
    async finish(tx) {
      await tx`update connected_account set last_ok = now(), failure = null where id = ${id}`
      await noteState(tx, id, { state: "ok", why: null })
    },
  })
  return wrong.length > 0 ? "unreadable" : "stored"
}

/**
 * Returns the message's time. If it is more than a day after the receipt, returns the time of receipt, because a
 * sender's clock may be wrong.
 */
function happenedBy(happenedAt: Date, receivedAt: Date): Date {
  return happenedAt.getTime() > receivedAt.getTime() + DAY_MS ? receivedAt : happenedAt
}

/**
 * Refuses a message after the same work as a check, so that the response time does not reveal whether the account
 * exists.
 */
function refused({ headers, body }: Message): "not theirs" {
  isSame(headers.get("authorization") ?? "", hash("sha256", body, "hex"))
  return "not theirs"
}

async function findReceiving(sql: Sql, id: string) {
  const [account] = await sql<{ kind: BillingSource; part: string; sealed: string; bundleIds: string[] }[]>`
    select c.kind, c.part, c.sealed, array(
      select s.bundle_id
      from store_app s
      where s.platform = 'ios' and s.store_id = c.part and s.bundle_id is not null
      union
      select a.bundle_id
      from connected_account o
      join account_app a on a.account_id = o.id
      where o.workspace_id = c.workspace_id and o.kind = 'app-store-connect' and a.outside_id = c.part
        and a.bundle_id <> ''
    ) as "bundleIds"
    from connected_account c
    where c.id = ${id} and c.sealed is not null`
  return account
}

async function isStored(sql: Sql, account: string, event: string): Promise<boolean> {
  const [row] = await sql`
    select
    from billing_event
    where account_id = ${account} and event_id = ${event}`
  return row !== undefined
}
