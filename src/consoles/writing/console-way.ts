import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { OutboundAnswer } from "../../outbound/safe-fetch.ts"
import { type Console, ConsoleProblem, type ConsoleTrouble, errorsIn, problemOf } from "../console.ts"

/**
 * Returns the connection to App Store Connect for writes. It throws a Fault if an error certainly left everything
 * unchanged, and the original error if the change may have been made.
 */
export function consoleWay(console: Console, { account, app }: { account: string; app: string }): PlatformWay {
  return {
    account,
    app,
    currency: null,
    async ask({ path }, signal) {
      try {
        const { status, bytes } = await console.get(path, signal)
        if (status === 404) return null
        const found = documentIn(bytes)
        if (!found) throw new Fault("asc_unavailable")
        return found
      } catch (error) {
        throw error instanceof ConsoleProblem ? faultOf(error) : error
      }
    },
    async send({ method, path, body, missing }, signal) {
      if (method === "PUT") throw new Error("the console accepts changes only by POST, PATCH and DELETE")
      const answer = await console.send({ method, path, body }, signal).catch(refuseUnsent)
      const { status, bytes } = answer
      if (status === 204) return {}
      if (status === 404) throw missing()
      const found = status < 300 ? documentIn(bytes) : null
      if (found) return found
      throw refusalOf(answer) ?? new Error(`the console answers ${status}, and the change may have been made`)
    },
  }
}

/** Converts the error to a fault if the request certainly did not arrive, because nothing was changed then. */
function refuseUnsent(error: unknown): never {
  throw error instanceof OutboundProblem && !error.isSent ? new Fault("asc_unavailable") : error
}

/** Returns the fault of a refusal. Null if the console may have made the change despite the status. */
function refusalOf(answer: OutboundAnswer): Fault | null {
  const { status, bytes } = answer
  if (status < 400 || status >= 500) return null
  if (status === 401 || status === 403 || status === 429) return faultOf(problemOf(answer, new Date())!)
  return new Fault("asc_rejected", { detail: textOf(bytes) || `The console answers ${status}.` })
}

const FAULTS: Record<ConsoleTrouble, (problem: ConsoleProblem) => Fault> = {
  unauthorized: () => new Fault("asc_unavailable"),
  forbidden: () => new Fault("asc_role"),
  agreement: ({ message }) => new Fault("asc_rejected", { detail: `${message[0]!.toUpperCase()}${message.slice(1)}.` }),
  limited: () => new Fault("asc_unavailable"),
  unavailable: () => new Fault("asc_unavailable"),
  refused: ({ message }) => new Fault("asc_rejected", { detail: `${message[0]!.toUpperCase()}${message.slice(1)}.` }),
}

function faultOf(problem: ConsoleProblem): Fault {
  return FAULTS[problem.trouble](problem)
}

const MAX_TEXT = 600

/** Returns the console's reason for its refusal, as data: one line, truncated, without control characters. */
function textOf(bytes: Uint8Array): string {
  const texts = errorsIn(bytes).map(({ detail, title, code }) =>
    [detail, title, code].find((text) => typeof text === "string"),
  )
  return texts
    .filter((text) => text !== undefined)
    .join("; ")
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT)
}

function documentIn(bytes: Uint8Array): PlatformDocument | null {
  const found = jsonOrNothing(new TextDecoder().decode(bytes))
  return typeof found === "object" && found !== null ? (found as PlatformDocument) : null
}
