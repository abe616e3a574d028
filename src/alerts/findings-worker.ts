import { isConnectionProblem } from "../database/gate.ts"
import { firstOf } from "../jobs/timers.ts"
import { createWorker, type Run, type Worker, type WorkerOptions } from "../jobs/worker.ts"
import { claimNext } from "../measuring/claim.ts"
import { type Claim, endFailed, endMeasured, extend, giveBack, LeaseLost, recover } from "../measuring/due.ts"
import type { DueWork } from "../measuring/due-kind.ts"
import { retryDeadlocks } from "../measuring/record/record.ts"
import { RETRY, type Retry } from "../measuring/rescheduling.ts"
import { deriveFindings } from "./findings.ts"

export interface FindingsOptions extends WorkerOptions {
  retry?: Retry
  find?: typeof deriveFindings
}

/** The table `due` has a row for each tracked app and storefront: due soon after a relevant reading, and once a day. */
const FINDINGS = (["ios", "android"] as const).map(
  (platform): DueWork => ({ name: "findings", platform, together: 1, everyDays: 1 }),
)

/** Derives alerts from stored readings. Any number of processes may run it. It sends no requests. */
export function createFindings(options: FindingsOptions): Worker {
  const { sql, log, now = () => new Date(), random = Math.random, retry = RETRY, find = deriveFindings } = options
  const { atOnce = 6, pollMs = 1_000, leaseMs = 30_000, stopMs = 15_000 } = options
  const broken = firstOf(log, "findings_failed", "error")
  return createWorker<"findings", Claim<DueWork>>(
    {
      lanes: ["findings"],
      atOnce,
      claim: () => claimNext(sql, null, FINDINGS, { leaseMs, pollMs, now }),
      perform: (run) =>
        findNews(run, { sql, now, find }).then(broken.worked, async (error) => {
          if (error instanceof LeaseLost) return log("warn", "findings_lease_lost", { reason: error.message })
          if (!isConnectionProblem(error)) broken.failed(error)
          await endFailed(sql, run.claim, { failure: "failed", retry, random: random() })
        }),
      giveBack: (claim) => giveBack(sql, claim, null),
      extend: (claims) => extend(sql, claims, leaseMs),
      recover: () => recover(sql, retry, random()),
    },
    { leaseMs, pollMs, stopMs, now, ends: firstOf(log, "findings_worker_failed") },
  )
}

/** Stores the findings and the end of the claim in one transaction, so that each alert is stored once. */
async function findNews(
  run: Run<Claim<DueWork>>,
  { sql, now, find }: Required<Pick<FindingsOptions, "sql" | "now" | "find">>,
): Promise<void> {
  run.isEnding = true
  await retryDeadlocks(() =>
    sql.begin(async (tx) => {
      await find(tx, run.claim.subjects, now())
      await endMeasured(tx, run.claim)
    }),
  )
}
