import { type IRequest, IttyRouter, type IttyRouterType } from "itty-router"
import type { Operation } from "../core/operation.ts"
import { Fault } from "../lib/faults.ts"
import { codeOf, type Schema } from "../lib/schema.ts"
import type { IncomingRequest } from "./incoming.ts"

export interface Route {
  operation: Operation
  /** Path parameters, percent-decoded once. "+" stays "+". */
  params: Record<string, string>
}

export type Dispatch = (method: string, path: string) => Promise<Route>

/**
 * Throws unknown_endpoint, method_not_allowed (with Allow), or the code of a malformed parameter. itty-router tries
 * routes one after another (0.2 µs each), so an index by number and text of segments limits them to those that can
 * match. A path that equals an operation's path needs no router.
 */
export function createDispatch(catalog: readonly Operation[]): Dispatch {
  const index = new Map<string, Methods>()
  for (const operation of [...catalog].sort(literalsFirst)) register(index, operation)
  const literal = new Map(
    catalog.filter(isLiteral).map((operation) => [`${operation.method} ${operation.path}`, operation]),
  )
  return async (method, path) => {
    const named = literal.get(`${method} ${path}`)
    if (named) return { operation: named, params: {} }
    const candidates = shapes(path).flatMap((shape) => index.get(shape) ?? [])
    for (const methods of candidates) {
      const found = await methods.get(method)?.fetch({ method, url: `http://x${path}` })
      if (found) return { operation: found.operation, params: decoded(found) }
    }
    throw await missing(candidates, path)
  }
}

const isLiteral = ({ path }: Operation) => !path.includes(":")

type Methods = Map<string, Router>

type Router = IttyRouterType<IRequest, [], Route | undefined>

function register(index: Map<string, Methods>, operation: Operation): void {
  const [literal, parameter] = shapes(operation.path)
  const key = /:\w+$/.test(operation.path) ? parameter : literal
  const methods = index.get(key) ?? new Map<string, Router>()
  index.set(key, methods)
  const router: Router = methods.get(operation.method) ?? IttyRouter()
  methods.set(operation.method, router)
  router[operation.method.toLowerCase()]?.(operation.path, ({ params }: IRequest) => ({ operation, params }))
}

/**
 * Returns the index keys of a path: for routes that end in its last segment, and for routes that end in a parameter.
 */
function shapes(path: string): [literal: string, parameter: string] {
  let segments = 0
  for (let i = 0; i < path.length; i++) if (path.charCodeAt(i) === 47) segments++
  const second = path.indexOf("/", 1)
  const first = second < 0 ? path.slice(1) : path.slice(1, second)
  return [`${segments} ${first} ${path.slice(path.lastIndexOf("/") + 1)}`, `${segments} ${first} :`]
}

/** Sorts /reviews/search before /reviews/:id, because itty-router takes the first match. */
function literalsFirst(a: Operation, b: Operation): number {
  const rank = (path: string) => path.replaceAll(/:[^/]+/g, "\uffff")
  return rank(a.path) < rank(b.path) ? -1 : 1
}

function decoded({ operation, params }: Route): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, raw] of Object.entries(params)) {
    try {
      out[name] = decodeURIComponent(raw)
    } catch {
      throw new Fault(codeOf(operation.input.entries[name] as Schema | undefined), { field: name })
    }
  }
  return out
}

async function missing(candidates: Methods[], path: string): Promise<Fault> {
  const allowed = new Set<string>()
  for (const [method, router] of candidates.flatMap((methods) => [...methods]))
    if (await router.fetch({ method, url: `http://x${path}` })) allowed.add(method)
  return allowed.size > 0
    ? new Fault("method_not_allowed", {}, { allow: [...allowed].sort().join(", ") })
    : new Fault("unknown_endpoint")
}

/** A route without a key, for every method. Undefined passes the request to the next routes. */
export interface OpenRoute<Answer> {
  path: string
  answer(incoming: IncomingRequest): Answer | Promise<Answer> | undefined
}

/** Returns the router of all paths that need no key. It returns undefined if no route matches. */
export function createOpenRouter<Answer>(routes: readonly OpenRoute<Answer>[]) {
  const router = IttyRouter()
  for (const { path, answer } of routes) {
    const isPath = exactly(path)
    router.all(path, (_, incoming: IncomingRequest) => (isPath(incoming.path) ? answer(incoming) : undefined))
  }
  return async (incoming: IncomingRequest): Promise<Answer | undefined> =>
    await router.fetch({ method: "GET", url: `http://x/${incoming.path.slice(1)}` }, incoming)
}

/** itty-router ignores trailing slashes, which make a different address here. */
function exactly(route: string): (path: string) => boolean {
  if (route.endsWith("*")) return () => true
  return /[:(]/.test(route) ? (path) => !path.endsWith("/") : (path) => path === route
}
