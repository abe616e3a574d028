import { type Operation, pathNames } from "../core/operation.ts"
import { FAULT_CODES, FAULTS } from "../lib/faults.ts"
import { jsonSchema, type ObjectSchema } from "../lib/schema.ts"
import type { DocumentedAction } from "./actions.ts"
import { fieldRows } from "./answer-fields.ts"
import { ADVICE } from "./errors.ts"
import type { Field } from "./field-type.ts"
import { fieldAnchor, groupsOf, parameterAnchor } from "./groups.ts"
import { type ManualSection, manualSections } from "./manual.ts"
import { shownPath } from "./terms.ts"

/** Kinds of matches, in the order in which they are listed. */
const MATCH_KINDS = ["Operation", "Action", "Error", "Manual", "Parameter", "Field"] as const

export interface Match {
  kind: (typeof MATCH_KINDS)[number]
  title: string
  text: string
  address: string
}

interface SearchedParts {
  catalog: readonly Operation[]
  actions: readonly DocumentedAction[]
  /** The manual's pages as Markdown by name. */
  manual: ReadonlyMap<string, string>
}

export const MAX_MATCHES = 50
const MAX_WORDS = 8

/** Returns a search over reference, errors and manual. Every word of a query must occur; the best match comes first. */
export function documentSearch(parts: SearchedParts): (query: string) => Match[] {
  const entries = [...operationEntries(parts.catalog), ...actionEntries(parts.actions), ...errorEntries()]
  const all = [...entries, ...manualSections(parts.manual).map(manualEntry)].map((entry) => ({
    entry,
    title: entry.title.toLowerCase(),
    searched: `${entry.title} ${entry.text} ${"more" in entry ? entry.more : ""}`.toLowerCase(),
  }))
  return (query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
    if (words.length === 0) return []
    const whole = words.join(" ")
    const matches = all
      .filter(({ searched }) => words.every((word) => searched.includes(word)))
      .map(({ entry, title }) => ({ entry, rank: rankOf(title, whole, words), kind: MATCH_KINDS.indexOf(entry.kind) }))
    matches.sort((one, other) => one.rank - other.rank || one.kind - other.kind)
    return matches
      .slice(0, MAX_MATCHES)
      .map(({ entry: { kind, title, text, address } }) => ({ kind, title, text, address }))
  }
}

/**
 * Returns the rank of a match. 0 is the best: the title is the query. Then come titles that begin with the query,
 * contain it, or contain each of its words.
 */
function rankOf(title: string, whole: string, words: readonly string[]): number {
  if (title === whole || title === words.join("_")) return 0
  if (title.startsWith(whole)) return 1
  if (title.includes(whole)) return 2
  return words.every((word) => title.includes(word)) ? 3 : 4
}

/** A match with further text that is searched but not shown. */
type Entry = Match & { more?: string }

function operationEntries(catalog: readonly Operation[]): Entry[] {
  return groupsOf(catalog).flatMap(({ address, operations }) =>
    operations.flatMap((operation) => {
      const { id, method, path, summary, description, input, output } = operation
      const call = `${method} ${shownPath(path)}`
      const fields = fieldRows(output).map(
        ({ path: field, meaning = "" }): Entry => ({
          kind: "Field",
          title: `${id}: ${field}`,
          text: meaning,
          address: `${address}#${fieldAnchor(id, field)}`,
        }),
      )
      return [
        {
          kind: "Operation" as const,
          title: id,
          text: `${call}: ${summary}`,
          address: `${address}#${id}`,
          more: description,
        },
        ...parameterEntries(id, address, input, pathNames(path)),
        ...fields,
      ]
    }),
  )
}

function actionEntries(actions: readonly DocumentedAction[]): Entry[] {
  return actions.flatMap(({ name, summary, description, args }) => [
    { kind: "Action" as const, title: name, text: summary, address: `/docs/writes#${name}`, more: description },
    ...parameterEntries(name, "/docs/writes", args),
  ])
}

/** Entries of parameters. Parameters of the path are omitted, because they are found with their operation. */
function parameterEntries(id: string, page: string, schema: ObjectSchema, inPath: readonly string[] = []): Entry[] {
  const { properties = {} } = jsonSchema(schema, "input") as Field
  return Object.entries(properties)
    .filter(([name]) => !inPath.includes(name))
    .map(([name, { description = "" }]) => ({
      kind: "Parameter",
      title: `${id}: ${name}`,
      text: description,
      address: `${page}#${parameterAnchor(id, name)}`,
    }))
}

function errorEntries(): Entry[] {
  return FAULT_CODES.map((code) => {
    const { status, message } = FAULTS[code]
    return {
      kind: "Error",
      title: code,
      text: `${status}: ${message}`,
      address: `/docs/errors#${code}`,
      more: ADVICE[code],
    }
  })
}

const MAX_EXCERPT = 160

function manualEntry({ title, text, address }: ManualSection): Entry {
  const excerpt = text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT).replace(/\s\S*$/, "")} …` : text
  return { kind: "Manual", title, text: excerpt, address, more: text }
}
