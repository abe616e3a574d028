import type { OperationId } from "../../answers.ts"
import { creditsText, type Operation } from "../../core/operation.ts"
import { type TableType, tableColumns, tableText } from "../../http/tables.ts"
import { jsonSchema } from "../../lib/schema.ts"
import { nearest } from "../../lib/text.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "../cli/command.ts"
import { fitted, printable, table } from "../cli/show.ts"
import { useOperations, WORKSPACE } from "./ask.ts"
import { inputOf } from "./words.ts"

export const call: Command = {
  name: "call",
  summary: "Run a read operation, or list all of them.",
  details: "Reads the database directly. Needs no key and costs nothing.",
  examples: [
    ["call", "list all read operations"],
    ["call list_keyword_ranks --about", "describe the operation and its arguments"],
    ["call list_keyword_ranks appId=app_4fD0Zs81hQbK country=us", "print a table"],
    ["call get_rank_history appId=app_4fD0Zs81hQbK days=90 --csv", "print CSV for a spreadsheet"],
  ],
  positionals: ["operation?", "name=value…?"],
  options: {
    workspace: WORKSPACE,
    about: { meaning: "Describe the operation and its arguments instead of running it." },
    csv: { meaning: "Print CSV, if the answer has rows." },
    jsonl: { meaning: "Print one JSON object per row, if the answer has rows." },
  },
  async run(invocation) {
    const { terminal, has, positionals } = invocation
    const { catalog } = await import("../../catalog.ts")
    const [id, ...typed] = positionals
    if (id === undefined) {
      listOperations(invocation, catalog)
      return 0
    }
    const operation = readingNamed(id, catalog)
    if (has("about")) {
      terminal.out(about(operation).join("\n").concat("\n"))
      return 0
    }
    const format = formatOf(invocation, operation)
    const input = inputOf(operation, typed)
    const answer = await useOperations(invocation, (ask) => ask(operation.id as OperationId, input))
    if (format) terminal.out(await tableText(operation, answer, format))
    else if (has("json") || !operation.table) terminal.json(answer)
    else for (const line of rowsOf(operation, answer)) terminal.out(`${fitted(line, terminal.columns())}\n`)
    return 0
  },
}

function listOperations({ terminal, has }: Invocation, catalog: readonly Operation[]): void {
  const reading = catalog.filter(isReading)
  if (has("json")) {
    terminal.json({ operations: reading.map(({ id, summary }) => ({ id, summary })) })
    return
  }
  const rows = reading.map(({ id, summary }) => [id, summary])
  const lines = table(["OPERATION", "SUMMARY"], rows)
  for (const line of lines) terminal.out(`${fitted(line, terminal.columns())}\n`)
}

/**
 * Returns the operation with this id. Throws WrongUse if it writes. If the id is unknown, the error suggests the
 * nearest one.
 */
function readingNamed(id: string, catalog: readonly Operation[]): Operation {
  const operation = catalog.find((one) => one.id === id)
  if (!operation) {
    const ids = catalog.map((one) => one.id)
    const meant = nearest(id, ids)
    const hint = meant ? `did you mean ${meant}?` : "list them with: appmeter call"
    throw new WrongUse(`unknown operation ${JSON.stringify(id.slice(0, 60))}; ${hint}`)
  }
  if (isReading(operation)) return operation
  throw new WrongUse(
    `${id} is a write and needs a key; use appmeter write ACTION, POST /v1${operation.path} or the tools`,
  )
}

function isReading({ effect }: Operation): boolean {
  return effect !== "writes" && effect !== "previews"
}

function formatOf({ has }: Invocation, { id, table }: Operation): TableType | null {
  const format = has("csv") ? "text/csv" : has("jsonl") ? "application/jsonl" : null
  if (format && !table) throw new WrongUse(`the answer of ${id} has no rows; leave out --csv and --jsonl`)
  return format
}

/** Returns the answer's rows as a table, without columns that are empty in every row, because terminals are narrow. */
function rowsOf(operation: Operation, answer: unknown): string[] {
  const rows = [...(operation.table?.rows(answer) ?? [])]
  if (rows.length === 0)
    throw new CommandProblem(`${operation.id} returned no rows; add --json to see the whole answer`)
  const columns = tableColumns(operation).filter((name) => rows.some((row) => (row[name] ?? null) !== null))
  return table(
    columns,
    rows.map((row) => columns.map((name) => cell(row[name]))),
  )
}

function cell(value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  if (typeof value === "number") return value
  return printable(typeof value === "object" ? JSON.stringify(value) : String(value))
}

function about(operation: Operation): string[] {
  const { id, method, path, summary, description, plan = "free", scope, price } = operation
  const { properties = {}, required = [] } = jsonSchema(operation.input, "input") as {
    properties?: Record<string, { description?: string }>
    required?: string[]
  }
  const rows = Object.entries(properties).map(([name, { description: means = "" }]) => [
    name,
    required.includes(name) ? "required" : "",
    means,
  ])
  return [
    `${id}  ${method} /v1${path}`,
    summary,
    ...(description === undefined ? [] : [description]),
    `Over the API: plan ${plan}, scope ${scope ?? "none"}, ${creditsText(price, "free")}. Free on the command line.`,
    "",
    ...(rows.length > 0 ? table(["ARGUMENT", "", "MEANING"], rows) : ["It takes no arguments."]),
  ]
}
