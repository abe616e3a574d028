// bun test/bench/durability.ts — the long form of test/packaging/durability.test.ts: kills the binary ROUNDS (40)
// times.
import { buildAlone } from "../packaging/alone.ts"
import { killRounds } from "../packaging/kills.ts"

const build = await buildAlone()
const { wrong, summary } = await killRounds(build, Number(process.env.ROUNDS ?? 40)).finally(() => build.remove())
for (const fault of wrong) console.log(fault)
console.log(summary)
process.exit(wrong.length > 0 ? 1 : 0)
