import type { Toolset } from "../../core/operation.ts"
import { answerOf, type OperationCall } from "./calling.ts"
import { invalidParams, RpcError } from "./errors.ts"
import type { Offers, RecordKind } from "./offers.ts"
import { metaOf, type Result } from "./results.ts"

/** Returns the documents, and the caller's records if their tools are open. */
export function listResources(
  { documents, record }: Offers,
  open: ReadonlySet<Toolset> | null,
): Result | OperationCall {
  const documentEntries = documents.map(({ text: _, ...document }) => document)
  const listed = (resources: object[]): Result => ({ fields: { resources: JSON.stringify(resources) } })
  if (!isOpen(record, open)) return listed(documentEntries)
  const { prefix, description, list } = record
  return {
    operation: list.operation,
    input: {},
    answered: (reply) => {
      const theirs = list.of(answerOf(reply)).map(({ id, title }) => ({
        uri: `${prefix}${encodeURIComponent(id)}`,
        name: id,
        title,
        description,
        mimeType: JSON_TYPE,
      }))
      return listed([...documentEntries, ...theirs])
    },
    // records that the key may not see are omitted
    failed: ({ fault }) => (fault.status === 403 ? listed(documentEntries) : undefined),
  }
}

export function listTemplates({ record }: Offers, open: ReadonlySet<Toolset> | null): Result {
  const { prefix, variable, name, title, description } = record
  const template = { uriTemplate: `${prefix}{${variable}}`, name, title, description, mimeType: JSON_TYPE }
  return { fields: { resourceTemplates: JSON.stringify(isOpen(record, open) ? [template] : []) } }
}

/** Returns a document's text, or a record from its operation at that operation's price. Throws RpcError. */
export function readResource(
  { documents, record }: Offers,
  { uri }: Record<string, unknown>,
  { open, modern }: { open: ReadonlySet<Toolset> | null; modern: boolean },
): Result | OperationCall {
  if (typeof uri !== "string") throw invalidParams("uri must be a string from resources/list.")
  const document = documents.find((one) => one.uri === uri)
  if (document) return contents(uri, document.mimeType, document.text())
  const id = isOpen(record, open) ? idIn(uri, record) : null
  if (!id) throw unknownResource(uri, modern)
  return {
    operation: record.read,
    input: { [record.variable]: id },
    answered: (reply) => ({
      ...contents(uri, JSON_TYPE, JSON.stringify(answerOf(reply))),
      meta: metaOf(reply.credits, reply.cost),
    }),
    failed: ({ fault }) => (fault.status === 404 ? unknownResource(uri, modern) : undefined),
  }
}

const JSON_TYPE = "application/json"

function isOpen({ toolset }: RecordKind, open: ReadonlySet<Toolset> | null): boolean {
  return open?.has(toolset) ?? true
}

function contents(uri: string, mimeType: string, text: string): Result {
  return { fields: { contents: JSON.stringify([{ uri, mimeType, text }]) } }
}

/** Returns the id in an address. Null if the address has another prefix or is malformed. */
function idIn(uri: string, { prefix }: RecordKind): string | null {
  if (!uri.startsWith(prefix)) return null
  try {
    return decodeURIComponent(uri.slice(prefix.length))
  } catch {
    return null
  }
}

/** Revisions before the modern one use another error code. */
function unknownResource(uri: string, modern: boolean): RpcError {
  const message = "Unknown resource. resources/list and resources/templates/list have the existing ones."
  return new RpcError(modern ? -32602 : -32002, 200, message, { uri: uri.slice(0, 256) })
}
