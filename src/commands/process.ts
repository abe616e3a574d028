import { readFileSync } from "node:fs"
import process from "node:process"
import type { Environment } from "../settings/settings.ts"
import type { ProcessPort, StopReason } from "./cli/command.ts"
import { sentenceOf } from "./cli/sentence.ts"
import { processTerminal } from "./cli/terminal.ts"
import { run } from "./run.ts"

/** Connects the program to its process. Each runtime adds its way to listen and to reach Redis. */
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
    /** Ends the process like an uncaught error. */
    fail: (error: unknown) => stop("error", error),
    /** Runs the command and exits with its exit code. */
    async runToItsEnd(words: readonly string[], listen: ProcessPort["listen"], env: Environment = process.env) {
      const readFile = (path: string) => readFileSync(path, "utf8")
      const code = await run(words, { env, readFile, terminal, process: { listen, redisWire, onStop, exit } })
      await terminal.flush()
      exit(code)
    },
  }
}
