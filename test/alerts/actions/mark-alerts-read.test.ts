import { beforeEach, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { long } from "../../long.ts"
import { type SomeAlert, tellAlerts, unreadOf } from "../../writes/feed-alerts.ts"
import { prepareScene } from "../../writes/scene.ts"

const fixture = prepareScene()
let other: string

beforeEach(async () => {
  other = await fixture.tracked([], "389801252", fixture.workspace)
})

const addAlerts = (...alerts: Partial<SomeAlert>[]) =>
  tellAlerts(
    fixture.sql,
    alerts.map((alert) => ({ workspace: fixture.workspace, app: fixture.app, ...alert })),
  )
const unread = () => unreadOf(fixture.sql, fixture.workspace)
const markRead = async (args: object) => (await fixture.applied("mark_alerts_read", args)).body

describe("the preview", () => {
  test("the preview counts the alerts of each app and of the workspace, and costs nothing", async () => {
    await addAlerts(
      { at: "2025-11-01T10:00:00Z" },
      { at: "2025-11-03T10:00:00Z" },
      { at: "2025-11-02T10:00:00Z", app: other },
      { at: "2025-11-01T09:00:00Z", app: null },
      { read: true },
    )
    const { body } = await fixture.preview("mark_alerts_read")
    const counts = [
      {
        appId: fixture.app,
        name: "Kettle",
        count: 2,
        newest: "2025-11-03T10:00:00.000Z",
        oldest: "2025-11-01T10:00:00.000Z",
      },
      {
        appId: other,
        name: "Kettle",
        count: 1,
        newest: "2025-11-02T10:00:00.000Z",
        oldest: "2025-11-02T10:00:00.000Z",
      },
      { appId: null, name: null, count: 1, newest: "2025-11-01T09:00:00.000Z", oldest: "2025-11-01T09:00:00.000Z" },
    ]
    expect(body).toMatchObject({ credits: 0, destructive: false, asynchronous: false })
    expect(body.preview).toEqual({
      summary: "Mark 4 alerts of every app as read.",
      target: { kind: "alerts", id: "all", name: "every app" },
      before: { alerts: counts, digest: expect.stringMatching(/^[\w-]{22}$/), read: false },
      after: { alerts: counts, digest: body.preview.before.digest, read: true },
      notes: [],
    })
    expect((await fixture.confirm(body.confirmToken)).body).toMatchObject({
      status: "applied",
      credits: 0,
      result: { read: true, marked: 4, alerts: counts },
    })
    expect([await unread(), await fixture.ledger(), (await fixture.audits()).length]).toEqual([[], [], 1])
  })

  test("the preview without matching alerts counts 0 alerts, and its confirm writes nothing", async () => {
    await addAlerts({ read: true })
    const { body } = await fixture.preview("mark_alerts_read")
    expect(body.preview).toMatchObject({ summary: "Mark 0 alerts of every app as read.", before: { alerts: [] } })
    expect((await fixture.confirm(body.confirmToken)).body.status).toBe("unchanged")
    expect(await fixture.audits()).toEqual([])
  })
})

describe("marked alerts", () => {
  test("marking the alerts of one app as read leaves the alerts of other apps unread", async () => {
    const [, otherAlert, whole] = await addAlerts({}, { app: other }, { app: null })
    expect((await markRead({ appId: fixture.app })).result.marked).toBe(1)
    expect(await unread()).toEqual([otherAlert!, whole!])
  })

  test("the option `read: false` marks matching alerts as unread again", async () => {
    const ids = await addAlerts({ read: true }, { read: true, at: "2025-11-02T00:00:00Z" }, {})
    const { body } = await fixture.preview("mark_alerts_read", { read: false, until: "2025-11-01" })
    expect(body.preview).toMatchObject({
      summary: "Mark 1 alert of every app until 2025-11-01 as unread.",
      before: { read: true },
      after: { read: false },
    })
    expect((await fixture.confirm(body.confirmToken)).body.result).toMatchObject({ read: false, marked: 1 })
    expect(await unread()).toEqual([ids[0]!, ids[2]!])
  })

  test.each([
    ["2025-11-01", ["2025-10-31T23:59:59Z", "2025-11-01T23:59:59.999999Z"], ["2025-11-02T00:00:00Z"]],
    ["2024-02-29", ["2024-02-29T23:59:59Z"], ["2024-03-01T00:00:00Z"]],
    ["2025-11-01T10:00:00Z", ["2025-11-01T10:00:00Z", "2025-11-01T10:00:00.000999Z"], ["2025-11-01T10:00:00.001Z"]],
    ["2025-11-01T10:00:00.530+03:00", ["2025-11-01T07:00:00.530039Z"], ["2025-11-01T07:00:00.531Z"]],
    ["9999-12-31", ["2025-11-01T10:00:00Z"], []],
    ["0000-01-01", [], ["2025-11-01T10:00:00Z"]],
  ])("the option `until: %s` marks only alerts up to that time as read", async (until, included, after) => {
    await addAlerts(...included.map((at) => ({ at })))
    const left = await addAlerts(...after.map((at) => ({ at })))
    await markRead({ until })
    expect(await unread()).toEqual(left)
  })

  test("the option `until` includes the alert whose `at` from the feed is used as its value", async () => {
    await addAlerts({ at: "2025-11-01T10:00:00.530999Z" })
    const readFeed = async () => (await fixture.service.call("/v1/alerts", { key: fixture.key })).body
    const [{ at }] = (await readFeed()).alerts
    await markRead({ until: at })
    expect(await readFeed()).toMatchObject({ unread: 0, alerts: [{ at, read: true }] })
  })

  test("an alert found after the preview is never marked, and the token stays valid", async () => {
    await addAlerts({}, {})
    for (const args of [{}, { until: "2025-11-30" }, { appId: fixture.app }]) {
      const { body } = await fixture.preview("mark_alerts_read", args)
      const lateIds = await addAlerts({}, { at: "2025-10-01T00:00:00Z" }, { app: other })
      expect((await fixture.confirm(body.confirmToken)).status).toBe(200)
      expect((await unread()).slice(-3)).toEqual(lateIds)
      await fixture.sql`update alert set read_at = now() where id = any(${lateIds}::bigint[])`
      await addAlerts({}, {})
    }
  })

  test("the confirm gets confirm_token_mismatch if other alerts match than in the preview", async () => {
    const [first, second] = await addAlerts({}, { read: true })
    const { body } = await fixture.preview("mark_alerts_read")
    await fixture.sql`update alert set read_at = now() where id = ${first!}`
    await fixture.sql`update alert set read_at = null where id = ${second!}`
    const refused = await fixture.confirm(body.confirmToken)
    expect([refused.status, refused.body.error]).toEqual([409, "confirm_token_mismatch"])
    expect(refused.body.preview.before.alerts).toEqual(body.preview.before.alerts)
    expect(await unread()).toEqual([second!])
  })

  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: the confirm fails as a mismatch if an alert found before the preview is committed after it",
    async () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const inserted = Promise.withResolvers<void>()
      const finding = fixture.sql.begin(async (tx) => {
        await tellAlerts(tx as unknown as Sql, [{ workspace: fixture.workspace, app: fixture.app }])
        inserted.resolve()
        await released
      })
      await inserted.promise
      await addAlerts({})
      const { body } = await fixture.preview("mark_alerts_read")
      release()
      await finding
      const refused = await fixture.confirm(body.confirmToken)
      expect([refused.body.error, refused.body.preview.before.alerts[0].count]).toEqual(["confirm_token_mismatch", 2])
      expect(await unread()).toHaveLength(2)
    },
  )

  long("one call marks the newest 5,000 alerts, and its preview notes that more alerts match", async () => {
    await fixture.sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
      select ${fixture.workspace}, ${fixture.app}, 'entered', 'ios', 'us', n::text, '2025-11-01',
        '2025-11-01'::date + n * interval '1 s', '{}'
      from generate_series(1, 5001) n`
    const oldest = (await unread())[0]!
    const { body } = await fixture.preview("mark_alerts_read")
    expect([body.preview.summary, body.preview.notes]).toEqual([
      "Mark 5,000 alerts of every app as read.",
      ["Only the newest 5,000 are included. Repeat the write for the others."],
    ])
    expect((await fixture.confirm(body.confirmToken)).body.result.marked).toBe(5_000)
    expect(await unread()).toEqual([oldest])
    expect((await fixture.preview("mark_alerts_read")).body.preview.notes).toEqual([])
  })
})

describe("a key limited to some apps", () => {
  test("a key limited to some apps marks only alerts of those apps, not alerts about the whole workspace", async () => {
    const limited = await fixture.service.key(fixture.workspace, { appList: [other] })
    const [ownAlert, , whole] = await addAlerts({}, { app: other }, { app: null })
    const { body } = await fixture.preview("mark_alerts_read", {}, limited)
    expect(body.preview.before.alerts).toMatchObject([{ appId: other, count: 1 }])
    expect((await fixture.confirm(body.confirmToken, limited)).body.result.marked).toBe(1)
    expect(await unread()).toEqual([ownAlert!, whole!])
    expect((await fixture.preview("mark_alerts_read", { appId: fixture.app }, limited)).body.error).toBe(
      "app_not_allowed",
    )
  })

  test("mark_alerts_read never changes the alerts of another workspace", async () => {
    const stranger = await fixture.service.workspace()
    const otherApp = await fixture.tracked([], "389801252", stranger)
    const ids = await tellAlerts(fixture.sql, [
      { workspace: stranger, app: otherApp },
      { workspace: stranger, app: null },
    ])
    await addAlerts({})
    expect((await markRead({})).result.marked).toBe(1)
    expect((await fixture.preview("mark_alerts_read", { appId: otherApp })).body.error).toBe("not_found")
    expect(await unreadOf(fixture.sql, stranger)).toEqual(ids)
  })
})

test("an invalid time or an unknown argument is refused, and the error names the argument", async () => {
  const malformed = [
    "2025-02-30",
    "2025-13-01",
    "yesterday",
    "2025-11-01 10:00",
    "2025-11-01T10:00:00",
    "1761991200",
    "",
  ]
  for (const until of malformed) {
    const { body } = await fixture.preview("mark_alerts_read", { until })
    expect([until, body.error, body.field]).toEqual([until, "invalid_arguments", "until"])
  }
  expect((await fixture.preview("mark_alerts_read", { newest: 5 })).body.field).toBe("newest")
})
