import type { PlatformDocument, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"

/** A thing of the console's, as its documents hold it. */
export interface ConsoleResource {
  id: string
  attributes: Record<string, unknown>
}

/** The one thing of a document. Throws asc_unavailable where there is none. */
export function resourceIn({ data }: PlatformDocument): ConsoleResource {
  const found = resourceOf(data)
  if (!found) throw new Fault("asc_unavailable")
  return found
}

/** What a document holds beside its own, of a type. */
export function includedIn({ included }: PlatformDocument, type: string): ConsoleResource | null {
  const list = Array.isArray(included) ? included : []
  return resourceOf(list.find((one) => (one as { type?: unknown } | null)?.type === type))
}

/** The text of an attribute; null where it has none. */
export function textOf({ attributes }: ConsoleResource, name: string): string | null {
  const value = attributes[name]
  return typeof value === "string" && value !== "" ? value : null
}

/** A code of the console's, as READY_FOR_SALE: anything else that stands there is not shown. */
export function stateOf(resource: ConsoleResource, ...names: string[]): string {
  const found = names.map((name) => resource.attributes[name]).find((value) => typeof value === "string")
  return typeof found === "string" && /^[A-Z_]{1,60}$/.test(found) ? found : "UNKNOWN"
}

const MOST_PAGES = 10

/** A list, page by page, until it ends or `isEnough`. Null = what it is of is not there. */
export async function listResources(
  way: PlatformWay,
  path: string,
  signal: AbortSignal,
  isEnough: (page: readonly ConsoleResource[]) => boolean = () => false,
): Promise<ConsoleResource[] | null> {
  const all: ConsoleResource[] = []
  let next: string | null = path
  for (let page = 0; next !== null && page < MOST_PAGES; page++) {
    const document: PlatformDocument | null = await way.ask({ path: next }, signal)
    if (!document) return page === 0 ? null : all
    if (!Array.isArray(document.data)) throw new Fault("asc_unavailable")
    const found = document.data.map(resourceOf).filter((one) => one !== null)
    all.push(...found)
    next = isEnough(found) ? null : nextPath(document.links)
  }
  return all
}

/** Of an absolute address only the path is followed: the key goes to no other host. */
function nextPath(links: unknown): string | null {
  const next = (links as { next?: unknown } | undefined)?.next
  const url = typeof next === "string" ? URL.parse(next) : null
  return url ? `${url.pathname}${url.search}` : null
}

/** Ids go into paths: one with anything but letters, digits and hyphens is none. */
function resourceOf(said: unknown): ConsoleResource | null {
  const { id, attributes } = (said ?? {}) as Record<string, unknown>
  if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id)) return null
  return { id, attributes: typeof attributes === "object" && attributes !== null ? { ...attributes } : {} }
}
