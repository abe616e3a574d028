import { join } from "node:path"
import { until } from "../jobs/platform.ts"
import type { Alone } from "./alone.ts"
import { checkDirectory } from "./amcheck.ts"
import { Trial } from "./trial.ts"

export interface Killed {
  /** The problems found, each with its round. */
  wrong: string[]
  batches: number
  imports: number
  /** One line with the counts. */
  summary: string
}

/** The data folder of the killed server, inside the binary's folder. */
export const KILLED = "killed"

/**
 * Kills the serving binary (kill -9) this many times while clients write, each time at another moment. In every third
 * round it also kills the next start during recovery. amcheck reads the directory after each kill, and the next start
 * must have every write that was acknowledged before. The last server is stopped in order.
 */
export async function killRounds(binary: Alone, rounds: number, trial = new Trial(binary, KILLED)): Promise<Killed> {
  const { batches, paid, imports } = trial.acknowledged
  const wrong: string[] = []
  let checked = 0
  const check = async (moment: string) => {
    const { tables, indexes, problems } = await checkDirectory(join(binary.folder, KILLED, "postgres"))
    wrong.push(...problems.map((problem) => `${moment}: ${problem}`))
    checked += tables + indexes
  }
  const judge = async (moment: string) => {
    wrong.push(...(await trial.judge()).map((fault) => `${moment}: ${fault}`))
  }
  try {
    for (let round = 1; round <= rounds; round++) {
      await trial.start()
      await judge(`before kill ${round}`)
      const confirmed = batches.size
      trial.write({ checkpoints: round % 2 === 0 })
      // ensures that each kill comes during writes, even if the machine answers slowly
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
