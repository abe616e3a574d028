import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import { PLAY_PUBLISHER_HOST } from "../../lib/upstreams.ts"
import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { OutboundProblem } from "../../outbound/problem.ts"
import type { OutboundAnswer } from "../../outbound/safe-fetch.ts"
import { ConsoleProblem } from "../console.ts"
import type { Play } from "../play/client.ts"
import { problemOf } from "../play/problem.ts"

/**
 * Returns the connection to Google Play's publisher API for writes. It throws a Fault if an error certainly left
 * everything unchanged, and another error if the change may have been made.
 */
export function playWay(play: Play, { account, app }: { account: string; app: string }): PlatformWay {
  return {
    account,
    app,
    currency: null,
    async ask({ path }, signal) {
      try {
        return await play.document(PLAY_PUBLISHER_HOST, path, {}, signal)
      } catch (error) {
        throw error instanceof ConsoleProblem ? faultOf(error) : error
      }
    },
    async send({ method, path, body = {}, missing }, signal) {
      if (method !== "POST") throw new Error("the publisher API accepts changes only by POST")
      const answer = await play.post(PLAY_PUBLISHER_HOST, path, body, signal).catch(refuseUnsent)
      const { status, bytes } = answer
      if (status === 404) throw missing()
      const found = status < 300 ? documentIn(bytes) : null
      if (found) return found
      throw refusalOf(answer) ?? new Error(`Google answers ${status}, and the change may have been made`)
    },
  }
}

/**
 * Converts the error to a fault if the request certainly did not arrive or Google gave no token, because nothing was
 * changed then.
 */
function refuseUnsent(error: unknown): never {
  if (error instanceof ConsoleProblem) throw faultOf(error)
  throw error instanceof OutboundProblem && !error.isSent ? unavailable() : error
}

/**
 * Returns the fault of a refusal. Null if Google may have made the change despite the status. A used-up quota does not
 * count as a refusal: only a read of the review shows what was done.
 */
function refusalOf(answer: OutboundAnswer): Fault | null {
  const problem = answer.status >= 400 && answer.status < 500 ? problemOf(answer, new Date()) : null
  return problem && problem.trouble !== "limited" ? faultOf(problem) : null
}

function faultOf({ trouble, message, details, retryAfterMs }: ConsoleProblem): Fault {
  const detail = `${message[0]!.toUpperCase()}${message.slice(1)}.`
  switch (trouble) {
    case "forbidden":
      return new Fault("not_connected", { detail: details.includes("accessNotConfigured") ? detail : NO_RIGHT })
    case "unauthorized":
    case "agreement":
      return new Fault("not_connected", { detail })
    case "refused":
      return new Fault("invalid_arguments", { detail })
    default:
      return unavailable(retryAfterMs)
  }
}

const NO_RIGHT =
  "The service account may not read or reply to reviews of this app. Give it the permission Reply to reviews in " +
  "Play Console, Users and permissions."

function unavailable(retryAfterMs: number | null = null): Fault {
  const detail = "Google Play Console could not be reached; nothing was changed. Try again later."
  return new Fault(
    "unavailable",
    { detail },
    retryAfterMs === null ? {} : { retryAfter: Math.ceil(retryAfterMs / 1_000) },
  )
}

function documentIn(bytes: Uint8Array): PlatformDocument | null {
  const found = jsonOrNothing(new TextDecoder().decode(bytes))
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as PlatformDocument) : null
}
