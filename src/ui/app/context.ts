import type { Person } from "../../access/sign-in/person.ts"
import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import { Fault } from "../../lib/faults.ts"
import type { Chart } from "../charts/chart.ts"
import type { FormState } from "../fields.ts"
import type { Html } from "../html.ts"
import type { Scheme } from "../scheme.ts"
import { SKIPPED } from "./write/skipped.ts"

/** The context of one visitor's pages. */
export interface PageContext {
  /** Base path of the pages: "/app", or "/app/sample" for the sample data that is open to everybody. */
  base: string
  isSample: boolean
  /** True if the page's form was sent. False if the page was only opened by its address. */
  isSent: boolean
  /** Name of the visitor's workspace. Null for the sample data. */
  visitor: string | null
  /** The signed-in person. Null for the sample data. */
  person: Person | null
  /** Returns whether the operation exists. Links to pages are shown only if their operation exists. */
  has(operation: OperationId): boolean
  /** Runs an operation as this visitor. Throws its Fault. */
  ask<Id extends OperationId>(operation: Id, input?: InputOf<Id>): Promise<AnswerOf<Id>>
  /** The current UTC day. For the sample data, its last day. */
  today: string
  /** The path of the address, and its query. */
  path: string
  query: URLSearchParams
  requestId: string
  /** The form that was sent and refused. Null if the page was only opened. */
  refused: RefusedForm | null
  /** The changes made by the form that led to this page. */
  made: AnswerOf<"get_made_change">["changes"]
  /** Returns the address of a store's picture on this server. Null if there is none, or pictures are off. */
  picture(address: string | null, width: number): string | null
  /**
   * Returns whether the plan limits credits, so that prices are shown. The answer is correct only after the first call
   * of `ask`.
   */
  isMetered(): boolean
  /** The colours that the person chose. Null follows the system. */
  scheme: Scheme | null
  /** Hidden fields of every form that changes something. Empty if the visitor has no right to change anything. */
  formFields: readonly (readonly [name: string, value: string])[]
  /** Hidden fields of every form that changes what is tracked. Empty if the person has no right to change it. */
  editFields: readonly (readonly [name: string, value: string])[]
}

/** A refused form. Its page shows it again with the values that were sent. */
export interface RefusedForm extends FormState {
  /** Why the whole form is refused. */
  message: string
}

export interface Page {
  title: string
  body: Html
  /** The navigation entry that is marked as current. On an app's pages, the tab. */
  at: string
  /** The app that a page is about. */
  app?: AppHead
  /** A file that is sent in place of the page. */
  file?: { name: string; csv: string }
  /** The charts of the page that have a CSV. */
  charts?: readonly Chart[]
}

export type AppHead = AnswerOf<"get_app_head">
/** A storefront of a store. */
export interface Side {
  country: string
  platform: "ios" | "android"
}

export async function readHead(context: PageContext, appId: string): Promise<AppHead> {
  return await context.ask("get_app_head", { appId })
}

export function sidesOf({ countries, iosId, androidPkg }: Pick<AppHead, "countries" | "iosId" | "androidPkg">): Side[] {
  const platforms = [...(iosId ? (["ios"] as const) : []), ...(androidPkg ? (["android"] as const) : [])]
  return platforms.flatMap((platform) => countries.map((country) => ({ country, platform })))
}

/** Returns the side in the address, otherwise the app's first. */
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

/** Returns the address of the open page, for forms that return to it. */
export function hereOf({ path, query }: Pick<PageContext, "path" | "query">): string {
  const parameters = new URLSearchParams([...query].filter(([name]) => !NOTICES.includes(name)))
  return parameters.size > 0 ? `${path}?${parameters}` : path
}

/** Parameters of the bar under the tabs, which links between tabs keep. */
export const KEPT: readonly string[] = ["at", "days", "from", "to", "vs", "terms"]

/** The parameter with the id of the request whose changes the page reports. */
export const MADE = "done"

/** Parameters that report what the previous form did. Links leave them out. */
export const NOTICES: readonly string[] = [MADE, SKIPPED]

export function appAddress(context: PageContext, app: Pick<AppHead, "id">, tab = ""): string {
  return `${context.base}/apps/${encodeURIComponent(app.id)}${tab && `/${tab}`}`
}

/** Returns the answer or, for pages that also work without it, the fault. */
export async function attempted<Answer>(request: Promise<Answer>): Promise<Answer | Fault> {
  try {
    return await request
  } catch (error) {
    if (error instanceof Fault && error.status < 500 && error.status !== 401 && error.status !== 429) return error
    throw error
  }
}

export function isFault(answer: unknown): answer is Fault {
  return answer instanceof Fault
}
