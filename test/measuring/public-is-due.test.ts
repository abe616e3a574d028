import { beforeEach, describe, expect, test } from "bun:test"
import { loadDemo } from "../../src/demo/demo.ts"
import { kindsOf } from "../../src/due-kinds.ts"
import { claim } from "../../src/measuring/claim.ts"
import { type Claim, endMeasured } from "../../src/measuring/due.ts"
import { openLane } from "../../src/measuring/pace.ts"
import { recording } from "../../src/recording.ts"
import { trackApp } from "../../src/tracking/apps.ts"
import { someWorkspace } from "../access/registered.ts"
import { record } from "../record.ts"
import { trackOwn } from "../world/tracked.ts"
import { appsReading } from "./record/measured.ts"
import { countRowsRead } from "./rows-read.ts"
import { APPS, ITUNES, prepareScene } from "./scene.ts"

const scene = prepareScene()
const OWN_APP = "800001"
const CHARTS = ["ipad", "iphone"].flatMap((device) => ["free", "grossing", "paid"].map((chart) => `${device} ${chart}`))

beforeEach(async () => {
  await scene.sql`update store_app set genre = null, developer_id = null, developer_site = null`
})

interface New {
  iosId?: string
  androidPkg?: string
  countries?: string[]
}

const track = (rest: New = { iosId: OWN_APP }) => trackOwn(scene.sql, { workspaceId: scene.workspaceId, ...rest })

/** Returns "kind platform storefront subject" of everything due at once. */
async function due(): Promise<string[]> {
  const rows = await scene.sql<{ line: string }[]>`
    select concat_ws(' ', kind, platform, storefront, subject) as line
    from due
    where next_at <= now() and lease is null and measured_at is null
    order by kind, platform, storefront, subject`
  return rows.map(({ line }) => line)
}

describe("a tracked app", () => {
  test("tracking an App Store app schedules its page, reviews, look-up, charts and findings", async () => {
    await track()
    expect(await due()).toEqual([
      `app ios us ${OWN_APP}`,
      `app_ads ios us ${OWN_APP}`,
      ...CHARTS.map((chart) => `chart ios us ${chart} 36`),
      `findings ios us ${OWN_APP}`,
      "genres ios us 36",
      `listing ios us ${OWN_APP}`,
      `reviews ios us ${OWN_APP}`,
    ])
  })

  test("a tracked app's readings are scheduled in each storefront, but its app-ads.txt only once", async () => {
    await track({ iosId: OWN_APP, countries: ["us", "de"] })
    const lines = await due()
    for (const kind of ["app", "findings", "listing", "reviews"])
      expect(lines.filter((line) => line.startsWith(`${kind} `))).toHaveLength(2)
    expect(lines.filter((line) => line.startsWith("genres"))).toEqual(["genres ios de 36", "genres ios us 36"])
    expect(lines.filter((line) => line.startsWith("chart"))).toHaveLength(2 * CHARTS.length)
    expect(lines.filter((line) => line.startsWith("app_ads"))).toEqual([`app_ads ios us ${OWN_APP}`])
  })

  test("tracking a Google Play app schedules its look-up, app-ads.txt, findings and reviews", async () => {
    await track({ androidPkg: "com.example.tea" })
    expect(await due()).toEqual([
      "app android us com.example.tea",
      "app_ads android us com.example.tea",
      "findings android us com.example.tea",
      "reviews android us com.example.tea",
    ])
  })

  test("tracking an app or storing its genre does not scan all tracked apps", async () => {
    const otherCount = 100
    const { id: otherWorkspace } = await someWorkspace(scene.sql, { name: `others ${process.pid}`, plan: "pro" })
    await scene.sql`
      with apps as (
        insert into store_app (platform, store_id)
        select 'ios', n::text
        from generate_series(900001, ${900_000 + otherCount}::int) n
        returning id
      )
      insert into tracked_app (id, workspace_id, ios_app, countries, origin)
      select 'app_of_another_' || id, ${otherWorkspace}, id, '{us}', 'own'
      from apps`
    await scene.sql`analyze tracked_app`
    const app = { workspaceId: scene.workspaceId, iosId: OWN_APP, countries: ["us"], keywords: [], origin: "own" }
    const tracking = await countRowsRead(scene.sql, ["tracked_app"], (tx) => trackApp(tx, app))
    const learning = await countRowsRead(
      scene.sql,
      ["tracked_app"],
      (tx) => tx`
        update store_app
        set genre = '6013'
        where store_id = ${OWN_APP}`,
    )
    // a table of one or two pages may be scanned once, to check whether the workspace has the app; the old plan read 15
    // times as much
    expect(tracking).toBeWithin(1, 3 * otherCount)
    expect(learning).toBeWithin(1, 3 * otherCount)
  })

  test("an app of the demo schedules no reading", async () => {
    await loadDemo(recording, scene.sql, scene.workspaceId, "")
    expect(await due()).toEqual([])
  })
})

describe("new facts of a tracked app", () => {
  const look = (id: string, facts: object) =>
    record(scene.sql, [appsReading(new Date().toISOString(), [{ id, name: "Tea", ...facts }])])
  const rest = async (kind: string) => (await due()).filter((line) => line.startsWith(`${kind} `))

  test("a look-up that finds a genre or a new genre of a tracked app schedules the genre's charts", async () => {
    await track()
    await scene.sql`delete from due where kind <> 'chart'`
    await scene.sql`update due set measured_at = now()`
    await look(OWN_APP, { genre: "6013" })
    expect(await due()).toEqual(CHARTS.map((chart) => `chart ios us ${chart} 6013`))
    await look(OWN_APP, { genre: "6015" })
    expect(await due()).toHaveLength(2 * CHARTS.length)
  })

  test("a look-up that finds a tracked app's developer schedules the developer's page in one storefront", async () => {
    await track({ iosId: OWN_APP, countries: ["de", "us"] })
    await look(OWN_APP, { developerId: "1500000011" })
    expect(await rest("developer")).toEqual(["developer ios de 1500000011"])
  })

  test("a look-up of an untracked app schedules no chart and no developer's page", async () => {
    await look("800009", { genre: "6013", developerId: "1500000012" })
    expect(await due()).toEqual([])
  })
})

describe("a rival", () => {
  const storeApp = async (id: string) => {
    await record(scene.sql, [appsReading(new Date().toISOString(), [{ id, name: "Rival" }])])
    return (await scene.sql<{ id: number }[]>`select id from store_app where store_id = ${id}`)[0]!.id
  }
  const follow = (app: string, rival: number, storefront = "us", platform = "ios") => scene.sql`
    insert into app_rival (app_id, platform, storefront, rival, manual, terms)
    values (${app}, ${platform}, ${storefront}, ${rival}, true, 0)`
  const kindsNamed = (kind: string) => kindsOf({ egressCountry: undefined }).filter(({ name }) => name === kind)
  const LANES = [
    ["app", ITUNES],
    ["listing", APPS],
  ] as const

  test("the look-up and the page of an App Store rival are scheduled only while the app is a rival", async () => {
    const app = await track({ iosId: OWN_APP, countries: ["us", "de"] })
    await scene.sql`delete from due`
    await follow(app, await storeApp("800100"), "de")
    expect(await due()).toEqual(["app ios de 800100", "listing ios de 800100"])

    await scene.sql`delete from app_rival`
    for (const [kind, lane] of LANES) {
      await openLane(scene.sql, lane, 0)
      expect((await claim(scene.sql, lane, kindsNamed(kind), 30_000)).claimed).toBe(null)
    }
    expect(await due()).toEqual([])
  })

  test("only the look-up of a Google Play rival is scheduled", async () => {
    const app = await track({ androidPkg: "com.example.tea" })
    await scene.sql`delete from due`
    const about = { platform: "android" as const, source: "play-details" as const }
    await record(scene.sql, [appsReading(new Date().toISOString(), [{ id: "com.example.cup", name: "Cup" }], about)])
    const [cup] = await scene.sql<{ id: number }[]>`select id from store_app where store_id = 'com.example.cup'`
    await follow(app, cup!.id, "us", "android")
    expect(await due()).toEqual(["app android us com.example.cup"])
  })

  test("a rival's page is read after all other requests to the same upstream", async () => {
    await scene.sql`update workspace set plan = 'free' where id = ${scene.workspaceId}`
    const app = await track()
    await scene.sql`delete from due`
    await follow(app, await storeApp("800100"))
    await scene.sql`
      insert into due (kind, platform, storefront, subject, priority)
      values ('listing', 'ios', 'us', ${OWN_APP}, 2), ('canary', 'ios', 'us', 'apple-web-search', 2)`
    await scene.sql`update due set next_at = now() - interval '5 days' where subject = '800100'`
    await openLane(scene.sql, APPS, 0)
    const kinds = [...kindsNamed("listing"), ...kindsNamed("canary")]
    const turns: (Claim | null)[] = []
    for (let turn = 0; turn < 4; turn++) turns.push((await claim(scene.sql, APPS, kinds, 30_000)).claimed)
    const subjects = turns.map((turn) => turn?.subjects[0]?.subject)
    expect([subjects.slice(0, 2).sort(), subjects[2], subjects[3]]).toEqual([
      [OWN_APP, "apple-web-search"],
      "800100",
      undefined,
    ])
    await scene.sql.begin((tx) => endMeasured(tx, turns[2]!))
    expect((await scene.sql`select priority from due where subject = '800100' and kind = 'listing'`)[0]!.priority).toBe(
      3,
    )
  })

  test("the page of a rival that becomes tracked is read before the pages of untracked rivals", async () => {
    await follow(await track(), await storeApp("800100"))
    await track({ iosId: "800100" })
    const rows = await scene.sql`select priority from due where subject = '800100' and kind = 'listing'`
    expect(rows.map((row) => row.priority < 3)).toEqual([true])
  })

  test("each reading of a rival is scheduled once, even for a tracked rival or a rival of two apps", async () => {
    const [app, other] = [await track(), await track({ iosId: "800002" })]
    await scene.sql`delete from due where kind not in ('app', 'listing')`
    await follow(app, await storeApp("800002"))
    await follow(app, await storeApp("800100"))
    await follow(other, await storeApp("800100"))
    expect(await due()).toEqual([
      ...[OWN_APP, "800002", "800100"].map((id) => `app ios us ${id}`),
      ...[OWN_APP, "800002", "800100"].map((id) => `listing ios us ${id}`),
    ])
  })

  test("a suspended workspace's rivals are due again after the suspension", async () => {
    await follow(await track(), await storeApp("800100"))
    await scene.sql`update workspace set suspended_at = now() where id = ${scene.workspaceId}`
    await scene.sql`delete from due`
    await scene.sql`update workspace set suspended_at = null where id = ${scene.workspaceId}`
    expect(await due()).toEqual(expect.arrayContaining(["app ios us 800100", "listing ios us 800100"]))
  })
})
