import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import type { Ads, AdsAnswer } from "../ads/client.ts"
import { AdsProblem } from "../ads/problem.ts"

interface AdsAccount {
  account: string
  app: string
  currency: string | null
}

/**
 * Returns the connection to Apple Ads for writes. It throws a Fault if an error certainly left everything unchanged,
 * and the original error if the change may have been made.
 */
export function adsWay(ads: Ads, account: AdsAccount): PlatformWay {
  return {
    ...account,
    async ask({ path, body }, signal) {
      try {
        return documentOf(body ? await ads.query(path, body, signal) : await ads.get(path, signal))
      } catch (error) {
        if (!(error instanceof AdsProblem)) throw error
        if (error.status === 404) return null
        throw questionFault(error)
      }
    },
    async send({ method, path, body = {}, missing }, signal) {
      if (method !== "PUT" && method !== "POST") throw new Error("Apple Ads accepts changes only by PUT and POST")
      try {
        return documentOf(await ads.send(method, path, body, signal))
      } catch (error) {
        throw error instanceof AdsProblem ? (changeFault(error, missing) ?? error) : error
      }
    },
  }
}

function documentOf({ result }: AdsAnswer): PlatformDocument {
  return { result }
}

function questionFault(problem: AdsProblem): Fault {
  const { trouble } = problem
  if (trouble === "forbidden") return roleFault()
  if (trouble === "refused") return refusedFault(problem)
  return unavailable(problem)
}

/** Returns the fault of an error. Null if the change may have been made despite the error. */
function changeFault(problem: AdsProblem, missing: () => Fault): Fault | null {
  const { status, trouble, isSent } = problem
  if (!isSent || trouble === "limited" || trouble === "unauthorized") return unavailable(problem)
  if (trouble === "forbidden") return roleFault()
  if (status === 404) return missing()
  return trouble === "refused" ? refusedFault(problem) : null
}

function roleFault(): Fault {
  return new Fault("not_connected", {
    detail:
      "The role of the API user does not permit writes. Writes need API Account Manager, or Limited Access: API " +
      "Read & Write.",
  })
}

/** Quotes the platform's message and field as data. */
function refusedFault({ refusals }: AdsProblem): Fault {
  const [first] = refusals
  const reasons = refusals.map(({ code, message }) => (message ? `${message} (${code})` : code)).join("; ")
  const detail = `Apple Ads rejected the change: ${reasons || "without a reason"}`.slice(0, 600)
  return new Fault("invalid_arguments", { detail, ...(first?.field && { field: first.field }) })
}

function unavailable({ retryAfterMs }: AdsProblem): Fault {
  const detail = "Apple Ads could not be reached; nothing was changed. Try again later."
  return new Fault(
    "unavailable",
    { detail },
    retryAfterMs === null ? {} : { retryAfter: Math.ceil(retryAfterMs / 1_000) },
  )
}
