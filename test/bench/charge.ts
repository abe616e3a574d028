// bun test/bench/charge.ts — measures charges per second by 64 callers of one workspace and by 64 workspaces, grouped
// as in the product and one by one, as ratios to a plain one-row update. Fails if the ledger differs from the accounts.
import { randomBytes } from "node:crypto"
import { createChargeCall, type Due } from "../../src/access/credits.ts"
import { createKey } from "../../src/access/key-register.ts"
import { createWorkspace } from "../../src/access/workspaces.ts"
import { chargeAlone } from "../access/registered.ts"
import { scratchOn } from "./scratch.ts"

// on a disk: an update and a charge both wait for their commit
const { sql, remove } = await scratchOn(process.env.DATABASE_URL, 10)
const SECONDS = Number(process.env.SECONDS ?? 3)
const payers: { workspaceId: number; keyId: number }[] = []
for (let i = 0; i < 64; i++) {
  const overrides = { credits: 1e12 }
  const { id: workspaceId, name } = await createWorkspace(sql, { name: `bench ${i}`, plan: "enterprise", overrides })
  const { key } = await createKey(sql, { workspace: name, kind: "live", name: "bench" }, randomBytes)
  payers.push({ workspaceId, keyId: key.id })
}
await sql`create table bench_counter (id int primary key, n bigint not null)`
await sql`insert into bench_counter select i, 0 from generate_series(0, 63) i`

async function perSecond(work: (turn: number) => Promise<unknown>): Promise<number> {
  const until = performance.now() + SECONDS * 1_000
  let done = 0
  const worker = async (turn: number) => {
    for (; performance.now() < until; done++) await work(turn)
  }
  await Promise.all(Array.from({ length: 64 }, (_, i) => worker(i)))
  return done / SECONDS
}

const due = (i: number): Due => ({ ...payers[i]!, cost: 1, operation: "bench", requestId: crypto.randomUUID() })
const chargeInGroup = createChargeCall(sql)
const update = (i: number) => sql`update bench_counter set n = n + 1 where id = ${i}`

for (const [label, spread] of [
  ["one workspace", 1],
  ["64 workspaces", 64],
] as const) {
  const bare = await perSecond((turn) => update(turn % spread))
  const single = await perSecond((turn) => chargeAlone(sql, due(turn % spread)))
  const grouped = await perSecond((turn) => chargeInGroup(due(turn % spread)))
  const formatRate = (rate: number) => `${Math.round(rate)}/s, ${(rate / bare).toFixed(2)} of a one-row update`
  console.log(
    `charges, ${label}: in groups ${formatRate(grouped)}; alone ${formatRate(single)} (${Math.round(bare)}/s)`,
  )
}
const [{ used, ledger } = { used: -1, ledger: -2 }] = await sql<{ used: number; ledger: number }[]>`
  select (select sum(used)::bigint from account) as used, (select sum(cost)::bigint from ledger) as ledger`
console.log(`credits used ${used}, ledger ${ledger}${used === ledger ? "" : ": THEY DIFFER"}`)
await remove()
process.exit(used === ledger ? 0 : 1)
