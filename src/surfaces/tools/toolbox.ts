import { type Operation, TOOLSETS, type Toolset, toolInput } from "../../operation.ts"
import { once } from "../../vocabulary/prepared.ts"
import type { OperationCall } from "./calling.ts"
import { invalidParams, RpcError } from "./errors.ts"
import { toolOf } from "./listing.ts"
import { isObject } from "./message.ts"
import { answered, failed } from "./results.ts"

export interface Toolbox {
  open: ReadonlySet<Toolset> | null
  /** The JSON of the list: by name, in one page. */
  list(): string
  /** The call that params of tools/call ask for. Throws RpcError. */
  call(params: Record<string, unknown>): OperationCall
}

/**
 * All, or with ?tools=keywords,reviews those of the toolsets named: the rest can neither be seen nor called. With
 * ?schemas=yes the list has answers' schemas. Throws RpcError for any other query.
 */
export function createToolboxes(catalog: readonly Operation[]): (query: string) => Toolbox {
  const byName = new Map(catalog.map((operation) => [operation.id, operation]))
  const shown = { short: once(() => shownTools(catalog, false)), whole: once(() => shownTools(catalog, true)) }
  return (query) => {
    const { open, withOutput } = query === "" ? EVERYTHING : openedBy(query)
    return {
      open,
      list() {
        const tools = withOutput ? shown.whole() : shown.short()
        const seen = open ? tools.filter(({ toolset }) => open.has(toolset)) : tools
        return `[${seen.map(({ json }) => json).join(",")}]`
      },
      call(params) {
        const operation = byName.get(nameOf(params))
        if (!operation || open?.has(operation.toolset) === false)
          throw invalidParams(`Unknown tool: ${nameOf(params).slice(0, 64)}`)
        return { operation, input: toolInput(operation, argumentsOf(params)), answered, failed }
      },
    }
  }
}

function shownTools(catalog: readonly Operation[], withOutput: boolean) {
  return [...catalog]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((operation) => ({ toolset: operation.toolset, json: JSON.stringify(toolOf(operation, withOutput)) }))
}

interface OpenToolsets {
  open: ReadonlySet<Toolset> | null
  withOutput: boolean
}

const EVERYTHING: OpenToolsets = { open: null, withOutput: false }

function openedBy(query: string): OpenToolsets {
  const opened = { ...EVERYTHING }
  const seen = new Set<string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (seen.has(name)) throw badQuery()
    seen.add(name)
    if (name === "tools") opened.open = toolsetsIn(value)
    else if (name === "schemas" && value === "yes") opened.withOutput = true
    else throw badQuery()
  }
  if (seen.size === 0) throw badQuery()
  return opened
}

function toolsetsIn(list: string): Set<Toolset> {
  const names = list.split(",")
  if (!names.every((name): name is Toolset => (TOOLSETS as readonly string[]).includes(name))) throw badQuery()
  return new Set(names)
}

const badQuery = () =>
  new RpcError(
    -32602,
    400,
    `The query parameters are tools, a comma list of toolsets (${TOOLSETS.join(", ")}), and schemas=yes, which lists the schemas of answers.`,
  )

function nameOf({ name }: Record<string, unknown>): string {
  if (typeof name !== "string") throw invalidParams("name must be a string: a tool's name from tools/list.")
  return name
}

function argumentsOf({ arguments: given = {} }: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(given)) throw invalidParams("arguments must be an object.")
  return given
}
