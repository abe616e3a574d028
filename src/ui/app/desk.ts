import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import { Fault } from "../../lib/faults.ts"
import type { Html } from "../html.ts"

/** What the pages of one visitor are made of. */
export interface Desk {
  /** Where its pages are: "/app", or "/app/sample" for the invented world that anybody may look at. */
  base: string
  isSample: boolean
  /** The page's own form was sent, and not only its address opened. */
  isSent: boolean
  /** Whose pages these are; null of the invented world. */
  visitor: string | null
  /** Whether there is such an operation: pages of those to come appear with them. */
  has(operation: OperationId): boolean
  /** Runs an operation as this visitor. Throws its Fault. */
  ask<Id extends OperationId>(operation: Id, input?: InputOf<Id>): Promise<AnswerOf<Id>>
  /** What stands behind the "?" of the address. */
  query: URLSearchParams
  /** Stand in each form that changes something; none where the visitor may change nothing. */
  formFields: readonly (readonly [name: string, value: string])[]
}

export interface Page {
  title: string
  body: Html
  /** Which of the frame's entries is this page's; of an app's pages, which tab. */
  at: string
  /** The app that a page is about. */
  app?: AppHead
}

export type AppHead = AnswerOf<"get_app_head">
/** A storefront of a store. */
export interface Side {
  country: string
  platform: "ios" | "android"
}

export async function readHead(desk: Desk, appId: string): Promise<AppHead> {
  return await desk.ask("get_app_head", { appId })
}

export function sidesOf({ countries, iosId, androidPkg }: Pick<AppHead, "countries" | "iosId" | "androidPkg">): Side[] {
  const platforms = [...(iosId ? (["ios"] as const) : []), ...(androidPkg ? (["android"] as const) : [])]
  return platforms.flatMap((platform) => countries.map((country) => ({ country, platform })))
}

/** The side that the address asks for, else the app's first. */
export function sideAt(head: AppHead, query: URLSearchParams): Side {
  const sides = sidesOf(head)
  return sides.find((side) => sideCode(side) === query.get("at")) ?? (sides[0] as Side)
}

export const sideCode = ({ country, platform }: Side) => `${country}-${platform}`

/** Returns a path with its query. Values that are null or empty are left out. */
export function address(path: string, query: Record<string, string | number | null | undefined> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value))
  return parameters.size > 0 ? `${path}?${parameters}` : path
}

export function appAddress(desk: Desk, app: Pick<AppHead, "id">, tab = ""): string {
  return `${desk.base}/apps/${encodeURIComponent(app.id)}${tab && `/${tab}`}`
}

/** An answer, or the fault in its place where a page can do without it. */
export async function attempted<Answer>(asked: Promise<Answer>): Promise<Answer | Fault> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Fault && error.status < 500 && error.status !== 401 && error.status !== 429) return error
    throw error
  }
}

export function isFault(answer: unknown): answer is Fault {
  return answer instanceof Fault
}
