import { listWorkspaces, type Workspace } from "../access/workspaces.ts"
import type { Sql, Tx } from "../database/types.ts"
import { addTerms, buryTerms, removeTerms, tagTerms } from "../tracking/terms.ts"
import { assertWithin } from "./app.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "./cli/command.ts"
import { show } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"

const POSITIONALS = ["app-id", "term…"]

const COUNTRY = {
  value: "CODE",
  meaning: "One of the app's storefronts; all of them when left out.",
  repeated: true,
} as const

export const keywordsAdd: Command = {
  name: "app keywords add",
  summary: "Track keywords. What was measured of them before is their history at once.",
  examples: [["app keywords add app_4fD0Zs81hQbK 'tide times' tides", "two keywords in each storefront of the app"]],
  positionals: POSITIONALS,
  options: { country: COUNTRY },
  async run(invocation) {
    const [id = "", ...terms] = invocation.positionals
    const result = await useDatabase(invocation, async (sql) => {
      const workspace = await readWorkspace(sql, id)
      return await sql.begin(async (tx) => {
        const outcome = await addTerms(tx, id, invocation.texts("country") ?? "all", terms)
        if (outcome.added.length > 0) await assertWithin(tx, workspace, "keywords")
        return outcome
      })
    })
    const { added, alreadyTracked } = result
    show(invocation, result, () => [...named("added", added), ...named("was tracked already", alreadyTracked)])
    return 0
  },
}

export const keywordsRemove: Command = {
  name: "app keywords remove",
  summary: "Stop tracking keywords. What was measured stays, and comes back when they are tracked again.",
  examples: [["app keywords remove app_4fD0Zs81hQbK tides --country gb", "in one storefront only"]],
  positionals: POSITIONALS,
  options: { country: COUNTRY },
  async run(invocation) {
    const [id = "", ...terms] = invocation.positionals
    const countries = invocation.texts("country") ?? "all"
    const result = await inTransaction(invocation, (tx) => removeTerms(tx, id, countries, terms))
    const { removed, notTracked } = result
    show(invocation, result, () => [...named("removed", removed), ...named("was not tracked", notTracked)])
    return 0
  },
}

export const appTag: Command = {
  name: "app tag",
  summary: "Set the tags of tracked keywords, in place of those they have.",
  examples: [
    ["app tag app_4fD0Zs81hQbK 'tide times' tides --tag core --tag q4", "two tags for two keywords"],
    ["app tag app_4fD0Zs81hQbK tides --none", "take its tags away"],
  ],
  positionals: POSITIONALS,
  options: { tag: { value: "TAG", meaning: "A tag.", repeated: true }, none: { meaning: "Take all tags away." } },
  async run(invocation) {
    const [id = "", ...terms] = invocation.positionals
    const tags = invocation.texts("tag") ?? []
    if (invocation.has("none") === tags.length > 0) throw new WrongUse("give either --tag TAG or --none")
    await inTransaction(invocation, (tx) => tagTerms(tx, id, terms, tags))
    show(invocation, { id, terms, tags }, () => named(tags.length > 0 ? tags.join(", ") : "no tags", terms))
    return 0
  },
}

export const appBury: Command = {
  name: "app bury",
  summary: "Bury keywords: they are not suggested for the app again.",
  examples: [["app bury app_4fD0Zs81hQbK 'free games'", "never to be suggested again"]],
  positionals: POSITIONALS,
  async run(invocation) {
    const [id = "", ...terms] = invocation.positionals
    await inTransaction(invocation, (tx) => buryTerms(tx, id, terms))
    show(invocation, { id, buried: terms }, () => named("buried", terms))
    return 0
  },
}

function inTransaction<T>(invocation: Invocation, work: (tx: Tx) => Promise<T>): Promise<T> {
  return useDatabase(invocation, (sql) => sql.begin((tx) => work(tx)) as Promise<T>)
}

async function readWorkspace(sql: Sql, appId: string): Promise<Workspace> {
  const [app] = await sql<{ workspaceId: number }[]>`
    select workspace_id as "workspaceId"
    from tracked_app
    where id = ${appId}`
  const workspace = (await listWorkspaces(sql)).find(({ id }) => id === app?.workspaceId)
  if (!workspace) throw new CommandProblem("there is no such app; see: appmeter app list")
  return workspace
}

function named(what: string, terms: readonly string[]): string[] {
  return terms.map((term) => `${what}: ${term}`)
}
