// bun test/bench/change-impact.ts — measures how often the 90 % interval of get_change_impact contains the true effect
// in 1,000 seeded worlds, and how often it detects effects of 20 and 10 %.
import { HISTORY, tallyOf } from "../consoles/impact/worlds.ts"

const WORLDS = 1_000
const share = (count: number) => `${((100 * count) / WORLDS).toFixed(1)} %`

for (const window of [7, 14] as const) {
  for (const effect of [0, 0.1, 0.2]) {
    const { covered, found, half } = tallyOf(WORLDS, { days: HISTORY[window], window, effect })
    const wide = `${(100 * half).toFixed(1)} %`
    console.log(
      `window ${window}, ${HISTORY[window]} days, truth ${100 * effect} %: ` +
        `held ${share(covered)}, found ${share(found)}, half-width ${wide}`,
    )
  }
}
