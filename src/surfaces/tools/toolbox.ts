import type { Target } from "../../invoke.ts"
import { type Operation, TOOLSETS, type Toolset } from "../../operation.ts"
import { once } from "../../vocabulary/prepared.ts"
import { invalidParams, RpcError } from "./errors.ts"
import { toolOf } from "./listing.ts"
import { isObject } from "./message.ts"

/** The tools of one request. */
export interface Toolbox {
  /** The JSON of the list: by name, in one page. */
  list(): string
  /** The call that params of tools/call ask for. Throws RpcError. */
  target(params: Record<string, unknown>): Target
}

/**
 * Gives the tools that a query opens: all of them, or with ?tools=keywords,reviews those of the toolsets named. The rest
 * can then neither be seen nor called, so an endpoint without "writes" is an assistant that cannot change anything.
 * Throws RpcError for any other query.
 */
export function createToolboxes(catalog: readonly Operation[]): (query: string) => Toolbox {
  const byName = new Map(catalog.map((operation) => [operation.id, operation]))
  const tools = once(() =>
    [...catalog]
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((operation) => ({ operation, json: JSON.stringify(toolOf(operation)) })),
  )
  const listOf = (shown: ReturnType<typeof tools>) => `[${shown.map(({ json }) => json).join(",")}]`
  const all = once(() => listOf(tools()))
  return (query) => {
    const open = query === "" ? null : toolsetsOf(query)
    return {
      list: () => (open ? listOf(tools().filter(({ operation }) => open.has(operation.toolset))) : all()),
      target(params) {
        const operation = byName.get(nameOf(params))
        if (!operation || open?.has(operation.toolset) === false)
          throw invalidParams(`Unknown tool: ${nameOf(params).slice(0, 64)}`)
        return { operation, input: { ...operation.toolDefaults, ...argumentsOf(params) } }
      },
    }
  }
}

function toolsetsOf(query: string): Set<Toolset> {
  const asked = [...new URLSearchParams(query)]
  if (asked.length !== 1 || asked[0]?.[0] !== "tools") throw badQuery()
  const names = asked[0][1].split(",")
  if (!names.every((name): name is Toolset => (TOOLSETS as readonly string[]).includes(name))) throw badQuery()
  return new Set(names)
}

const badQuery = () =>
  new RpcError(-32602, 400, `The one query parameter is tools, a comma list of toolsets: ${TOOLSETS.join(", ")}.`)

function nameOf({ name }: Record<string, unknown>): string {
  if (typeof name !== "string") throw invalidParams("name must be a string: a tool's name from tools/list.")
  return name
}

function argumentsOf({ arguments: given = {} }: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(given)) throw invalidParams("arguments must be an object.")
  return given
}
