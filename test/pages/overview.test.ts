import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Member, memberOf } from "../access/people/scene.ts"
import { type Browser, fieldIn } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { newStoreId, trackOwn } from "../world/app.ts"
import { tellAlerts } from "../writes/feed-alerts.ts"

setDefaultTimeout(60_000)

let service: Service
let tea: Sharing
let workspace: number
let owner: Member

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})
beforeEach(async () => {
  tea = await sharing(service, { name: "Tea <Timer>", keywords: ["tea", "mate"] })
  workspace = tea.writer.workspace
  owner = await memberOf(service, workspace, "owner")
})

const now = () => new Date().toISOString()
const found = (app = tea.app) => tellAlerts(service.sql, [{ workspace, app, at: now() }])
const events = (text: string) => text.split('class="event"').length - 1

/** Sends one of the page's forms and returns the page after it. */
async function press(browser: Browser, action: string, fields: Record<string, string> = {}) {
  const page = await browser.open("/app")
  const until = fieldIn(page, "until")
  const sent = { form: fieldIn(page, "form") as string, back: "/app", action, ...(until && { until }), ...fields }
  const { status, headers } = await browser.send("/app/write", sent)
  expect([status, headers.get("location")]).toEqual([303, "/app"])
  return await browser.open("/app")
}

const hoursPass = (hours: number) =>
  service.sql`
    update membership
    set visited_at = visited_at - ${hours}::int * interval '1 hour',
      created_at = created_at - ${hours}::int * interval '1 hour'
    where workspace_id = ${workspace}`

describe("since you were last here", () => {
  slow("a first visit shows seven days of changes, and each person marks changes as seen separately", async () => {
    await tellAlerts(service.sql, [{ workspace, app: tea.app, at: "2025-11-01T10:00:00Z" }])
    await found()
    const { text } = await owner.browser.open("/app")
    expect([text.includes("The last seven days"), events(text)]).toEqual([true, 1])
    const { text: marked } = await press(owner.browser, "mark_seen")
    expect([marked.includes("Since you were last here"), marked.includes("Nothing new"), events(marked)]).toEqual([
      true,
      true,
      0,
    ])
    const other = await memberOf(service, workspace, "viewer")
    expect(events((await other.browser.open("/app")).text)).toBe(1)
    expect((await owner.browser.open("/app/alerts")).text).toContain("2 unread")
  })

  test("a first visit shows the changes of the last seven days, newest day first", async () => {
    await found()
    await service.sql`
      insert into alert (workspace_id, app_id, type, platform, storefront, subject, day, at, facts)
      select workspace_id, app_id, type, platform, storefront, 'moon ' || n, day - n, at + n * interval '1 second',
        facts || jsonb_build_object('term', 'moon ' || n)
      from alert
      cross join unnest(array[2, 1, 9]) n
      where workspace_id = ${workspace}`
    const { text } = await owner.browser.open("/app")
    const terms = [...text.matchAll(/class="event"[^>]*>[^<]*&quot;([^&]*)&quot;/g)].map(([, term]) => term)
    expect(terms).toEqual(["tea", "moon 1", "moon 2"])
  })

  slow("marking changes as seen can be undone only in the same visit", async () => {
    await found()
    await press(owner.browser, "mark_seen")
    const { text } = await press(owner.browser, "unmark_seen")
    expect([events(text), text.includes("Marked as seen.")]).toEqual([1, false])
    await press(owner.browser, "mark_seen")
    await hoursPass(5)
    expect((await owner.browser.open("/app")).text).not.toContain("Marked as seen.")
  })

  test("a change found after older changes were marked as seen is shown as new", async () => {
    await found()
    await press(owner.browser, "mark_seen")
    await found()
    expect(events((await owner.browser.open("/app")).text)).toBe(1)
  })

  test("a change stays on the page during a visit, and the next visit shows only newer changes", async () => {
    await owner.browser.open("/app")
    await found()
    await hoursPass(3)
    expect(events((await owner.browser.open("/app")).text)).toBe(1)
    await hoursPass(5)
    await service.sql`update alert set found_at = now() - interval '6 hours' where workspace_id = ${workspace}`
    await found()
    const { text } = await owner.browser.open("/app")
    expect([text.includes("Since you were last here"), events(text)]).toEqual([true, 1])
  })

  test("a seen mark with a future time does not hide later changes, and an invalid time is refused", async () => {
    await owner.browser.open("/app")
    await press(owner.browser, "mark_seen", { until: "2999-01-01T00:00:00.000Z" })
    await found()
    expect(events((await owner.browser.open("/app")).text)).toBe(1)
    const form = fieldIn(await owner.browser.open("/app"), "form") as string
    const wrong = await owner.browser.send("/app/write", { form, back: "/app", action: "mark_seen", until: "soon" })
    expect(wrong.status).toBe(400)
  })

  test("a person limited to some apps sees only the changes of these apps", async () => {
    const second = await trackOwn(service.sql, {
      workspaceId: workspace,
      iosId: newStoreId(),
      name: "Mate",
      keywords: [],
    })
    await found()
    await found(second)
    const guest = await memberOf(service, workspace, "viewer", { apps: [second] })
    const { text } = await guest.browser.open("/app")
    expect([events(text), text.includes("Tea"), text.includes("Mate")]).toEqual([1, false, true])
  })
})

describe("the cards", () => {
  test("an app's card shows the trend, the keywords that moved most, and why a figure is missing", async () => {
    await tea.measureAll([
      ["tea", 9, 3],
      ["mate", 9, 20],
      ["tea", 0, 12],
      ["mate", 0, 5],
    ])
    const { text } = await owner.browser.open("/app")
    expect(text).toContain("Tea &lt;Timer&gt;")
    expect(text).toContain("<strong>1 of 2</strong> in the top 10")
    expect(text).toMatch(/▲ 20 → 5<\/span>\n<a href="[^"]*\/ranks\?terms=mate&amp;at=us-ios"/)
    expect(text).toMatch(/▼ 3 → 12<\/span>\n<a href="[^"]*\/ranks\?terms=tea&amp;at=us-ios"/)
    expect(text).toContain("not read in 7 days")
    expect(text).toMatch(/<dt>Revenue<\/dt><dd><span class="quiet">– <small><a href="[^"]*\/revenue">not connected/)
  })

  test("an app's card shows no revenue to a person without the right to see money", async () => {
    const viewer = await memberOf(service, workspace, ["apps:read"])
    const { status, text } = await viewer.browser.open("/app?order=revenue")
    expect([status, text.includes("<dt>Revenue</dt>")]).toEqual([200, false])
  })

  test("the list of apps can be searched and sorted, and has 60 apps per page", async () => {
    // adding them one by one would take seconds
    await service.sql`
      insert into tracked_app (id, workspace_id, name, ios_app, countries)
      select id || '_' || n, workspace_id, 'App ' || lpad(n::text, 2, '0'), ios_app, countries
      from tracked_app
      cross join generate_series(1, 61) n
      where id = ${tea.app}`
    await tea.measureAll([
      ["tea", 9, 3],
      ["tea", 0, 12],
    ])
    const names = async (query: string) => {
      const { text } = await owner.browser.open(`/app?${query}`)
      return [...text.matchAll(/class="cover"[^>]*><bdi>([^<]*)/g)].map(([, name]) => name)
    }
    expect((await names(""))[0]).toBe("Tea &lt;Timer&gt;")
    const byName = await names("order=name")
    expect([byName.length, byName[0], byName.at(-1)]).toEqual([60, "App 01", "App 60"])
    expect(await names("order=name&page=2")).toEqual(["App 61", "Kettle", "Tea &lt;Timer&gt;"])
    expect(await names("q=APP+07")).toEqual(["App 07"])
    expect(await names("q=no+such")).toEqual([])
    expect((await names("order=downloads&page=many")).length).toBe(60)
  })
})
