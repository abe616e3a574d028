import type { Workspace } from "../../access/workspaces.ts"
import { Fault } from "../../faults.ts"
import type { Operation } from "../../operation.ts"
import type { AskOwner } from "../../process/owner.ts"
import { CommandProblem, type Invocation, type Option, WrongUse } from "../cli/command.ts"
import { printable } from "../cli/show.ts"
import { assertMade } from "../cli/whole-database.ts"
import { chooseWorkspace, useDatabase } from "../cli/with-database.ts"

/** What an operation answers to the owner of the database. Throws CommandProblem, and WrongUse where the input is wrong. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every operation; those that are shown name their fields
export type Ask = (operation: Operation | string, input?: Record<string, unknown>) => Promise<any>

export const WORKSPACE: Option = { value: "NAME", meaning: "The workspace; needless while there is only one." }

/** Opens the database, beside its server too, and asks operations of it as its owner. */
export async function useOperations<T>(
  invocation: Invocation,
  work: (ask: Ask, workspace: Workspace) => Promise<T>,
): Promise<T> {
  assertMade(invocation.settings)
  return await useDatabase(invocation, async (sql) => {
    const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
    const { useOwner } = await import("../../process/owner.ts") // as in serve.ts
    return await useOwner(invocation, sql, workspace, (askOwner) => work(askOf(askOwner), workspace))
  })
}

/** The same by the key in APPMETER_KEY: what writes is charged to it, and audited under its name. */
export async function useKeyedOperations<T>(invocation: Invocation, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { assistant } = invocation.settings
  if (assistant.key === undefined) throw new WrongUse(`there is no key in APPMETER_KEY; ${KEY_REMEDY}`)
  const key = assistant.key
  assertMade(invocation.settings)
  const { useKey } = await import("../../process/owner.ts")
  return await useDatabase(invocation, (sql) => useKey(invocation, sql, key, (ask) => work(askOf(ask))))
}

const KEY_REMEDY = "appmeter key create --name terminal makes one; give it in the environment, never as an argument"

function askOf(ask: AskOwner): Ask {
  return async (operation, input = {}) => {
    try {
      return await ask(typeof operation === "string" ? await operationNamed(operation) : operation, input)
    } catch (error) {
      throw error instanceof Fault ? problemOf(error) : error
    }
  }
}

/** Throws where the catalogue has none of that id: a command names its operations itself. */
export async function operationNamed(id: string): Promise<Operation> {
  const { catalog } = await import("../../catalog.ts")
  const found = catalog.find((operation) => operation.id === id)
  if (!found) throw new Error(`the catalogue has no operation ${id}`)
  return found
}

export interface ListedApp {
  id: string
  name: string
  iosId: string | null
  androidPkg: string | null
  countries: string[]
}

/** The apps that a word names: all without one, else those of that id, store id or name, or whose name holds it. */
export async function findApps(ask: Ask, word: string | undefined): Promise<ListedApp[]> {
  const { apps } = (await ask("list_apps")) as { apps: ListedApp[] }
  if (apps.length === 0) throw new CommandProblem("no app is tracked yet; track one with: appmeter app add")
  if (word === undefined) return apps
  const exact = apps.filter(({ id, iosId, androidPkg, name }) => [id, iosId, androidPkg, name].includes(word))
  if (exact.length > 0) return exact
  const folded = word.toLowerCase()
  const alike = apps.filter(({ name }) => name.toLowerCase().includes(folded))
  if (alike.length > 0) return alike
  const names = apps.slice(0, 10).map(({ name }) => JSON.stringify(printable(name)))
  throw new WrongUse(`no tracked app is called ${JSON.stringify(word.slice(0, 60))}; there are ${names.join(", ")}`)
}

function problemOf({ status, message, extra }: Fault): Error {
  const {
    detail,
    reason,
    problems = [],
  } = extra as { detail?: string; reason?: string; problems?: { detail: string }[] }
  const said = problems.length > 1 ? problems.map((problem) => problem.detail).join(" ") : (detail ?? reason)
  const line = said === undefined ? message : `${message} ${said}`
  return status === 400 ? new WrongUse(line) : new CommandProblem(line)
}
