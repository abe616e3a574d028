import { createLog, type Log } from "../../lib/log.ts"
import { CommandProblem, type ExitCode, type Invocation } from "../cli/command.ts"
import { linesOf } from "../cli/read-lines.ts"
import { sentenceOf } from "../cli/sentence.ts"
import { stopSignal } from "../process/stop.ts"
import { type BridgeParts, bridge } from "./bridge.ts"
import { explainRemote, isUnencrypted, openRemote } from "./remote.ts"

interface Assistant {
  key: string
  /** The tool endpoint of a server. Undefined to use the endpoint in this process. */
  server: URL | undefined
  query: string
}

/** Forwards an assistant's messages until it closes stdin or the process is stopped. Returns the exit code. */
export async function passMessages(invocation: Invocation, { key, server, query }: Assistant): Promise<ExitCode> {
  const { terminal, settings } = invocation
  const stdin = inputOf(invocation)
  const log = createLog(terminal.err, settings.logLevel === "debug" ? "debug" : "warn")
  const stop = stopSignal(invocation, log)
  const { url, endpoint, explain, close } = server ? remote(server, terminal.say) : await inProcess(invocation, log)
  try {
    await bridge({
      url: url + query,
      key,
      endpoint,
      explain,
      lines: linesOf(stdin),
      stopped: stop.reason,
      write: (line) => terminal.out(`${line}\n`),
      say: (text) => terminal.say(`appmeter: ${text}`),
    })
  } finally {
    await close()
  }
  return stop.isAsked() && (await stop.reason) === "error" ? 1 : 0
}

interface OpenBridge extends Pick<BridgeParts, "url" | "endpoint" | "explain"> {
  close(): Promise<void>
}

function remote(server: URL, say: (line: string) => void): OpenBridge {
  if (isUnencrypted(server))
    say(`appmeter: warning: requests to ${server.origin} are not encrypted (no TLS); the key can be read in transit`)
  const explain = (error: unknown) => explainRemote(server, error)
  return { url: server.href, endpoint: openRemote(server, process.env), explain, close: async () => {} }
}

/** Imports the service here, because forwarding to a server does not need it. */
async function inProcess(invocation: Invocation, log: Log): Promise<OpenBridge> {
  const { HERE_URL, openInProcess } = await import("./in-process.ts")
  return { url: HERE_URL, explain: sentenceOf, ...(await openInProcess(invocation, log)) }
}

function inputOf({ terminal }: Invocation): AsyncIterable<Uint8Array> {
  try {
    return terminal.stdin()
  } catch {
    throw new CommandProblem(
      "an assistant starts this command and uses it over a pipe; appmeter packaging assistants prints the " +
        "configuration",
    )
  }
}
