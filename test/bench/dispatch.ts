// bun test/bench/dispatch.ts — the router alone, last of 10, 100 and 200 routes, as ratios to 10.
import * as v from "valibot"
import { type Operation, operation } from "../../src/operation.ts"
import { createDispatch } from "../../src/surfaces/router.ts"

const RESOURCES = ["apps", "apps", "apps", "apps", "hive", "hive", "jobs", "actions"]

// Crowded like the service's own paths, half of which are /apps/:appId/NAME.
function routes(n: number): Operation[] {
  return Array.from({ length: n }, (_, i) =>
    operation({
      id: `op_${i}`,
      method: "GET",
      path: `/${RESOURCES[i % 8]}/:id/${"deep/".repeat(i % 3)}r${i}`,
      group: "Hive",
      toolset: "hive",
      summary: "",
      effect: "reads",
      scope: null,
      price: 0,
      faults: [],
      input: v.strictObject({ id: v.string() }),
      output: v.strictObject({}),
    }).run(async () => ({})),
  )
}

async function nanoseconds(n: number): Promise<number> {
  const all = routes(n)
  const dispatch = createDispatch(all)
  const path = (all.at(-1) as Operation).path.replace(":id", "x")
  const times: number[] = []
  for (let round = 0; round < 9; round++) {
    const started = Bun.nanoseconds()
    for (let i = 0; i < 20_000; i++) await dispatch("GET", path)
    times.push((Bun.nanoseconds() - started) / 20_000)
  }
  return times.sort((a, b) => a - b)[4] as number
}

await nanoseconds(10)
const base = await nanoseconds(10)
for (const n of [10, 100, 200]) {
  const each = n === 10 ? base : await nanoseconds(n)
  console.log(`dispatch among ${n} routes: ${Math.round(each)} ns, ${(each / base).toFixed(2)} of 10 routes`)
}
