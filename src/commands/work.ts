import type { Command } from "./cli/command.ts"
import { untilStopped } from "./process/until-stopped.ts"

export const work: Command = {
  name: "work",
  summary: "Read the stores and send alerts without serving the API.",
  details: "Run it beside servers with MEASURE=no, or on a machine with another address.",
  examples: [["work", "set the same DATABASE_URL as the servers; all workers share one request rate"]],
  logs: true,
  run: (invocation) =>
    untilStopped(invocation, async () => {
      const { openWorkers } = await import("./process/workers.ts")
      return async ({ database, stop, log }) => {
        const workers = await openWorkers(invocation.settings, { sql: database.sql, log, as: "reader" })
        workers.start()
        log("info", "worker_started", { database: database.kind })
        log("info", "stopping", { signal: await stop.reason })
        await workers.stop()
      }
    }),
}
