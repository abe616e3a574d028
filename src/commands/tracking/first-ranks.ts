import { setTimeout as sleep } from "node:timers/promises"
import type { Invocation } from "../cli/command.ts"
import { type ListedApp, useOperations } from "../reading/ask.ts"
import { readSides, shownRanks } from "../reading/ranks.ts"

const LONGEST_MS = 60_000
const POLL_MS = 500

/** Waits until every keyword that is being read has a rank, and shows the ranks. */
export async function showFirstRanks(
  // without `recorded`, because the audit already contains the change
  { recorded: _, ...invocation }: Invocation,
  app: ListedApp,
): Promise<void> {
  const { terminal, has } = invocation
  const until = performance.now() + LONGEST_MS
  await useOperations(invocation, async (ask) => {
    for (;;) {
      const sides = await readSides(ask, [app], {})
      const keywords = sides.flatMap((side) => side.keywords)
      const waiting = keywords.filter(({ measured, measuring }) => !measured && measuring).length
      terminal.progress(waiting > 0 ? `${keywords.length - waiting} of ${keywords.length} keywords read` : "")
      if (waiting === 0 || performance.now() > until) {
        terminal.progress("")
        if (!has("json")) terminal.out(shownRanks(sides, terminal).join("\n").concat("\n"))
        return
      }
      await sleep(POLL_MS)
    }
  })
}
