import type * as v from "valibot"
import { type Operation, pathNames, priceRange } from "../../core/operation.ts"
import { type Narrow, rowNames } from "../../lib/narrow.ts"
import { capitalised, deprecationText, jsonSchema, type Schema } from "../../lib/schema.ts"
import type { Sample } from "../sandbox.ts"
import { tableColumns } from "../tables.ts"
import { deprecationHeaders, EVERY_HEADER } from "./headers.ts"
import { conditionalParts, faultsOf, ownFaultsOf, responseName, statusesOf } from "./responses.ts"
import { alternativesOf, referenceTo, type Shapes } from "./shapes.ts"

/**
 * Returns one operation of the document. The schema of its answer and its errors are components. Without a sample it
 * has no example.
 */
export function documentedOperation(operation: Operation, sample: Sample | null, shapes: Shapes): object {
  const { id, group, summary, description, brief = description, method, deprecated } = operation
  const texts = [brief, deprecated && deprecationText(deprecated)].filter((text) => text !== undefined)
  const ownFaults = ownFaultsOf(operation)
  const conditional = conditionalParts(operation)
  const parameters = [...parametersOf(operation, sample), ...conditional.parameters]
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(texts.length > 0 && { description: texts.join("\n\n") }),
    ...(deprecated && { deprecated: true }),
    ...termsOf(operation),
    ...(ownFaults.length > 0 && { "x-errors": ownFaults }),
    ...(parameters.length > 0 && { parameters }),
    ...(method === "POST" && { requestBody: bodyOf(operation, sample, shapes) }),
    responses: {
      200: answerOf(operation, sample),
      ...pendingOf(operation),
      ...conditional.responses,
      ...faultsByStatus(operation),
    },
  }
}

/** Returns the component name of an operation's answer: list_apps becomes ListAppsAnswer. */
export function answerName({ id }: Operation): string {
  return `${capitalised(id)}Answer`
}

function termsOf({ price, scope, terms, plan, hive }: Operation): object {
  const { min, atMost } = priceRange(price)
  return {
    "x-credits": min,
    ...(atMost !== min && { "x-credits-at-most": atMost }),
    ...(typeof price !== "number" && { "x-credits-note": price.note }),
    "x-scope": terms ? "of the action" : scope,
    "x-plan": plan ?? "free",
    ...(hive && { "x-hive": hive }),
  }
}

interface Parameter {
  name: string
  in: "path" | "query"
  required?: true
  example?: unknown
}

function parametersOf(operation: Operation, sample: Sample | null): Parameter[] {
  const inPath = pathNames(operation.path)
  const names = Object.keys(operation.input.entries)
  return names
    .filter((name) => operation.method === "GET" || inPath.includes(name))
    .map((name) => {
      const described = parameter(name, operation.input.entries[name] as Schema, inPath.includes(name))
      // the sandbox answers this call with the values of the sample
      return sample && described.required ? { ...described, example: sample.input[name] } : described
    })
}

function parameter(name: string, entry: Schema, inPath: boolean): Parameter {
  const {
    description,
    deprecated,
    "x-deprecation": _,
    ...schema
  } = limited(jsonSchema(entry, "input")) as DescribedSchema
  return {
    name,
    in: inPath ? "path" : "query",
    ...(description !== undefined && { description }),
    ...(!isOptional(entry) && { required: true }),
    ...(deprecated && { deprecated }),
    ...(schema.type === "array" && { style: "form", explode: false }),
    schema,
  } as Parameter
}

type DescribedSchema = ReturnType<typeof jsonSchema> & { deprecated?: boolean; "x-deprecation"?: object }

function isOptional(entry: v.GenericSchema): boolean {
  return entry.type === "optional" || entry.type === "nullish"
}

function bodyOf({ path, input }: Operation, sample: Sample | null, shapes: Shapes): object {
  const inPath = pathNames(path)
  const { properties, required = [], ...schema } = limited(jsonSchema(input, "input"))
  const inBody = Object.entries(properties ?? {}).filter(([name]) => !inPath.includes(name))
  const needed = required.filter((name) => !inPath.includes(name))
  const body = { ...schema, properties: Object.fromEntries(inBody), required: needed }
  return {
    required: needed.length > 0,
    content: {
      "application/json": {
        schema: shapes.taken(alternativesOf(body, "Request")),
        ...(sample && { example: sample.rest }),
      },
    },
  }
}

function answerOf(operation: Operation, sample: Sample | null): object {
  const schema = { $ref: referenceTo(answerName(operation)) }
  return {
    description: [ANSWER, operation.table && AS_ROWS, operation.narrow && narrowText(operation.narrow)]
      .filter(Boolean)
      .join(" "),
    headers: { ...EVERY_HEADER, ...conditionalParts(operation).etag, ...deprecationHeaders(operation) },
    content: { "application/json": { schema, ...(sample && { example: sample.answer }) } },
    ...(operation.table && { "x-table": tableOf(operation) }),
    ...(operation.narrow && { "x-narrow": narrowOf(operation.narrow, operation) }),
  }
}

/** The columns of a list are the fields of its items, so they are not repeated. */
function tableOf(operation: Operation): object {
  const { list } = operation.table!
  return list ? { list } : { columns: tableColumns(operation) }
}

const ANSWER = "The answer."

/**
 * Part of the description instead of `content`, because generators would otherwise type each answer as "either this or
 * a text".
 */
const AS_ROWS = "As text/csv or application/jsonl: its rows (`x-table`)."

/** The schema describes whole answers. Optional fields would make every typed client check each field. */
const NARROWED = "With `fields` it has only those (`x-narrow`)."
const NARROWED_ROWS = "With `fields`: rows have only those and the field that names them (`x-narrow`)."

function narrowText(narrow: Narrow): string {
  return narrow === "parts" ? NARROWED : NARROWED_ROWS
}

function narrowOf(narrow: Narrow, { output }: Operation): object | string {
  return narrow === "parts" ? narrow : { ...narrow, always: rowNames(output, narrow.rows) }
}

/** Returns the response while work is in progress, which has the same schema. Empty if the operation has none. */
function pendingOf(operation: Operation): Record<number, object> {
  if (!operation.pending) return {}
  const schema = { $ref: referenceTo(answerName(operation)) }
  const description = "Work is in progress. Call again, after `eta` seconds if given."
  return { 202: { description, headers: EVERY_HEADER, content: { "application/json": { schema } } } }
}

function faultsByStatus(operation: Operation): Record<number, object> {
  const entries = statusesOf(faultsOf(operation)).map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(status)}` },
  ])
  return Object.fromEntries(entries)
}

type Shape = Record<string, unknown>

/** Adds the limits that follow from an argument's schema, for generators and gateways. */
export function limited<T>(schema: T): T {
  if (typeof schema !== "object" || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(limited) as T
  const { "x-limits": limits, ...schemaFields } = schema as Shape
  const shape = Object.fromEntries(Object.entries(schemaFields).map(([name, value]) => [name, limited(value)])) as Shape
  return { ...shape, ...limitsOf(shape), ...(limits as Shape | undefined) } as T
}

function limitsOf({ type, format, minimum, maximum }: Shape): Shape {
  if (type === "integer" && format === undefined && within(minimum) && within(maximum)) return { format: "int32" }
  if (type === "string" && typeof format === "string" && format in LENGTHS) return { maxLength: LENGTHS[format] }
  return {}
}

const within = (bound: unknown) => typeof bound === "number" && Math.abs(bound) < 2 ** 31

/** Maximum length in characters of a text with this format. A time may have nanoseconds and a zone. */
const LENGTHS: Record<string, number> = { date: 10, "date-time": 35 }
