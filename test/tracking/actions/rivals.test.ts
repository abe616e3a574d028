import { beforeEach, describe, expect, test } from "bun:test"
import { deriveFor, TODAY } from "../../alerts/derived-alerts.ts"
import { cases, slow } from "../../long.ts"
import { reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { prepareScene } from "../../writes/scene.ts"

const scene = prepareScene()
const OWN_APP = "1437843273"
const CUP = "30001"
const POT = "30002"
const NEVER = "1437816860"

beforeEach(async () => {
  // the cup and the pot rank above the app, an unnamed one below
  const results = [CUP, POT, OWN_APP, "30003"].map((id) => ({ id, name: `Tea ${id}` }))
  const days = ["2025-11-19", "2025-11-20"].map((day) =>
    reading("tea", `${day}T10:00:00Z`, [], { storefront: "us", depth: 100, results }),
  )
  const { refused } = await record(scene.sql, days, () => TODAY)
  expect(refused).toEqual([])
})

const get = async (path: string) => (await scene.service.call(`/v1${path}`, { key: scene.key })).body
const add = (...rivals: string[]) => scene.applied("add_rivals", { appId: scene.app, rivals })
const remove = (...rivals: string[]) => scene.applied("remove_rivals", { appId: scene.app, rivals })

async function listed(app = scene.app): Promise<[string, boolean][]> {
  const { rivals } = await get(`/apps/${app}/rivals?country=us`)
  return rivals.map(({ id, manual }: { id: string; manual: boolean }) => [id, manual])
}

async function storedLists(): Promise<unknown[]> {
  const [row] = await scene.sql`select manual_rivals, hidden_rivals from tracked_app where id = ${scene.app}`
  return Object.values(row!)
}

describe("add_rivals", () => {
  slow("add_rivals adds rivals by hand, and its preview lists rivals already added or never read", async () => {
    await add(`ios:${POT}`)
    const rivals = [`ios:${CUP}`, `ios:${POT}`, `ios:${NEVER}`, "android:com.example.cup", `ios:${CUP}`]
    const { body } = await scene.preview("add_rivals", { appId: scene.app, rivals })
    expect([body.credits, body.destructive]).toEqual([1, false])
    expect(body.preview).toEqual({
      summary: 'Add 3 rivals of "Kettle" by hand.',
      target: { kind: "app", id: scene.app, name: "Kettle" },
      before: { named: [`ios:${POT}`], hidden: [] },
      after: { named: rivals.slice(0, 4), hidden: [] },
      notes: [
        `Already added: ios:${POT}.`,
        `No name yet, because no reading has shown it: ios:${NEVER}, android:com.example.cup.`,
        "The app is not tracked on that store, so its keywords are not read there: android:com.example.cup.",
      ],
    })
    expect((await scene.confirm(body.confirmToken)).body.result).toEqual({
      appId: scene.app,
      added: [`ios:${CUP}`, `ios:${NEVER}`, "android:com.example.cup"],
      alreadyNamed: [`ios:${POT}`],
    })
    expect((await get(`/apps/${scene.app}`)).manualRivals).toEqual([
      ...[`ios:${POT}`, `ios:${CUP}`, `ios:${NEVER}`],
      "android:com.example.cup",
    ])
    expect(await listed()).toEqual([
      [CUP, true],
      [POT, true],
      [NEVER, true],
    ])
  })

  test("add_rivals with rivals that are already added changes nothing and is free", async () => {
    await add(`ios:${CUP}`)
    const { body } = await scene.preview("add_rivals", { appId: scene.app, rivals: [`ios:${CUP}`] })
    expect([body.credits, body.preview.before]).toEqual([0, body.preview.after])
    expect((await scene.confirm(body.confirmToken)).body.status).toBe("unchanged")
  })

  test("add_rivals accepts up to 50 rivals per app and refuses more with the reason", async () => {
    const ids = (from: number, count: number) => Array.from({ length: count }, (_, at) => `ios:${from + at}`)
    await add(...ids(40_001, 49))
    const { body } = await scene.preview("add_rivals", { appId: scene.app, rivals: ids(50_001, 2) })
    expect([body.error, body.reason]).toEqual([
      "write_limit_reached",
      "At most 50 rivals of an app may be added by hand; this would make it 51.",
    ])
    const late = await scene.preview("add_rivals", { appId: scene.app, rivals: ids(60_001, 1) })
    await add(...ids(50_001, 1))
    expect((await scene.confirm(late.body.confirmToken)).body.error).toBe("write_limit_reached")
    expect((await add(...ids(40_001, 50).slice(0, 49))).body.status).toBe("unchanged")
    expect((await scene.preview("add_rivals", { appId: scene.app, rivals: ids(1, 51) })).body.field).toBe("rivals")
  })
})

describe("remove_rivals", () => {
  test("remove_rivals hides a rival that ranks above the app, and add_rivals shows it again", async () => {
    expect(await listed()).toEqual([
      [CUP, false],
      [POT, false],
    ])
    const { body } = await scene.preview("remove_rivals", { appId: scene.app, rivals: [`ios:${CUP}`] })
    expect(body).toMatchObject({ credits: 1, destructive: true })
    expect(body.preview).toMatchObject({
      summary: 'Hide 1 rival of "Kettle".',
      before: { named: [], hidden: [] },
      after: { named: [], hidden: [`ios:${CUP}`] },
      notes: [],
    })
    await scene.confirm(body.confirmToken)
    expect([await listed(), await storedLists()]).toEqual([[[POT, false]], [null, [`ios:${CUP}`]]])
    const back = await scene.preview("add_rivals", { appId: scene.app, rivals: [`ios:${CUP}`] })
    expect(back.body.preview).toMatchObject({
      before: { named: [], hidden: [`ios:${CUP}`] },
      after: { named: [`ios:${CUP}`], hidden: [] },
      notes: [`Hidden before, and shown again: ios:${CUP}.`],
    })
    await scene.confirm(back.body.confirmToken)
    expect(await listed()).toEqual([
      [CUP, true],
      [POT, false],
    ])
    expect(await storedLists()).toEqual([[`ios:${CUP}`], null])
  })

  test("remove_rivals hides a rival added by hand, even if it ranks above the app", async () => {
    await add(`ios:${CUP}`, "ios:30003")
    const { body } = await scene.preview("remove_rivals", { appId: scene.app, rivals: [`ios:${CUP}`, `ios:${NEVER}`] })
    expect(body.preview.notes).toEqual([
      `Added by hand before: ios:${CUP}.`,
      `Not seen in any reading yet; hidden if it appears: ios:${NEVER}.`,
    ])
    expect((await scene.confirm(body.confirmToken)).body.result).toEqual({
      appId: scene.app,
      removed: [`ios:${CUP}`, `ios:${NEVER}`],
      alreadyHidden: [],
    })
    expect(await listed()).toEqual([
      [POT, false],
      ["30003", true],
    ])
    const repeated = await scene.preview("remove_rivals", { appId: scene.app, rivals: [`ios:${CUP}`] })
    expect([repeated.body.credits, repeated.body.preview.notes]).toEqual([0, [`Hidden already: ios:${CUP}.`]])
    expect((await scene.confirm(repeated.body.confirmToken)).body.status).toBe("unchanged")
  })

  test("remove_rivals hides up to 500 rivals per app and refuses more with the reason", async () => {
    const hidden = Array.from({ length: 499 }, (_, at) => `ios:${40_001 + at}`)
    await scene.sql`update tracked_app set hidden_rivals = ${hidden}::text[] where id = ${scene.app}`
    const previewRemoval = (...rivals: string[]) => scene.preview("remove_rivals", { appId: scene.app, rivals })
    expect((await previewRemoval(`ios:${CUP}`)).status).toBe(200)
    expect((await previewRemoval(`ios:${CUP}`, `ios:${POT}`)).body.reason).toBe(
      "At most 500 rivals of an app may be hidden; this would make it 501.",
    )
  })
})

describe("a hidden rival", () => {
  test("a hidden rival is excluded from search and fetch, but only for the app that hides the rival", async () => {
    const other = await scene.tracked(["tea"], "30003", scene.workspace)
    const id = (app: string) => `rival:${app}:${CUP}`
    const found = async () => (await get(`/search?q=${CUP}`)).results.map(({ id }: { id: string }) => id).toSorted()
    expect(await found()).toEqual([id(scene.app), id(other)].toSorted())
    expect((await get(`/fetch?id=${id(scene.app)}`)).id).toBe(id(scene.app))
    await remove(`ios:${CUP}`)
    expect([await found(), await listed(other)]).toEqual([[id(other)], expect.arrayContaining([[CUP, false]])])
    expect((await get(`/fetch?id=${id(scene.app)}`)).error).toBe("not_found")
    expect((await get(`/fetch?id=${id(other)}`)).id).toBe(id(other))
    await add(`ios:${CUP}`)
    expect(await found()).toEqual([id(scene.app), id(other)].toSorted())
  })

  slow("a hidden rival is no longer followed and no longer listed in chart movers", async () => {
    const followed = async () => {
      await deriveFor(scene.sql, { subject: OWN_APP })
      const rows = await scene.sql<{ id: string }[]>`
        select s.store_id as id
        from app_rival r
        join store_app s on s.id = r.rival
        where r.app_id = ${scene.app} and r.storefront = 'us'
        order by 1`
      return rows.map(({ id }) => id)
    }
    const otherRivals = async () =>
      (await get(`/apps/${scene.app}/chart-movers?country=us`)).rivals.map(({ id }: { id: string }) => id)
    expect([await followed(), await otherRivals()]).toEqual([
      [CUP, POT],
      [CUP, POT],
    ])
    await remove(`ios:${CUP}`)
    // before any further reading
    expect(await otherRivals()).toEqual([POT])
    expect(await followed()).toEqual([POT])
    await add(`ios:${CUP}`)
    expect([await followed(), await otherRivals()]).toEqual([
      [CUP, POT],
      [CUP, POT],
    ])
  })

  test("a rival is hidden on one store only, and the same id on the other store is another app", async () => {
    const ids = ["com.example.cup", "com.example.kettle"]
    await record(
      scene.sql,
      [reading("tea", "2025-11-20T10:00:00Z", ids, { platform: "android", storefront: "us", depth: 100 })],
      () => TODAY,
    )
    await scene.sql`
      update tracked_app
      set android_app = (select id from store_app where store_id = 'com.example.kettle')
      where id = ${scene.app}`
    const readFigures = async () => {
      const { rivals } = await get(`/apps/${scene.app}/rivals?country=us&platform=android`)
      const { results } = await get("/search?q=com.example.cup")
      return [rivals, results].map((rows: { id: string }[]) => rows.map(({ id }) => id))
    }
    const cup = ["com.example.cup"]
    expect(await readFigures()).toEqual([cup, [`rival:${scene.app}:com.example.cup`]])
    await remove(`ios:${CUP}`)
    expect(await readFigures()).toEqual([cup, [`rival:${scene.app}:com.example.cup`]])
    await remove("android:com.example.cup")
    expect([await readFigures(), await listed()]).toEqual([[[], []], [[POT, false]]])
  })

  slow("a rival added or hidden while findings are derived has the state of the last write", async () => {
    const followed = async () => {
      const rows = await scene.sql<{ manual: boolean; terms: number }[]>`
        select r.manual, r.terms
        from app_rival r
        join store_app s on s.id = r.rival
        where r.app_id = ${scene.app} and s.store_id = ${CUP}`
      return [...rows]
    }
    for (let round = 0; round < cases(1, 3); round++) {
      for (const write of [remove, add]) {
        const [{ status }] = await Promise.all([
          write(`ios:${CUP}`, `ios:${POT}`),
          deriveFor(scene.sql, { subject: OWN_APP }),
          deriveFor(scene.sql, { subject: OWN_APP }),
        ])
        expect(status).toBe(200)
        await deriveFor(scene.sql, { subject: OWN_APP })
        expect(await followed()).toEqual(write === add ? [{ manual: true, terms: 1 }] : [])
      }
    }
    expect(scene.service.logged.join("")).not.toContain("deadlock")
  })

  test("GET /apps does not return hidden rivals", async () => {
    await remove(`ios:${CUP}`)
    const app = await get(`/apps/${scene.app}`)
    expect([app.manualRivals, JSON.stringify(app)]).toEqual([null, expect.not.stringContaining(CUP)])
  })
})

test("the app itself, a malformed rival and another workspace's app are refused, naming the argument", async () => {
  const ownApp = await scene.tracked([], "389801252", scene.workspace)
  await scene.sql`
    insert into store_app (platform, store_id)
    values ('android', 'com.example.kettle')
    on conflict do nothing`
  await scene.sql`
    update tracked_app
    set android_app = (select id from store_app where store_id = 'com.example.kettle')
    where id = ${scene.app}`
  const malformed = [
    "30001",
    "ios:",
    "ios:123",
    "ios:com.example",
    "android:nodots",
    "IOS:30001",
    "ios: 30001",
    "ios:30001:us",
    "windows:30001",
    `android:a.${"b".repeat(254)}`,
    `ios:${OWN_APP}`,
    "android:com.example.kettle",
  ]
  for (const action of ["add_rivals", "remove_rivals"]) {
    for (const rival of malformed) {
      const { body } = await scene.preview(action, { appId: scene.app, rivals: [`ios:${CUP}`, rival] })
      expect([action, rival, body.error, body.field]).toEqual([action, rival, "invalid_arguments", "rivals"])
    }
    expect((await scene.preview(action, { appId: ownApp, rivals: [`ios:${OWN_APP}`] })).status).toBe(200)
    for (const rivals of [[], "ios:30001", undefined])
      expect((await scene.preview(action, { appId: scene.app, rivals })).body.field).toBe("rivals")
    const foreign = await scene.tracked([], "284882215", await scene.service.workspace())
    expect((await scene.preview(action, { appId: foreign, rivals: [`ios:${CUP}`] })).body.error).toBe("not_found")
    const limited = await scene.service.key(scene.workspace, { appList: [ownApp] })
    expect((await scene.preview(action, { appId: scene.app, rivals: [`ios:${CUP}`] }, limited)).body.error).toBe(
      "app_not_allowed",
    )
  }
})
