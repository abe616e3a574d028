import { listWorkspaces, type Workspace } from "../../access/workspaces.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { type FileKeyword, type KeywordFile, keywordsIn } from "../../tracking/keyword-file.ts"
import { type AddedTerms, addTerms, buryTerms, listTerms, removeTerms, tagTerms } from "../../tracking/terms.ts"
import { type Command, CommandProblem, type Invocation, type Terminal, WrongUse } from "../cli/command.ts"
import { readFileBytes } from "../cli/read-file.ts"
import { linesOf } from "../cli/read-lines.ts"
import { printable, show, table } from "../cli/show.ts"
import { useDatabase } from "../cli/with-database.ts"
import { assertWithin } from "./app.ts"

const POSITIONALS = ["app-id", "term…"]

const COUNTRY = {
  value: "CODE",
  meaning: "One of the app's storefronts. Default: all of them.",
  repeated: true,
} as const

export const keywordsAdd: Command = {
  name: "app keywords add",
  changes: true,
  summary: "Track keywords for an app.",
  details: "Existing measurements of the keywords become their history at once.",
  examples: [
    ["app keywords add app_4fD0Zs81hQbK 'tide times' tides", "two keywords in each storefront of the app"],
    [
      "app keywords add app_4fD0Zs81hQbK --file keywords.csv",
      "one keyword per line, or columns named keyword, country, tags",
    ],
    ["app keywords add app_4fD0Zs81hQbK --file - < keywords.txt", "from stdin"],
  ],
  positionals: ["app-id", "term…?"],
  options: { country: COUNTRY, file: { value: "PATH", meaning: "A file with keywords, or - for stdin." } },
  async run(invocation) {
    const { positionals, text, has, terminal } = invocation
    const [id = "", ...typed] = positionals
    const path = text("file")
    if ((path === undefined) === (typed.length === 0)) throw new WrongUse("give either keywords or --file PATH")
    const { keywords, bad } = path === undefined ? typedKeywords(typed) : keywordsIn(await readFileText(path, terminal))
    const result = await useDatabase(invocation, async (sql) => {
      const workspace = await readWorkspace(sql, id)
      return await sql.begin(async (tx) => {
        const outcome = await addKeywords(tx, id, keywords, invocation.texts("country") ?? "all")
        if (outcome.added.length > 0) await assertWithin(tx, workspace, "keywords")
        return outcome
      })
    })
    const { added, alreadyTracked } = result
    show(invocation, path === undefined ? result : { ...result, bad }, () =>
      path === undefined
        ? [...named("added", added), ...named("already tracked", alreadyTracked)]
        : [`${added.length} added, ${alreadyTracked.length} already tracked, ${bad.length} invalid lines`],
    )
    if (!has("json")) for (const { line, reason } of bad.slice(0, SHOWN)) terminal.say(`line ${line}: ${reason}`)
    return bad.length > 0 && keywords.length === 0 ? 1 : 0
  },
}

/** Maximum number of invalid lines to print. */
const SHOWN = 20

export const keywordsList: Command = {
  name: "app keywords list",
  summary: "List an app's tracked keywords by storefront, with their tags.",
  examples: [["app keywords list app_4fD0Zs81hQbK --country us --json", "one storefront, as JSON"]],
  positionals: ["app-id"],
  options: { country: { value: "CODE", meaning: "Only this storefront." } },
  async run(invocation) {
    const [id = ""] = invocation.positionals
    const country = invocation.text("country")?.toLowerCase() ?? null
    const keywords = await useDatabase(invocation, async (sql) => {
      await readWorkspace(sql, id)
      return await listTerms(sql, id, country)
    })
    show(invocation, { keywords }, () =>
      table(
        ["COUNTRY", "KEYWORD", "TAGS"],
        keywords.map(({ country, term, tags }) => [country, printable(term), tags.join(", ")]),
        "no tracked keywords; add some with: appmeter app keywords add",
      ),
    )
    return 0
  },
}

export const keywordsRemove: Command = {
  name: "app keywords remove",
  changes: true,
  summary: "Stop tracking keywords.",
  details: "Measured data is kept and shown again if you track them again.",
  examples: [["app keywords remove app_4fD0Zs81hQbK tides --country gb", "only in one storefront"]],
  positionals: POSITIONALS,
  options: { country: COUNTRY },
  async run(invocation) {
    const [id = "", ...terms] = invocation.positionals
    const countries = invocation.texts("country") ?? "all"
    const result = await inTransaction(invocation, (tx) => removeTerms(tx, id, countries, terms))
    const { removed, notTracked } = result
    show(invocation, result, () => [...named("removed", removed), ...named("not tracked", notTracked)])
    return 0
  },
}

export const appTag: Command = {
  name: "app tag",
  changes: true,
  summary: "Set the tags of tracked keywords, replacing their current tags.",
  examples: [
    ["app tag app_4fD0Zs81hQbK 'tide times' tides --tag core --tag q4", "set two tags for two keywords"],
    ["app tag app_4fD0Zs81hQbK tides --none", "remove all its tags"],
  ],
  positionals: POSITIONALS,
  options: { tag: { value: "TAG", meaning: "A tag.", repeated: true }, none: { meaning: "Remove all tags." } },
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
  changes: true,
  summary: "Bury keywords so that they are not suggested for the app again.",
  examples: [["app bury app_4fD0Zs81hQbK 'free games'", "do not suggest it again"]],
  positionals: POSITIONALS,
  async run(invocation) {
    const [id = "", ...terms] = invocation.positionals
    await inTransaction(invocation, (tx) => buryTerms(tx, id, terms))
    show(invocation, { id, buried: terms }, () => named("buried", terms))
    return 0
  },
}

function typedKeywords(terms: readonly string[]): KeywordFile {
  return { keywords: terms.map((term) => ({ term, country: undefined, tags: [] })), bad: [] }
}

async function readFileText(path: string, { stdin }: Terminal): Promise<string> {
  if (path !== "-") return new TextDecoder().decode(readFileBytes(path))
  const lines: string[] = []
  for await (const line of linesOf(stdin())) lines.push(line)
  return lines.join("\n")
}

/** Adds each keyword in the storefront of its line, or in `countries`. Tags replace those of an existing keyword. */
async function addKeywords(
  tx: Tx,
  appId: string,
  keywords: readonly FileKeyword[],
  countries: readonly string[] | "all",
): Promise<AddedTerms> {
  const outcome: AddedTerms = { added: [], alreadyTracked: [] }
  for (const [country, same] of Map.groupBy(keywords, (keyword) => keyword.country)) {
    const terms = same.map(({ term }) => term)
    const { added, alreadyTracked } = await addTerms(tx, appId, country === undefined ? countries : [country], terms)
    outcome.added.push(...added)
    outcome.alreadyTracked.push(...alreadyTracked)
  }
  const tagged = Map.groupBy(keywords, ({ tags }) => tags.join("\n"))
  for (const [tags, same] of tagged) {
    const terms = same.map(({ term }) => term)
    if (tags !== "") await tagTerms(tx, appId, terms, tags.split("\n"))
  }
  return outcome
}

function inTransaction<T>(invocation: Invocation, work: (tx: Tx) => Promise<T>): Promise<T> {
  return useDatabase(invocation, (sql) => sql.begin((tx) => work(tx)) as Promise<T>)
}

/** Returns the workspace of an app. Throws CommandProblem if the app is not tracked. */
export async function readWorkspace(sql: Sql, appId: string): Promise<Workspace> {
  const [app] = await sql<{ workspaceId: number }[]>`
    select workspace_id as "workspaceId"
    from tracked_app
    where id = ${appId}`
  const workspace = (await listWorkspaces(sql)).find(({ id }) => id === app?.workspaceId)
  if (!workspace) throw new CommandProblem("no tracked app has this id; see: appmeter app list")
  return workspace
}

function named(what: string, terms: readonly string[]): string[] {
  return terms.map((term) => `${what}: ${term}`)
}
