import { jsonOrNothing } from "../../measuring/parsing/json.ts"
import { type Console, ConsoleProblem } from "../console.ts"
import { nextPath } from "../look.ts"

/** One page of a list: its bytes and its parsed resources. */
interface Page {
  bytes: Uint8Array
  data: Resource[]
}

export interface Resource {
  id: string
  type: string
  attributes: Record<string, unknown>
  relationships: Record<string, { data?: { id?: unknown } | null } | undefined>
}

/** Maximum number of pages. No list that is read has more. */
const MAX_PAGES = 60

/** Returns every page of a list. Null if the console answers 404. Throws ConsoleProblem. */
export async function readPages(console: Console, path: string, signal?: AbortSignal): Promise<Page[] | null> {
  const pages: Page[] = []
  for (let next: string | null = path; next !== null && pages.length < MAX_PAGES; ) {
    const { status, bytes }: { status: number; bytes: Uint8Array } = await console.get(next, signal)
    if (status === 404) return null
    const document = jsonOrNothing(new TextDecoder().decode(bytes)) as Record<string, unknown> | undefined
    if (typeof document !== "object" || document === null)
      throw new ConsoleProblem("refused", "the console's answer cannot be read")
    pages.push({ bytes, data: resourcesIn(document.data) })
    next = nextPath(document.links)
  }
  return pages
}

function resourcesIn(data: unknown): Resource[] {
  const list = Array.isArray(data) ? data : [data]
  return list.flatMap((item) =>
    typeof item?.id === "string" && typeof item?.type === "string"
      ? [{ id: item.id, type: item.type, attributes: item.attributes ?? {}, relationships: item.relationships ?? {} }]
      : [],
  )
}
