import { type Operation, TOOLSETS, type Toolset, toolInput } from "../../core/operation.ts"
import { DAILY_TOOLS } from "../../lib/daily-tools.ts"
import { isRecord } from "../../lib/objects.ts"
import { once } from "../../lib/prepared.ts"
import type { OperationCall } from "./calling.ts"
import { invalidParams, RpcError } from "./errors.ts"
import { toolOf } from "./listing.ts"
import { answered, failed } from "./results.ts"

export interface Toolbox {
  /** The open toolsets. Null if every prompt is offered. */
  open: ReadonlySet<Toolset> | null
  /** The JSON of the tool list, sorted by name, on one page. */
  list(): string
  /** Returns the call for the params of tools/call. Throws RpcError. */
  call(params: Record<string, unknown>): OperationCall
}

/**
 * Returns all tools, or those of the toolsets in ?tools=keywords,reviews; other tools can then be neither listed nor
 * called. "daily" is a selection from all toolsets. ?schemas=yes adds output schemas to the list. Throws RpcError for
 * any other query.
 */
export function createToolboxes(catalog: readonly Operation[]): (query: string) => Toolbox {
  const byName = new Map(catalog.map((operation) => [operation.id, operation]))
  const lists = { short: once(() => shownTools(catalog, false)), whole: once(() => shownTools(catalog, true)) }
  return (query) => {
    const { open, daily, withOutput } = query === "" ? EVERYTHING : openedBy(query)
    const isOpen = ({ id, toolset }: Pick<Operation, "id" | "toolset">) =>
      open === null || open.has(toolset) || (daily && DAILY.has(id))
    return {
      // the daily tools include every tool that a prompt names
      open: daily ? null : open,
      list() {
        const tools = withOutput ? lists.whole() : lists.short()
        return `[${tools
          .filter(isOpen)
          .map(({ json }) => json)
          .join(",")}]`
      },
      call(params) {
        const operation = byName.get(nameOf(params))
        if (!operation || !isOpen(operation)) throw invalidParams(`Unknown tool: ${nameOf(params).slice(0, 64)}`)
        return { operation, input: toolInput(operation, argumentsOf(params)), answered, failed }
      },
    }
  }
}

function shownTools(catalog: readonly Operation[], withOutput: boolean) {
  return [...catalog]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((operation) => ({
      id: operation.id,
      toolset: operation.toolset,
      json: JSON.stringify(toolOf(operation, withOutput)),
    }))
}

interface OpenToolsets {
  open: ReadonlySet<Toolset> | null
  daily: boolean
  withOutput: boolean
}

const EVERYTHING: OpenToolsets = { open: null, daily: false, withOutput: false }

const DAILY = new Set(DAILY_TOOLS)

function openedBy(query: string): OpenToolsets {
  const opened = { ...EVERYTHING }
  const seen = new Set<string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (seen.has(name)) throw badQuery()
    seen.add(name)
    if (name === "tools") Object.assign(opened, toolsIn(value))
    else if (name === "schemas" && value === "yes") opened.withOutput = true
    else throw badQuery()
  }
  if (seen.size === 0) throw badQuery()
  return opened
}

function toolsIn(list: string): Pick<OpenToolsets, "open" | "daily"> {
  const names = list.split(",")
  const sets = names.filter((name) => name !== "daily")
  if (!sets.every((name): name is Toolset => (TOOLSETS as readonly string[]).includes(name))) throw badQuery()
  return { open: new Set(sets), daily: names.includes("daily") }
}

const badQuery = () =>
  new RpcError(
    -32602,
    400,
    `The query parameters are tools, a comma list of toolsets (daily, ${TOOLSETS.join(", ")}), and schemas=yes, ` +
      "which lists the schemas of answers.",
  )

function nameOf({ name }: Record<string, unknown>): string {
  if (typeof name !== "string") throw invalidParams("name must be a string: a tool's name from tools/list.")
  return name
}

function argumentsOf({ arguments: given = {} }: Record<string, unknown>): Record<string, unknown> {
  if (!isRecord(given)) throw invalidParams("arguments must be an object.")
  return given
}
