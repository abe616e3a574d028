import * as v from "valibot"
import { createReadGroups } from "../../database/shared-reads.ts"
import type { Sql } from "../../database/types.ts"
import { sidesOf } from "../../history/day-answers.ts"
import { readRanksOn, type SideRanks } from "../../history/ranks.ts"
import { findKeptAnswer, keepAnswer } from "../../history/searches/kept-answers.ts"
import { ofApp, operation } from "../../operation.ts"
import {
  listDigests, readAppLists, readListDigests, readTerms, type TrackedApp, type TrackedAppWithTerms,
} from "../../tracking/tracked-app.ts" // biome-ignore format: one list
import { WrittenAnswer } from "../../vocabulary/prepared.ts"
import { described, extending, named } from "../../vocabulary/schema.ts"
import { AppShape, appShape, Count, Day, Rank, Store, Storefront, Time, trackedAppFields } from "../shapes.ts"

const ID = "list_apps"

export const listApps = operation({
  id: ID,
  method: "GET",
  path: "/apps",
  group: "Your apps",
  toolset: "apps",
  summary: "The apps that the workspace tracks.",
  description: "Call it first: its ids are the appId of every other call about an app.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: v.strictObject({}),
  narrow: { rows: ["apps"] },
  kept: (sql, { workspaceId, appList }) => findShort(sql, { workspaceId, appList }),
  output: v.strictObject({
    apps: described(v.array(AppShape), "Oldest first; those that the key may see."),
  }),
}).run(async (_, { sql, caller: { workspaceId, appList } }) => {
  const caller = { workspaceId, appList }
  const name = nameOf(caller)
  const answer = await (short.has(name) ? readShort(sql, caller) : readOwn(sql, caller))
  if (short.size >= MOST_SHORT || answer.text.length > SHORT) short.delete(name)
  else short.add(name)
  return answer
})

type ListCaller = Parameters<typeof readAppLists>[1][number]

/** Letters of an answer that was short when it was last read: some ten apps. These share a statement, a long one has its own. */
const SHORT = 10_000
const MOST_SHORT = 10_000
const short = new Set<string>()

const nameOf = ({ workspaceId, appList }: ListCaller) =>
  appList ? JSON.stringify([workspaceId, appList]) : `${workspaceId}`
const readOwn = async (sql: Sql, caller: ListCaller) => (await readLists(sql, [caller]))[0] as WrittenAnswer
const readShort = createReadGroups<ListCaller, WrittenAnswer>(nameOf, readLists)

/** A long one's digest would hold up who is charged with it. */
function findShort(sql: Sql, caller: ListCaller) {
  const name = keptName(caller)
  const kept = short.has(nameOf(caller)) ? findKeptAnswer(sql, name) : null
  return kept && { answer: kept.answer, basis: { name, asked: caller, digest: kept.digest, digestsOf: listDigests } }
}

/** An answer that was kept is given once more while nothing that it is made of has changed. */
async function readLists(sql: Sql, callers: readonly ListCaller[]): Promise<WrittenAnswer[]> {
  const answers = new Map<ListCaller, WrittenAnswer>()
  const held = callers.flatMap((caller) => {
    const kept = findKeptAnswer(sql, keptName(caller))
    return kept ? [{ caller, kept }] : []
  })
  const digests =
    held.length > 0
      ? await readListDigests(
          sql,
          held.map(({ caller }) => caller),
        )
      : []
  for (const [at, { caller, kept }] of held.entries()) if (kept.digest === digests[at]) answers.set(caller, kept.answer)
  const others = callers.filter((caller) => !answers.has(caller))
  const lists = others.length > 0 ? await readAppLists(sql, others) : []
  for (const [at, { apps, digest }] of lists.entries()) {
    const [caller, answer] = [others[at] as ListCaller, new WrittenAnswer(listText(apps))]
    keepAnswer(sql, keptName(caller), { digest, answer })
    answers.set(caller, answer)
  }
  return callers.map((caller) => answers.get(caller) as WrittenAnswer)
}

const keptName = (caller: ListCaller) => `${ID} ${nameOf(caller)}`

function listText(apps: readonly TrackedAppWithTerms[]): string {
  return JSON.stringify({ apps: apps.map(appShape) })
}

const Measurement = named(
  "AppSnapshot",
  v.strictObject({
    country: Storefront,
    platform: Store,
    day: described(v.nullable(Day), "The latest UTC day on which any tracked keyword was measured; null = never."),
    measuredAt: described(v.nullable(Time), "When the latest of that day's results was seen; null = never."),
    tracked: described(Count, "Tracked keywords."),
    measured: described(Count, "Of these, measured on that day."),
    ranked: described(Count, "Of these, with the app among the results read."),
    top3: described(Count, "Of these, at rank 1 to 3."),
    top10: described(Count, "Of these, at rank 1 to 10."),
    best: described(v.nullable(Rank), "The best rank of that day; null = the app was found nowhere."),
  }),
)

export const AppRecord = named(
  "AppRecord",
  extending(
    AppShape,
    v.strictObject({
      ...trackedAppFields,
      snapshot: described(v.array(Measurement), "The latest measurement of each tracked storefront and store."),
    }),
  ),
)

export const getApp = operation({
  id: "get_app",
  method: "GET",
  path: "/apps/:appId",
  group: "Your apps",
  toolset: "apps",
  summary: "One tracked app with its latest measurement.",
  description: "Its day is in get_today, its ranks in list_keyword_ranks.",
  effect: "reads",
  scope: "apps:read",
  plan: "free",
  price: 1,
  faults: [],
  input: ofApp({}),
  output: AppRecord,
}).run(async ({ app }, { sql }) => readApp(sql, app))

/** An app with its keywords and its latest measurement. */
export async function readApp(sql: Sql, app: TrackedApp): Promise<v.InferOutput<typeof AppRecord>> {
  const [terms, ranks] = await Promise.all([readTerms(sql, app.id), readRanksOn(sql, app, sidesOf(app))])
  return { ...appShape({ ...app, terms }), snapshot: ranks.map(snapshot) }
}

function snapshot({ storefront, platform, day, measuredAt, terms }: SideRanks): v.InferInput<typeof Measurement> {
  const ranks = terms.flatMap(({ rank }) => (rank === null ? [] : [rank]))
  return {
    country: storefront,
    platform,
    day,
    measuredAt: measuredAt?.toISOString() ?? null,
    tracked: terms.length,
    measured: terms.filter(({ measured }) => measured).length,
    ranked: ranks.length,
    top3: ranks.filter((rank) => rank <= 3).length,
    top10: ranks.filter((rank) => rank <= 10).length,
    best: ranks.length > 0 ? Math.min(...ranks) : null,
  }
}
