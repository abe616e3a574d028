import type { TrustedProxies } from "../access/addresses.ts"
import type { Invoke } from "../core/invoke.ts"
import { deprecationIn, type Operation } from "../core/operation.ts"
import { Fault } from "../lib/faults.ts"
import type { Log } from "../lib/log.ts"
import { bodyInput } from "./body.ts"
import { callerOf, logCall } from "./calls.ts"
import type { IncomingRequest } from "./incoming.ts"
import { queryInput } from "./query.ts"
import {
  answerResponse,
  isNamed,
  keyedFault,
  preparedResponse,
  requestedTable,
  weakTag,
  writeText,
} from "./responses.ts"
import type { Dispatch } from "./router.ts"

interface RestParts {
  invoke: Invoke
  dispatch: Dispatch
  trustedProxies: TrustedProxies
  now: () => Date
  log: Log
}

/** The REST surface: every path below /v1 that needs a key. */
export function createRest({ invoke, dispatch, trustedProxies, now, log }: RestParts) {
  return async (incoming: IncomingRequest): Promise<Response> => {
    const started = performance.now()
    const { request, requestId } = incoming
    let sent = {}
    const reply = await invoke({
      ...callerOf(incoming, trustedProxies),
      surface: "rest",
      target: async () => {
        const target = await targetOf(dispatch, incoming)
        sent = target.input
        return target
      },
      holds: holdsOf(request),
    })
    const path = reply.operation && `/v1${reply.operation.path}`
    logCall(log, incoming, reply, { method: request.method, path }, performance.now() - started)
    const { prepared, operation } = reply
    const deprecation = operation && deprecationIn(operation, sent)
    const details = { requestId, credits: reply.credits, rate: reply.rate, deprecation, now: now() }
    if (prepared && !requestedTable(request, operation)) return preparedResponse(request, prepared, details)
    if (prepared) reply.answer = JSON.parse(new TextDecoder().decode(prepared.body))
    if (reply.fault) return keyedFault(reply.fault, reply.answer, details)
    return answerResponse(request, reply, details)
  }
}

/**
 * Returns a function that checks whether the caller already has the current answer. Undefined if the request has no
 * If-None-Match.
 */
function holdsOf(request: Request) {
  const given = request.headers.get("if-none-match")
  if (given === null) return undefined
  return async (operation: Operation, answer: unknown) =>
    isNamed(given, weakTag((await writeText(request, operation, answer)).text))
}

async function targetOf(dispatch: Dispatch, { request, path, query }: IncomingRequest) {
  const { operation, params } = await dispatch(request.method, path.slice("/v1".length))
  const queryArguments = queryInput(operation, query, params)
  if (operation.method === "GET") return { operation, input: { ...queryArguments, ...params } }
  // a POST takes its arguments from the body, never from the query
  const [stray] = Object.keys(queryArguments)
  if (stray !== undefined) throw misplaced(stray, "belongs in the body, because a POST takes no query")
  const body = await bodyInput(request)
  for (const name in params) if (name in body) throw misplaced(name, "is part of the path")
  return { operation, input: { ...body, ...params } }
}

function misplaced(name: string, where: string): Fault {
  return new Fault("invalid_arguments", { field: name.slice(0, 64), detail: `This argument ${where}.` })
}
