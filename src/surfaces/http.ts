import type { TrustedProxies } from "../access/addresses.ts"
import { Fault } from "../faults.ts"
import type { Invoke } from "../invoke.ts"
import type { Log } from "../log.ts"
import { bodyInput } from "./body.ts"
import { callerOf, logCall } from "./calls.ts"
import type { Incoming } from "./incoming.ts"
import { queryInput } from "./query.ts"
import { keyedResponse, preparedResponse } from "./responses.ts"
import type { Dispatch } from "./router.ts"

export interface RestParts {
  invoke: Invoke
  dispatch: Dispatch
  trustedProxies: TrustedProxies
  now: () => Date
  log: Log
}

/** REST: every path below /v1 that needs a key. */
export function createRest({ invoke, dispatch, trustedProxies, now, log }: RestParts) {
  return async (incoming: Incoming): Promise<Response> => {
    const started = performance.now()
    const { request, requestId } = incoming
    const reply = await invoke({
      ...callerOf(incoming, trustedProxies),
      surface: "rest",
      target: () => targetOf(dispatch, incoming),
    })
    const path = reply.operation && `/v1${reply.operation.path}`
    logCall(log, incoming, reply, { method: request.method, path }, performance.now() - started)
    const shown = { requestId, credits: reply.credits, now: now() }
    if (reply.prepared) return preparedResponse(reply.prepared, shown)
    return keyedResponse(reply.status, reply.answer, shown, reply.fault)
  }
}

async function targetOf(dispatch: Dispatch, { request, path, query }: Incoming) {
  const { operation, params } = await dispatch(request.method, path.slice("/v1".length))
  const asked = queryInput(operation, query, params)
  if (operation.method === "GET") return { operation, input: { ...asked, ...params } }
  // a POST takes its arguments from the body alone
  const [stray] = Object.keys(asked)
  if (stray !== undefined) throw new Fault("invalid_arguments", { field: stray.slice(0, 64) })
  const body = await bodyInput(request)
  for (const name in params) if (name in body) throw new Fault("invalid_arguments", { field: name })
  return { operation, input: { ...body, ...params } }
}
