import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"

/** A resource in the console's documents. */
export interface ConsoleResource {
  id: string
  attributes: Record<string, unknown>
}

/** Returns the only resource of a document. Throws asc_unavailable when there is none. */
export function resourceIn({ data }: PlatformDocument): ConsoleResource {
  const found = resourceOf(data)
  if (!found) throw new Fault("asc_unavailable")
  return found
}

/** Returns the first included resource of a type. Null if there is none. */
export function includedIn({ included }: PlatformDocument, type: string): ConsoleResource | null {
  const list = Array.isArray(included) ? included : []
  return resourceOf(list.find((item) => (item as { type?: unknown } | null)?.type === type))
}

/** Returns the text of an attribute. Null if it is not a text. */
export function textOf({ attributes }: ConsoleResource, name: string): string | null {
  const value = attributes[name]
  return typeof value === "string" && value !== "" ? value : null
}

/** Returns a state code of the console, such as READY_FOR_SALE. Other values become UNKNOWN. */
export function stateOf(resource: ConsoleResource, ...names: string[]): string {
  const found = names.map((name) => resource.attributes[name]).find((value) => typeof value === "string")
  return typeof found === "string" && /^[A-Z_]{1,60}$/.test(found) ? found : "UNKNOWN"
}

const MAX_PAGES = 10

/** Reads a list page by page until it ends or `isEnough` returns true. Null if the parent resource does not exist. */
export async function listResources(
  way: PlatformWay,
  path: string,
  signal: AbortSignal,
  isEnough: (page: readonly ConsoleResource[]) => boolean = () => false,
): Promise<ConsoleResource[] | null> {
  const all: ConsoleResource[] = []
  let next: string | null = path
  for (let page = 0; next !== null && page < MAX_PAGES; page++) {
    const document: PlatformDocument | null = await way.ask({ path: next }, signal)
    if (!document) return page === 0 ? null : all
    if (!Array.isArray(document.data)) throw new Fault("asc_unavailable")
    const found = document.data.map(resourceOf).filter((item) => item !== null)
    all.push(...found)
    next = isEnough(found) ? null : nextPath(document.links)
  }
  return all
}

/** Uses only the path of the URL, so that the key goes to no other host. */
function nextPath(links: unknown): string | null {
  const next = (links as { next?: unknown } | undefined)?.next
  const url = typeof next === "string" ? URL.parse(next) : null
  return url ? `${url.pathname}${url.search}` : null
}

/** Ids become part of paths, so an id with unexpected characters is rejected. */
function resourceOf(value: unknown): ConsoleResource | null {
  const { id, attributes } = (value ?? {}) as Record<string, unknown>
  if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id)) return null
  return { id, attributes: typeof attributes === "object" && attributes !== null ? { ...attributes } : {} }
}
