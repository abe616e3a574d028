import type { Sql } from "../../src/database/types.ts"
import type { Observation } from "../../src/kinds.ts"
import { KINDS } from "../../src/kinds.ts"
import type { AdsReport, PlayReport } from "../../src/lib/upstreams.ts"
import { parseLine } from "../record.ts"

/** The account that all examples of private kinds belong to. */
export const EXAMPLE_ACCOUNT = "ac_0123456789abcdef01"

/** Creates the account, because observations of a private kind are stored only if their account exists. */
export async function holdAccount(sql: Sql, id = EXAMPLE_ACCOUNT): Promise<void> {
  await sql`
    with made as (
      insert into workspace (name, plan) values (${`of ${id}`}, 'pro') returning id
    )
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at)
    select ${id}, id, 'app-store-connect', 'key …1', '85012345', 'v1.a.b.c', null from made`
}

export type PrivateKind =
  | "sales"
  | "subscriptions"
  | "subscription_events"
  | "offer_redemptions"
  | "engagement"
  | "downloads"
  | "prices"
  | "console_reviews"
  | AdsReport
  | PlayReport
  | "billing_event"
  | "billing_metrics"

/** Returns the example of a kind with other fields. */
export function reported(name: PrivateKind, rest: object = {}): Observation {
  const { example } = KINDS.find((kind) => kind.name === name)!
  const parsed = parseLine(JSON.stringify({ kind: name, ...example }))
  return { ...(parsed as { observation: Observation }).observation, ...rest } as Observation
}
