import type { Sql } from "../../src/database/types.ts"
import type { Platforms } from "../../src/lib/accounts/platform.ts"
import { Fault, type FaultCode } from "../../src/lib/faults.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { openService } from "../service.ts"
import type { Change, Situation } from "./outcomes.ts"

// Writes to other platforms: a console that has the app and accepts writes, and that answers with the fault at the end.

const STORE_ID = "1437843273"
const REVIEW = { id: "9990000731", stars: 2, title: "Lost", text: "All gone.", at: new Date("2025-11-01T12:00:00Z") }

/**
 * Returns the change for a preview_action call, or for the confirm of a preview that was made before the console
 * answered with the fault.
 */
export function consoleSays(sql: Sql, code: FaultCode): Change {
  return async (situation) => {
    await connectConsole(situation, sql)
    const { app } = situation
    const input = {
      action: "reply_review",
      args: { appId: app, country: "us", reviewId: REVIEW.id, response: "Thanks." },
    }
    if ("action" in situation.input) situation.input = input
    else {
      const at = openService({ sql, platforms: answering })
      const { body } = await at.call("/v1/actions", { key: situation.key, method: "POST", body: input })
      situation.input = { confirmToken: body.confirmToken }
    }
    const platforms: Platforms = { open: () => Promise.reject(new Fault(code, { detail: "As the console has it." })) }
    situation.service = openService({ sql, platforms })
  }
}

async function connectConsole({ workspaceId, app }: Situation, sql: Sql): Promise<void> {
  const id = `ac_${crypto.randomUUID().replaceAll("-", "").slice(0, 18)}`
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, state, writes)
    values (${id}, ${workspaceId}, 'app-store-connect', 'key', '85012345', 'sealed', 'ok', true)`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
    values (${id}, ${STORE_ID}, 'TEA', 'Tea', 'com.example.tea', ${app})`
  await record(sql, [reviewed("2025-11-02T00:00:00Z", [REVIEW], { storeId: STORE_ID })])
}

/** A console with only the review REVIEW and no reply to it. */
const answering: Platforms = {
  async open() {
    const { id, stars, title, text, at } = REVIEW
    const attributes = { rating: stars, title, body: text, createdDate: at.toISOString(), territory: "USA" }
    const review = { type: "customerReviews", id: `asc-${id}`, attributes }
    return {
      account: "ac",
      app: STORE_ID,
      currency: null,
      ask: async ({ path }) => ({ data: path.includes("include=") ? review : [review], included: [] }),
      send: async () => ({}),
    }
  },
}
