import type * as v from "valibot"
import { type Operation, pathNames, priceRange } from "../../operation.ts"
import { jsonSchema, type Schema } from "../../vocabulary/schema.ts"
import type { Sample } from "../sandbox.ts"
import { CREDIT_HEADERS, faultsOf, responseName, statusesOf } from "./responses.ts"

/** One operation of the document; its answer's schema and its errors stand in the components. */
export function documentedOperation(operation: Operation, sample: Sample): object {
  const { id, group, summary, description, method } = operation
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(description !== undefined && { description }),
    ...termsOf(operation),
    ...(parametersOf(operation).length > 0 && { parameters: parametersOf(operation) }),
    ...(method === "POST" && { requestBody: bodyOf(operation, sample) }),
    responses: { 200: answerOf(operation, sample), ...pendingOf(operation), ...faultsByStatus(operation) },
  }
}

/** The component that holds an operation's answer: list_apps → ListAppsAnswer. */
export function answerName({ id }: Operation): string {
  return `${id.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Answer`
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
}

function parametersOf(operation: Operation): Parameter[] {
  const inPath = pathNames(operation.path)
  const names = Object.keys(operation.input.entries)
  return names
    .filter((name) => operation.method === "GET" || inPath.includes(name))
    .map((name) => parameter(name, operation.input.entries[name] as Schema, inPath.includes(name)))
}

function parameter(name: string, entry: Schema, inPath: boolean): Parameter {
  const { description, ...schema } = jsonSchema(entry, "input")
  return {
    name,
    in: inPath ? "path" : "query",
    ...(description !== undefined && { description }),
    ...(!isOptional(entry) && { required: true }),
    ...(schema.type === "array" && { style: "form", explode: false }),
    schema,
  } as Parameter
}

function isOptional(entry: v.GenericSchema): boolean {
  return entry.type === "optional" || entry.type === "nullish"
}

function bodyOf({ path, input }: Operation, { rest }: Sample): object {
  const inPath = pathNames(path)
  const { properties, required = [], ...schema } = jsonSchema(input, "input")
  const own = Object.entries(properties ?? {}).filter(([name]) => !inPath.includes(name))
  const needed = required.filter((name) => !inPath.includes(name))
  return {
    required: needed.length > 0,
    content: {
      "application/json": {
        schema: { ...schema, properties: Object.fromEntries(own), required: needed },
        example: rest,
      },
    },
  }
}

function answerOf(operation: Operation, { answer }: Sample): object {
  return {
    description: operation.summary,
    headers: CREDIT_HEADERS,
    content: {
      "application/json": { schema: { $ref: `#/components/schemas/${answerName(operation)}` }, example: answer },
    },
  }
}

/** The same shape, while work goes on. */
function pendingOf(operation: Operation): Record<number, object> {
  if (!operation.pending) return {}
  const schema = { $ref: `#/components/schemas/${answerName(operation)}` }
  const description = "Work goes on: ask again, after `eta` seconds where that is given."
  return { 202: { description, headers: CREDIT_HEADERS, content: { "application/json": { schema } } } }
}

function faultsByStatus(operation: Operation): Record<number, object> {
  const codes = faultsOf(operation)
  const entries = statusesOf(codes).map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(status, codes)}` },
  ])
  return Object.fromEntries(entries)
}
