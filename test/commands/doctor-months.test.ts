import { expect, setDefaultTimeout } from "bun:test"
import type { Finding } from "../../src/commands/doctor/finding.ts"
import type { EmbeddedDatabase } from "../../src/database/embedded/open.ts"
import { chargeAlone } from "../access/registered.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { answer, appmeter, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)
afterSlow(removeFolders)

let database: EmbeddedDatabase
let env: Record<string, string>
beforeSlow(async () => {
  const { DATA_DIR } = await dataFolder()
  env = { DATA_DIR, MEASURE: "no" }
  database = await openFolder({ DATA_DIR })
})
afterSlow(() => database.close())

async function findings(): Promise<Finding[]> {
  const { out } = await appmeter(["doctor", "--json"], { env })
  return JSON.parse(out).findings.filter(({ thing }: Finding) => thing === "credits")
}

slow("doctor reports a billing month in the future, and the command it suggests keeps the used credits", async () => {
  await answer(["workspace", "create", "studio"], { env })
  await answer(["key", "create", "--workspace", "studio", "--name", "laptop"], { env })
  const [key] = await database.sql`
    select k.id, k.workspace_id
    from api_key k
    join workspace w on w.id = k.workspace_id
    where w.name = 'studio' and k.name = 'laptop'`
  const pay = (requestId: string) =>
    chargeAlone(database.sql, {
      workspaceId: key!.workspace_id,
      keyId: key!.id,
      cost: 3,
      operation: "get_app",
      requestId,
    })
  await pay("of-this-month")
  expect(await findings()).toEqual([])
  await database.sql`
    update account
    set month = month + interval '7 months', used = 0
    where workspace_id = ${key!.workspace_id}`
  await database.sql`update key_month set month = month + interval '7 months', used = 0 where key_id = ${key!.id}`
  await pay("of-a-month-ahead")
  const [finding] = await findings()
  expect(finding).toMatchObject({
    state: "problem",
    says: expect.stringMatching(/^the billing month of studio is \d{4}-\d\d,/),
  })
  expect(finding!.fix).toContain('appmeter workspace set "studio" --reset-month')
  const { workspace } = await answer(["workspace", "set", "studio", "--reset-month"], { env })
  expect(workspace.credits.used).toBe(6)
  expect(await findings()).toEqual([])
  const [row] = await database.sql<{ month: string; used: number }[]>`
    select month, used::int from key_month where key_id = ${key!.id}`
  expect([new Date(row!.month).getTime() <= Date.now(), row!.used]).toEqual([true, 6])
  const repeated = await appmeter(["workspace", "set", "studio", "--reset-month"], { env })
  expect([repeated.code, repeated.err]).toEqual([
    1,
    "appmeter: the billing month of the workspace is not ahead of today\n",
  ])
})
