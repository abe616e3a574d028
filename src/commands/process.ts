import { readFileSync } from "node:fs"
import process from "node:process"
import type { Environment } from "../settings/settings.ts"
import type { ProcessPort, StopReason } from "./cli/command.ts"
import { sentenceOf } from "./cli/sentence.ts"
import { processTerminal } from "./cli/terminal.ts"
import { run } from "./run.ts"

/** The program as the process it runs in; a runtime adds how it listens and how it reaches a Redis. */
export function openProcess(redisWire: ProcessPort["redisWire"]) {
  const terminal = processTerminal(process, process.env)
  const exit = (code: number) => process.exit(code)
  let stop: Parameters<ProcessPort["onStop"]>[0] = (_why: StopReason, error?: unknown) => {
    terminal.say(`appmeter: ${sentenceOf(error)}`)
    exit(1)
  }
  process.on("uncaughtException", (error) => stop("error", error))
  process.on("unhandledRejection", (error) => stop("error", error))

  const onStop = (handler: typeof stop): void => {
    stop = handler
    process.on("SIGTERM", () => stop("SIGTERM"))
    process.on("SIGINT", () => stop("SIGINT"))
  }

  return {
    /** Ends the process as an error would that nobody caught. */
    fail: (error: unknown) => stop("error", error),
    /** Runs what was typed, and ends the process with it. */
    async runToItsEnd(words: readonly string[], listen: ProcessPort["listen"], env: Environment = process.env) {
      const readFile = (path: string) => readFileSync(path, "utf8")
      const code = await run(words, { env, readFile, terminal, process: { listen, redisWire, onStop, exit } })
      await terminal.flush()
      exit(code)
    },
  }
}
