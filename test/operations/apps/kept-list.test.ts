import { beforeEach, expect, test } from "bun:test"
import type { Fragment } from "postgres"
import type { Sql } from "../../../src/database/types.ts"
import { listApps } from "../../../src/operations/apps/apps.ts"
import { appShape } from "../../../src/operations/shapes.ts"
import { addTerms } from "../../../src/tracking/terms.ts"
import { readAppLists, readListDigests } from "../../../src/tracking/tracked-app.ts"
import { freshDatabase } from "../../database.ts"
import { openHouse } from "../../house.ts"
import { ask, contextOf, newWorkspace } from "../../observations/measured.ts"
import { countedOn } from "../../surfaces/counted.ts"
import { trackOwn } from "../../world/tracked.ts"

let sql: Sql

beforeEach(async () => {
  sql = await freshDatabase()
})

const listed = async (workspaceId: number) => (await ask(listApps, contextOf(sql, workspaceId))).apps
const readAnew = async (workspaceId: number) => {
  const [list] = await readAppLists(sql, [{ workspaceId, appList: null }])
  return JSON.parse(JSON.stringify(list!.apps.map(appShape)))
}

test("a list that is kept is given until anything in it changes: after each change it is what stands in the database", async () => {
  const workspaceId = await newWorkspace(sql)
  const one = await trackOwn(sql, { workspaceId, iosId: "10001", countries: ["de", "us"], keywords: ["tea", "mate"] })
  const two = await trackOwn(sql, { workspaceId, iosId: "10002", countries: ["de", "us"], keywords: ["chai", "tee"] })
  const three = await trackOwn(sql, { workspaceId, androidPkg: "org.three", countries: ["fr"], keywords: ["tea"] })
  const named = (app: string, storefront: string, { name, icon }: { name?: string; icon?: string }) => sql`
    insert into store_app_name (app_id, storefront, name, icon_url, name_weight, icon_weight, name_at, icon_at, demo)
    select coalesce(ios_app, android_app), ${storefront}, ${name ?? null}, ${icon ?? null},
      case when ${name !== undefined} then 1 end, case when ${icon !== undefined} then 1 end,
      case when ${name !== undefined} then now() end, case when ${icon !== undefined} then now() end, false
    from tracked_app
    where id = ${app}`
  const set = (app: string, what: Fragment) => sql`update tracked_app set ${what} where id = ${app}`
  const changes: Record<string, () => Promise<unknown>> = {
    "a name elsewhere": () => named(one, "gb", { name: "Elsewhere" }),
    "a name in the second storefront": () => named(one, "us", { name: "Second" }),
    "an icon elsewhere": () => named(one, "it", { icon: "https://icons/elsewhere" }),
    "a name in the first storefront": () => named(one, "de", { name: "First" }),
    "its icon there": () => sql`
      update store_app_name set icon_url = 'https://icons/first', icon_weight = 1, icon_at = now()
      where storefront = 'de'`,
    "another name there": () => sql`update store_app_name set name = 'Renamed' where storefront = 'de'`,
    "the row goes": () => sql`delete from store_app_name where storefront = 'de'`,
    "a name of the other store": () => named(three, "fr", { name: "Trois", icon: "https://icons/three" }),
    "a second store": () => set(one, sql`android_app = (select android_app from tracked_app where id = ${three})`),
    "no second store": () => set(one, sql`android_app = null`),
    "its own name": () => set(two, sql`name = 'Mine'`),
    "a bundle": () => sql`update store_app set bundle_id = 'com.one' where store_id = '10001'`,
    "a goal": () => set(one, sql`goal = 'rank'`),
    "a task": () => set(one, sql`tasks_done = '{name}'`),
    "two tasks": () => set(one, sql`tasks_done = '{name,icon}'`),
    "rivals by hand": () => set(one, sql`manual_rivals = '{"ios:1"}'`),
    tags: () => set(one, sql`keyword_tags = '{"tea": ["hot"]}'`),
    "buried keywords": () => set(one, sql`buried_keywords = '{mate}'`),
    "the order of storefronts": () => set(two, sql`countries = '{us,de}'`),
    "the order of keywords": () => sql`update tracked_term set position = 100 - position where app_id = ${one}`,
    "a keyword that goes": () => sql`delete from tracked_term where (app_id, country, term) = (${one}, 'us', 'mate')`,
    "a keyword that comes": () =>
      sql`insert into tracked_term (app_id, country, term, position) values (${one}, 'us', 'matcha', 9)`,
    "a keyword of another app": () =>
      sql`update tracked_term set app_id = ${two} where app_id = ${one} and term = 'matcha'`,
    "keywords of two apps exchanged": () => sql`
      update tracked_term set app_id = case app_id when ${one} then ${two} else ${one} end
      where (app_id, term) in ((${one}, 'tea'), (${two}, 'chai'))`,
    "the order of apps": () => set(two, sql`created_at = created_at - interval '1 day'`),
    "an app that goes": () => sql`delete from tracked_app where id = ${three}`,
  }
  let before = await listed(workspaceId)
  expect(before).toEqual(await readAnew(workspaceId))
  for (const [what, change] of Object.entries(changes)) {
    await change()
    const after = await listed(workspaceId)
    expect([what, after]).toEqual([what, await readAnew(workspaceId)])
    expect([what, JSON.stringify(after) !== JSON.stringify(before)]).toEqual([what, true])
    expect([what, await listed(workspaceId)]).toEqual([what, after])
    before = after
  }
})

test("a list that has not changed is neither read nor written again, and its digest is that of the list", async () => {
  const counted = countedOn(sql)
  const [some, none] = [await newWorkspace(sql), await newWorkspace(sql)]
  await trackOwn(sql, { workspaceId: some, iosId: "10001", keywords: ["tea", "mate"] })
  const callers = [some, none].map((workspaceId) => ({ workspaceId, appList: null }))
  const lists = await readAppLists(sql, callers)
  expect(await readListDigests(sql, callers)).toEqual(lists.map(({ digest }) => digest))
  expect(lists.map(({ digest }) => digest === "")).toEqual([false, true])
  const context = contextOf(counted.sql, some)
  const first = await listApps.run({}, context)
  const before = counted.statements()
  expect(await listApps.run({}, context)).toBe(first)
  expect(counted.statements() - before).toBe(1)
})

test("who asks again is charged in the statement that finds the list as it was; one that has changed is read, and charged once", async () => {
  const counted = countedOn(sql)
  const house = openHouse({ sql: counted.sql })
  const workspaceId = await house.workspace({ plan: "pro", overrides: { credits: 6, ratePerSecond: 1_000 } })
  const one = await trackOwn(sql, { workspaceId, iosId: "10001", keywords: ["tea"] })
  const key = await house.key(workspaceId)
  const asked = async (path = "/v1/apps") => {
    const before = counted.statements()
    const { status, body, credits } = await house.call(path, { key })
    return { status, terms: body.apps?.[0].keywords, used: credits.used, statements: counted.statements() - before }
  }
  await asked()
  const again = async (terms: string[], used: number, statements: number) => {
    const answer = await asked()
    // a key that has grown too old meanwhile is looked up
    expect([0, 1]).toContain(answer.statements - statements)
    expect(answer).toMatchObject({ status: 200, terms, used })
  }
  await again(["tea"], 2, 1)
  await sql.begin((tx) => addTerms(tx, one, "all", ["mate"]))
  await again(["tea", "mate"], 3, 4)
  await again(["tea", "mate"], 4, 1)
  expect(await asked("/v1/apps?fields=id")).toMatchObject({ status: 200, used: 5 })
  expect((await house.tool("list_apps", {}, { key })).body.apps).toHaveLength(1)
  expect(await asked()).toMatchObject({ status: 402, used: 6 })
  const rows = await sql`select from ledger where workspace_id = ${workspaceId} limit 10`
  expect(rows).toHaveLength(6)
})
