import { expect } from "bun:test"
import { createAccountReading } from "../../../../src/consoles/worker.ts"
import { silentLog } from "../../../../src/lib/log.ts"
import { recording } from "../../../../src/recording.ts"
import { sealer } from "../../../alerts/delivery/scene.ts"
import { slow } from "../../../long.ts"
import { adsWrites, CAMPAIGN, KEYWORD } from "./scene.ts"

interface Listed {
  by: string
  listed: boolean
  event: string | null
  job: { id: string } | null
  changes: unknown[]
}

const scene = adsWrites()

slow("the service's writes are merged with the platform's entries, and other changes stay separate", async () => {
  const bid = await scene.done("set_keyword_bid", { keywordId: KEYWORD, amount: 1.2 })
  const added = await scene.done("add_negative_keyword", { text: "Free" })
  // Another program pauses the campaign within a minute after our write added a negative keyword to it.
  const change = { transactionId: "t9", entityType: "Campaign", entityId: CAMPAIGN, eventType: "UPDATE" as const }
  scene.standIn.changes.push({
    ...change,
    userType: "CUSTOMER_API",
    eventTime: new Date().toISOString(),
    modifiedBy: "5",
    meta: { campaignId: Number(CAMPAIGN), name: "Tea" },
    changes: [{ field: "status", oldValues: ["ENABLED"], newValues: ["PAUSED"] }],
  })
  await scene.sql`update connected_account set next_at = now() where id = ${scene.account}`
  const parts = { sql: scene.sql, sealer, log: silentLog, reach: scene.register.reach, gapMs: 0 }
  await createAccountReading({ recording, ...parts }).runOnce()
  const { body } = await scene.service.call(`/v1/apps/${scene.appId}/ads-commands`, { key: scene.key })
  const rows = (body.commands as Listed[]).map(({ by, listed, event, job, changes }) => {
    return [by, listed, event, job?.id ?? null, changes.length > 0]
  })
  expect(rows.toSorted()).toEqual(
    [
      ["other_api", true, "UPDATE", null, true],
      ["service", true, "CREATE", added.jobId, true],
      ["service", true, "UPDATE", bid.jobId, true],
    ].toSorted(),
  )
})
