import { beforeAll, describe, expect, test } from "bun:test"
import { type ChargeCall, createChargeGroups } from "../../src/access/charge-groups.ts"
import { charge, type Due, readCredits } from "../../src/access/credits.ts"
import type { Basis, KeptDue } from "../../src/access/kept-charges.ts"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { countedOn } from "../surfaces/counted.ts"
import { type Means, somePayer } from "./registered.ts"

let sql: Sql
let groups: ChargeCall

beforeAll(async () => {
  sql = await freshDatabase()
  groups = createChargeGroups(sql)
})

describe("an answer that was kept", () => {
  const namesOf: Basis["digestsOf"] = (client, asked) => client`
    select c.caller::int, w.name as digest
    from unnest(${asked.map(({ workspaceId }) => workspaceId)}::int[]) with ordinality c (workspace_id, caller)
    join workspace w on w.id = c.workspace_id`
  const quotasOf: Basis["digestsOf"] = (client, asked) => client`
    select c.caller::int, a.quota::text as digest
    from unnest(${asked.map(({ workspaceId }) => workspaceId)}::int[]) with ordinality c (workspace_id, caller)
    join account a on a.workspace_id = c.workspace_id`

  /** A payer whose answers are made of the workspace's name, or of its quota. */
  async function somePayerOfKept(of: "name" | "quota", options: Partial<Means> = {}) {
    const payer = await somePayer(sql, { credits: 500, ...options })
    const { workspace, due } = payer
    const [is, digestsOf] = of === "name" ? [workspace.name, namesOf] : ["500", quotasOf]
    const kept = (digest = is): KeptDue => ({
      ...due(),
      basis: { name: `${of} ${workspace.id}`, asked: { workspaceId: workspace.id, appList: null }, digest, digestsOf },
    })
    return { ...payer, kept }
  }

  test("is charged while its basis is as it was; what has changed is not charged, and takes nobody with it", async () => {
    const payers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => somePayerOfKept(at % 2 ? "name" : "quota", at === 5 ? { credits: 0 } : {})),
    )
    for (const isChanged of [() => false, (at: number) => at < 3, () => true]) {
      const dues = payers.flatMap(({ due, kept }, at) => [kept(), isChanged(at) ? kept("as it was") : kept(), due()])
      const outcomes = await Promise.all(dues.map((due) => groups<Due | KeptDue>(due)))
      expect(outcomes.map((paid) => (paid === null ? "changed" : paid.refused))).toEqual(
        payers.flatMap((_, at) => {
          const paid = at === 5 ? "credits_exhausted" : null
          return [paid, isChanged(at) ? "changed" : paid, paid]
        }),
      )
      const charged = dues.filter((_, at) => outcomes[at]?.refused === null).map(({ requestId }) => requestId)
      const entered = await sql<{ requestId: string }[]>`
        select request_id as "requestId"
        from ledger
        where request_id = any(${dues.map(({ requestId }) => requestId)}::text[])
        order by id
        limit 100`
      expect(entered.map(({ requestId }) => requestId).sort()).toEqual(charged.sort())
    }
    for (const [at, { due }] of payers.entries())
      expect((await readCredits(sql, due())).used).toBe(at === 5 ? 0 : at < 3 ? 7 : 8)
  })

  test("costs no statement beside its charge", async () => {
    const { due, kept } = await somePayerOfKept("name")
    const { sql: counted, statements } = countedOn(sql)
    const together = createChargeGroups(counted)
    expect(await together<Due | KeptDue>(kept())).toMatchObject({ refused: null })
    expect(statements()).toBe(1)
    expect(await together<Due | KeptDue>(kept("as it was"))).toBeNull()
    expect(statements()).toBe(2)
    expect((await readCredits(sql, due())).used).toBe(1)
  })

  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: waits for its account like any charge, and is asked again",
    async () => {
      const { due, kept, workspace } = await somePayerOfKept("name")
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const { promise: locked, resolve: lock } = Promise.withResolvers<void>()
      const holding = sql.begin(async (tx) => {
        await charge(tx, due(5))
        lock()
        await released
      })
      await locked
      const stuck = [kept(), kept("as it was"), kept()].map((one) => groups<Due | KeptDue>(one))
      expect(await stuck[1]).toBeNull()
      expect(await Promise.race([stuck[0], Bun.sleep(50)])).toBeUndefined()
      release()
      await holding
      expect((await Promise.all(stuck)).map((paid) => (paid === null ? "changed" : paid.refused))).toEqual([
        null,
        "changed",
        null,
      ])
      expect((await readCredits(sql, { workspaceId: workspace.id })).used).toBe(7)
    },
  )
})
