import type { Workspace } from "../../access/workspaces.ts"
import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import type { Operation } from "../../core/operation.ts"
import { Fault } from "../../lib/faults.ts"
import { CommandProblem, type Invocation, type Option, WrongUse } from "../cli/command.ts"
import { printable } from "../cli/show.ts"
import { assertMade } from "../cli/whole-database.ts"
import { chooseWorkspace, useDatabase } from "../cli/with-database.ts"
import type { AskOwner } from "../process/owner.ts"

/** Runs an operation. Throws CommandProblem, or WrongUse if the input is wrong. */
export type Ask = <Id extends OperationId>(operation: Id, input?: InputOf<Id>) => Promise<AnswerOf<Id>>

export const WORKSPACE: Option = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

/** Opens the database, also while its server runs, and runs operations as the workspace's owner. */
export async function useOperations<T>(
  invocation: Invocation,
  work: (ask: Ask, workspace: Workspace) => Promise<T>,
): Promise<T> {
  assertMade(invocation.settings)
  return await useDatabase(invocation, async (sql) => {
    const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
    // imported here to start other commands faster, as in serve.ts
    const { useOwner } = await import("../process/owner.ts")
    return await useOwner(invocation, sql, workspace, (askOwner) => work(askOf(askOwner), workspace))
  })
}

/** Runs operations with the key in APPMETER_KEY: writes are charged to that key and audited under its name. */
export async function useKeyedOperations<T>(invocation: Invocation, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { assistant } = invocation.settings
  if (assistant.key === undefined) throw new WrongUse(`APPMETER_KEY is not set; ${KEY_REMEDY}`)
  const key = assistant.key
  assertMade(invocation.settings)
  const { useKey } = await import("../process/owner.ts")
  return await useDatabase(invocation, (sql) => useKey(invocation, sql, key, (ask) => work(askOf(ask))))
}

const KEY_REMEDY =
  "create one with appmeter key create --name terminal, and pass it in the environment, never as an argument"

function askOf(ask: AskOwner): Ask {
  return async <Id extends OperationId>(id: Id, input: InputOf<Id> = {}) => {
    try {
      return (await ask(await operationNamed(id), input)) as AnswerOf<Id>
    } catch (error) {
      throw error instanceof Fault ? problemOf(error) : error
    }
  }
}

/** Throws if the catalogue has no operation of that id. */
export async function operationNamed(id: string): Promise<Operation> {
  const { catalog } = await import("../../catalog.ts")
  const found = catalog.find((operation) => operation.id === id)
  if (!found) throw new Error(`the catalogue has no operation ${id}`)
  return found
}

export type ListedApp = Pick<
  AnswerOf<"list_apps">["apps"][number],
  "id" | "name" | "iosId" | "androidPkg" | "countries"
>

/**
 * Returns the apps whose id, store id or name equals `word`. If there are none, returns those with `word` in their
 * name. Without `word`, returns all apps.
 */
export async function findApps(ask: Ask, word: string | undefined): Promise<ListedApp[]> {
  const { apps } = await ask("list_apps")
  if (apps.length === 0) throw new CommandProblem("no app is tracked yet; add one with: appmeter app add")
  if (word === undefined) return apps
  const exact = apps.filter(({ id, iosId, androidPkg, name }) => [id, iosId, androidPkg, name].includes(word))
  if (exact.length > 0) return exact
  const folded = word.toLowerCase()
  const alike = apps.filter(({ name }) => name.toLowerCase().includes(folded))
  if (alike.length > 0) return alike
  const names = apps.slice(0, 10).map(({ name }) => JSON.stringify(printable(name)))
  throw new WrongUse(`no tracked app matches ${JSON.stringify(word.slice(0, 60))}; tracked apps: ${names.join(", ")}`)
}

/** Returns the one app that matches. Throws WrongUse if several do. */
export async function findOneApp(ask: Ask, word: string): Promise<ListedApp> {
  const [app, ...otherApps] = await findApps(ask, word)
  if (!app || otherApps.length > 0)
    throw new WrongUse(`${otherApps.length + 1} apps match; give the id instead, see: appmeter app list`)
  return app
}

function problemOf({ status, message, extra }: Fault): Error {
  const {
    detail,
    reason,
    problems = [],
  } = extra as { detail?: string; reason?: string; problems?: { detail: string }[] }
  const details = problems.length > 1 ? problems.map((problem) => problem.detail).join(" ") : (detail ?? reason)
  const line = details === undefined ? message : `${message} ${details}`
  return status === 400 ? new WrongUse(line) : new CommandProblem(line)
}
