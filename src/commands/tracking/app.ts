import { entitlementsOf } from "../../access/plans.ts"
import type { Workspace } from "../../access/workspaces.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { foldText } from "../../lib/matching.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { NOT_MEASURING, readReaders } from "../../measuring/readers.ts"
import {
  countUsage,
  listTracked,
  overLimit,
  removeApp,
  setGoal,
  setName,
  type TrackedListing,
  trackApp,
} from "../../tracking/apps.ts"
import { checkCountries } from "../../tracking/checks.ts"
import { shownName } from "../../tracking/tracked-app.ts"
import { type Command, CommandProblem, type Invocation, WrongUse } from "../cli/command.ts"
import { printable, show, table } from "../cli/show.ts"
import { chooseWorkspace, useDatabase } from "../cli/with-database.ts"
import { showFirstRanks } from "./first-ranks.ts"
import { type ResolvedApp, resolveApp } from "./resolve-app.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

export const appAdd: Command = {
  name: "app add",
  changes: true,
  summary: "Track an app by its store link, id or name.",
  details: "Existing measurements of its keywords become its history at once.",
  examples: [
    [
      "app add https://apps.apple.com/us/app/id1234567890 --keyword tides",
      "by its link; if a name is ambiguous, the matches are listed",
    ],
    [
      "app add 'Tide Times' --ios 1234567890 --android com.example.tides --country us --country gb",
      "both stores, with your own name",
    ],
    ["app add --ios 1234567890 --keyword tides --wait", "wait for the first ranks and show them"],
  ],
  positionals: ["app?"],
  options: {
    workspace: WORKSPACE,
    ios: { value: "ID", meaning: "App Store id of the app." },
    android: { value: "PACKAGE", meaning: "Google Play package name of the app." },
    country: {
      value: "CODE",
      meaning: "A storefront. The first one is the app's main storefront. Default: the storefront of the link, or us.",
      repeated: true,
    },
    keyword: { value: "TERM", meaning: "A keyword to track in each storefront.", repeated: true },
    rival: {
      value: "STORE:ID",
      meaning: "A rival to watch, such as ios:1234567890 or android:com.example.",
      repeated: true,
    },
    wait: { meaning: "Wait at most one minute for the first ranks and show them." },
    force: { meaning: "Track the app even if the store has no such app." },
  },
  async run(invocation) {
    checkCountries(invocation.texts("country") ?? ["us"])
    const [app, reading] = await useDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      const { useOwner } = await import("../process/owner.ts")
      const wanted = await useOwner(invocation, sql, workspace, (ask) => resolveApp(invocation, ask))
      const id = await sql.begin((tx) => add(tx, workspace, wanted, invocation))
      const app = (await listTracked(sql, workspace.id)).find((listed) => listed.id === id)!
      return [app, app.keywords > 0 ? await readingLines(sql, app) : []]
    })
    showApps(invocation, { app }, [app])
    for (const line of reading) invocation.terminal.say(line)
    if (invocation.has("wait") && app.keywords > 0) await showFirstRanks(invocation, app)
    return 0
  },
}

export const appList: Command = {
  name: "app list",
  summary: "List the tracked apps of a workspace.",
  examples: [["app list", "id, name, store ids and number of keywords"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const apps = await useDatabase(invocation, async (sql) => {
      const workspace = await chooseWorkspace(sql, invocation.text("workspace"))
      return await listTracked(sql, workspace.id)
    })
    showApps(invocation, { apps }, apps)
    return 0
  },
}

export const appRemove: Command = {
  name: "app remove",
  changes: true,
  summary: "Stop tracking an app and remove its keywords, tags and goal.",
  details: "Measured data is kept.",
  examples: [["app remove app_4fD0Zs81hQbK --force", "skip the confirmation"]],
  positionals: ["app"],
  options: { force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const [word = ""] = invocation.positionals
    const { id, name } = await useDatabase(invocation, async (sql) => {
      const { id, name } = await findTracked(sql, word)
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Removing ${name} also removes its keywords, tags and goal.`)
      await sql.begin((tx) => removeApp(tx, id))
      return { id, name }
    })
    show(invocation, { removed: { id, name } }, () => [`removed ${name}`])
    return 0
  },
}

export const appRename: Command = {
  name: "app rename",
  changes: true,
  summary: "Rename an app. Without a name, its store name is used again.",
  examples: [["app rename app_4fD0Zs81hQbK 'Tides'", "set your own name"]],
  positionals: ["app", "name?"],
  async run(invocation) {
    const [word = "", name = null] = invocation.positionals
    const { id, name: called } = await useDatabase(invocation, async (sql) => {
      const { id } = await findTracked(sql, word)
      await sql.begin((tx) => setName(tx, id, name))
      return await findTracked(sql, id)
    })
    show(invocation, { id, name: called }, () => [`${id} is now named ${printable(called)}`])
    return 0
  },
}

export const appGoal: Command = {
  name: "app goal",
  changes: true,
  summary: "Set an app's goal: downloads, rank or revenue; none removes it.",
  examples: [["app goal app_4fD0Zs81hQbK rank", "optimise for ranks"]],
  positionals: ["app", "goal"],
  async run(invocation) {
    const [app = "", word = ""] = invocation.positionals
    const goal = word === "none" ? null : word
    const id = await useDatabase(invocation, async (sql) => {
      const { id } = await findTracked(sql, app)
      await sql.begin((tx) => setGoal(tx, id, goal))
      return id
    })
    show(invocation, { id, goal }, () => [`the goal of ${id} is ${word}`])
    return 0
  },
}

/** Throws CommandProblem if the workspace now exceeds its limits, so that the transaction is rolled back. */
export async function assertWithin(
  tx: Tx,
  { id, name, plan, overrides }: Workspace,
  counted: LimitName,
): Promise<void> {
  const usage = await countUsage(tx, id)
  const added = counted === "apps" ? usage : { trackedKeywords: usage.trackedKeywords }
  const over = overLimit(entitlementsOf(plan, overrides), { apps: 0, trackedKeywords: 0 }, added)
  if (!over) return
  const remedy = `appmeter workspace set ${JSON.stringify(name)} --limit ${over.limit}=${over.total}`
  throw new CommandProblem(
    `the workspace is limited to ${over.allowed} ${NOUNS[over.limit]}; raise the limit with: ${remedy}`,
  )
}

type LimitName = "apps" | "keywords"

const NOUNS = { apps: "apps", trackedKeywords: "tracked keywords" }

async function add(
  tx: Tx,
  workspace: Workspace,
  { country = "us", ...meant }: ResolvedApp,
  { texts }: Invocation,
): Promise<string> {
  const id = await trackApp(tx, {
    workspaceId: workspace.id,
    countries: texts("country") ?? [country],
    keywords: texts("keyword") ?? [],
    origin: "own",
    ...withoutUndefined({ ...meant, manualRivals: texts("rival") }),
  })
  await assertWithin(tx, workspace, "apps")
  return id
}

/**
 * Returns a line with the storefronts whose keywords are being read, and one line per reason with the storefronts whose
 * keywords are not read.
 */
async function readingLines(sql: Sql, { iosId, androidPkg, countries }: TrackedListing): Promise<string[]> {
  const whyNot = await readReaders(sql)
  const stores = [...(iosId ? (["ios"] as const) : []), ...(androidPkg ? (["android"] as const) : [])]
  const places = stores.flatMap((platform) => countries.map((storefront) => ({ platform, storefront })))
  const byReason = Map.groupBy(places, (place) => whyNot({ kind: "search", ...place }))
  return [...byReason].map(([why, same]) => {
    const where = same.map(({ platform, storefront }) => `${storefront} on ${platform}`).join(", ")
    if (why === null)
      return `appmeter: its keywords are being read in ${where}; follow the progress with: appmeter sources`
    return `appmeter: its keywords are not read in ${where}: ${NOT_MEASURING[why]}`
  })
}

interface NamedApp {
  id: string
  name: string
}

/**
 * Returns the tracked app with this id, store id, package name or name. Throws CommandProblem if there is none,
 * WrongUse if there are several.
 */
export async function findTracked(sql: Sql, word: string): Promise<NamedApp> {
  const apps = await sql<(NamedApp & { iosId: string | null; androidPkg: string | null })[]>`
    select a.id, ${shownName(sql)} as name, i.store_id as "iosId", g.store_id as "androidPkg"
    from tracked_app a
    left join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    order by a.id`
  const byId = apps.find(({ id }) => id === word)
  if (byId) return byId
  const matches = apps.filter(
    ({ name, iosId, androidPkg }) => iosId === word || androidPkg === word || foldText(name) === foldText(word),
  )
  if (matches.length > 1)
    throw new WrongUse(`several apps match: ${matches.map(({ id, name }) => `${id} is ${printable(name)}`).join("; ")}`)
  if (!matches[0]) throw new CommandProblem("no tracked app matches; see: appmeter app list")
  return matches[0]
}

function showApps(invocation: Invocation, value: object, apps: TrackedListing[]): void {
  show(invocation, value, () =>
    table(
      ["ID", "NAME", "IOS", "ANDROID", "COUNTRIES", "KEYWORDS", "ORIGIN"],
      apps.map(({ id, name, iosId, androidPkg, countries, keywords, origin }) => [
        id,
        name,
        iosId,
        androidPkg,
        countries.join(","),
        keywords,
        origin,
      ]),
      "no tracked apps; add one by its link, id or name with: appmeter app add",
    ),
  )
}
