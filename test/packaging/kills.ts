import { join } from "node:path"
import { until } from "../jobs/platform.ts"
import type { Alone } from "./alone.ts"
import { checkDirectory } from "./amcheck.ts"
import { Trial } from "./trial.ts"

export interface Killed {
  /** What was wrong, each with its round. */
  wrong: string[]
  batches: number
  imports: number
  /** One line of counts. */
  summary: string
}

/** The folder of what is killed, in that of the binary. */
export const KILLED = "killed"

/**
 * Kills the serving binary (kill -9) so many times while clients write, each time at another moment; in every third
 * round the next start is killed too, while it recovers. amcheck reads what each kill left, and the start after it must
 * have every write that was acknowledged until then. The last one is stopped in order.
 */
export async function killRounds(alone: Alone, rounds: number, trial = new Trial(alone, KILLED)): Promise<Killed> {
  const { batches, paid, imports } = trial.acknowledged
  const wrong: string[] = []
  let checked = 0
  const check = async (when: string) => {
    const { tables, indexes, problems } = await checkDirectory(join(alone.folder, KILLED, "postgres"))
    wrong.push(...problems.map((problem) => `${when}: ${problem}`))
    checked += tables + indexes
  }
  const judge = async (when: string) => {
    wrong.push(...(await trial.judge()).map((fault) => `${when}: ${fault}`))
  }
  try {
    for (let round = 1; round <= rounds; round++) {
      await trial.start()
      await judge(`before kill ${round}`)
      const confirmed = batches.size
      trial.write({ checkpoints: round % 2 === 0 })
      // also on a machine that is slow to answer each kill comes among writes
      await until(() => batches.size > confirmed + 1 && (round < rounds || imports.size > 0))
      await Bun.sleep(300 + ((round * 337) % 900))
      await trial.kill()
      await check(`kill ${round}`)
      if (round % 3 === 0) await trial.startKilled((round * 137) % 600)
    }
    await trial.start()
    await judge("at the end")
    await trial.stop()
    await check("at the end")
  } finally {
    await trial.kill()
  }
  return {
    wrong: [...wrong, ...trial.refused],
    batches: batches.size,
    imports: imports.size,
    summary:
      `${rounds} kills: ${batches.size} confirms, ${imports.size} imports and ${paid.size} charges acknowledged; ` +
      `amcheck read ${checked} tables and indexes; ${wrong.length} faults, ${trial.refused.length} refusals`,
  }
}
