import type { Log } from "../../lib/log.ts"
import type { Invocation, StopReason } from "../cli/command.ts"

/** The time limit of a stop begins with the first call of `ask`. */
export interface Stop {
  ask(why: StopReason): void
  isAsked(): boolean
  reason: Promise<StopReason>
}

// Time from the signal until the process exits, whatever is still open.
const GONE_BY_MS = 24_500

// `bun run` and `timeout` forward a signal that the terminal sends to the whole group: it arrives twice.
const SAME_SIGNAL_MS = 500

/** Waits for the first signal or uncaught error. A second signal exits immediately. */
export function stopSignal({ process }: Invocation, log: Log): Stop {
  const { promise: reason, resolve } = Promise.withResolvers<StopReason>()
  let askedAt: number | undefined
  let gone: NodeJS.Timeout | undefined
  const ask = (why: StopReason) => {
    gone ??= setTimeout(() => process.exit(1), GONE_BY_MS)
    resolve(why)
  }
  process.onStop((why, error) => {
    if (why === "error") {
      const { message, stack } = error instanceof Error ? error : new Error(String(error))
      log("error", "uncaught_error", { reason: message, stack })
    } else if (askedAt === undefined) {
      askedAt = performance.now()
    } else if (performance.now() - askedAt > SAME_SIGNAL_MS) {
      log("warn", "stopped_immediately", { signal: why })
      process.exit(1)
    }
    ask(why)
  })
  return { ask, reason, isAsked: () => gone !== undefined }
}
