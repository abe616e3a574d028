import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Browser, fieldIn, type Page } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { tellAlerts } from "../writes/feed-alerts.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

let service: Service
let tea: Sharing
let owner: Browser
let base: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  tea = await sharing(service, { name: "Tea <Timer>", keywords: ["tea"] })
  owner = await ownerOf(service, tea.writer.workspace)
  base = `/app/apps/${tea.app}`
})

/** Sends a page's form. Returns the page of the preview. */
async function previewOf(path: string, action: string, fields: Record<string, string>): Promise<Page> {
  const form = fieldIn(await owner.open(path), "form") as string
  return await owner.send("/app/write", { form, action, back: path, ...fields })
}

/** Presses the button of a preview. */
async function confirmOf(preview: Page): Promise<Page> {
  const names = ["form", "back", "confirmToken", ...(fieldIn(preview, "rest") === undefined ? [] : ["rest"])]
  return await owner.send(
    "/app/write",
    Object.fromEntries(names.map((name) => [name, fieldIn(preview, name) as string])),
  )
}

/** Presses the button of a notice. */
async function undo(page: Page): Promise<Page> {
  const fields = ["form", "request"].map((name) => [name, fieldIn(page, name) as string])
  return await owner.send("/app/write", { ...Object.fromEntries(fields), action: "undo_change", back: base })
}

/** Sends a form with the state of the app that the page shows now. */
async function atOnce(action: string, fields: Record<string, string> | [string, string][]): Promise<Page> {
  const page = await owner.open(`${base}/edit`)
  const hidden = { form: fieldIn(page, "form"), seen: fieldIn(page, "seen"), appId: tea.app, back: base, action }
  const sent = [...Object.entries(hidden), ...(Array.isArray(fields) ? fields : Object.entries(fields))]
  return await owner.send("/app/write", sent as [string, string][])
}

/** Opens the page that a sent form leads to. */
const next = async ({ headers }: Page) => await owner.open(headers.get("location") as string)

const tracked = async () =>
  (
    await service.sql<{ term: string }[]>`select term from tracked_term where app_id = ${tea.app} order by position`
  ).map(({ term }) => term)

describe("a write from a page", () => {
  test("a write is previewed, and confirmed only once and only by the preview's own form", async () => {
    const preview = await previewOf(`${base}/edit`, "add_keywords", {
      appId: tea.app,
      keywords: "green tea\r\n oolong ,tea",
    })
    expect([preview.status, preview.text.includes("<h1>Add 3 keywords</h1>")]).toEqual([200, true])
    expect(preview.text).toContain(
      '<th scope="row">Keywords, United States</th><td>not tracked</td><td>green tea, oolong</td>',
    )
    expect(await tracked()).toEqual(["tea"])
    const done = await confirmOf(preview)
    expect([done.status, done.headers.get("location")]).toEqual([303, expect.stringMatching(/\/edit\?done=[\w-]{36}$/)])
    expect(await tracked()).toEqual(["tea", "green tea", "oolong"])
    const repeated = await confirmOf(preview)
    expect([repeated.status, repeated.text.includes("This preview was confirmed already")]).toEqual([400, true])
    const unchanged = await previewOf(`${base}/edit`, "add_keywords", { appId: tea.app, keywords: "tea" })
    expect([unchanged.text.includes("<h1>Nothing to change</h1>"), fieldIn(unchanged, "confirmToken")]).toEqual([
      true,
      undefined,
    ])
  })

  test("a previewed write removes keywords, shares a page or adds an app by its link", async () => {
    const removal = await previewOf(`${base}/edit`, "remove_keywords", { appId: tea.app, keywords: "oolong" })
    expect(removal.text).toContain("Removes or publishes something")
    await confirmOf(removal)
    expect(await tracked()).toEqual(["tea", "green tea"])
    const shared = await confirmOf(
      await previewOf(`${base}/edit`, "create_share_link", { appId: tea.app, country: "us", days: "3", password: "" }),
    )
    const [, path] = /href="[^"]*(\/share\/[^"]+)"/.exec(shared.text) ?? []
    expect([(await owner.open(path as string)).status, shared.text.includes("not shown again")]).toEqual([200, true])
    const app = await confirmOf(
      await previewOf("/app/add", "add_app", {
        app: "https://play.google.com/store/apps/details?id=com.example.kettle&hl=en",
        countries: "us, gb",
        keywords: "",
      }),
    )
    expect(app.headers.get("location")).toMatch(/^\/app\/apps\/app_\w+\?done=[\w-]{36}$/)
    const { text } = await owner.open(app.headers.get("location") as string)
    expect(text).toContain("com.example.kettle")
  })

  test("alerts are marked as read without a preview, and undo marks them as unread", async () => {
    const page = await owner.open("/app/alerts")
    expect(page.text).not.toContain("Mark all as read")
    await tellAlerts(service.sql, [{ workspace: tea.writer.workspace, app: tea.app }])
    expect((await owner.open("/app/alerts")).text).toContain("Mark all as read")
    const alerts = await owner.open("/app/alerts")
    const until = fieldIn(alerts, "until") as string
    const marked = await previewOf("/app/alerts", "mark_alerts_read", { until })
    expect(marked.status).toBe(303)
    const read = await owner.open(marked.headers.get("location") as string)
    expect(read.text).toContain("marked as read.")
    expect(read.text).not.toContain("Mark all as read")
    const undone = await undo(read)
    expect(undone.status).toBe(303)
    expect((await owner.open("/app/alerts")).text).toContain("Mark all as read")
  })
})

describe("a change without a preview", () => {
  const tags = async () =>
    (await service.sql<{ tags: unknown }[]>`select keyword_tags as tags from tracked_app where id = ${tea.app}`)[0]!
      .tags

  slow("adding, removing, tagging and burying keywords needs no preview, and each change can be undone", async () => {
    const before = await tracked()
    const many = Array.from({ length: 120 }, (_, at) => `keyword ${at}`)
    const added = await next(await atOnce("add_keywords", { keywords: many.join("\n") }))
    expect(added.text).toContain("120 keywords added.")
    expect(await tracked()).toHaveLength(before.length + 120)
    expect((await next(await undo(added))).text).toContain("Undone.")
    expect(await tracked()).toEqual(before)

    const tagged = await next(await atOnce("tag_keywords", { terms: "tea", tag: "core" }))
    expect([tagged.text.includes("Tag “core” added to 1 keyword."), await tags()]).toEqual([true, { tea: ["core"] }])
    const removed = await next(await atOnce("remove_keywords", { terms: "tea" }))
    expect([removed.text.includes("1 keyword removed."), (await tracked()).includes("tea")]).toEqual([true, false])
    await undo(removed)
    expect([(await tracked()).includes("tea"), await tags()]).toEqual([true, { tea: ["core"] }])
    await next(await atOnce("untag_keywords", { terms: "tea", tag: "core" }))
    expect(await tags()).toBeNull()

    const buried = await next(await atOnce("bury_keywords", { terms: "tea" }))
    expect(buried.text).toContain("1 keyword buried")
    await undo(buried)
    const [{ list }] = await service.sql<[{ list: unknown }]>`
      select buried_keywords as list from tracked_app where id = ${tea.app}`
    expect(list).toBeNull()
  })

  test("a form of an outdated page shows the preview, and nothing changes before the confirm", async () => {
    const page = await owner.open(`${base}/edit`)
    const [form, seenToken] = ["form", "seen"].map((name) => fieldIn(page, name) as string)
    await next(await atOnce("rename_app", { name: "Tea house" }))
    const stale = { form: form!, seen: seenToken!, appId: tea.app, back: base, action: "remove_keywords", terms: "tea" }
    const preview = await owner.send("/app/write", stale)
    expect([preview.status, preview.text.includes("<h1>Remove 1 keyword</h1>")]).toEqual([200, true])
    expect(await tracked()).toContain("tea")
  })

  test("renaming an app cannot be undone after the app was renamed again", async () => {
    const first = await next(await atOnce("rename_app", { name: "First" }))
    await atOnce("rename_app", { name: "Second" })
    const late = await undo(first)
    expect([late.status, late.text.includes("changed again since")]).toEqual([403, true])
    expect((await owner.open(base)).text).toContain("Second")
  })

  test("an app gets a goal without a preview; its storefronts and its removal need a preview", async () => {
    const kettle = await sharing(service, { name: "Kettle", keywords: ["kettle"] })
    await service.sql`update tracked_app set workspace_id = ${tea.writer.workspace} where id = ${kettle.app}`
    const page = await owner.open(`/app/apps/${kettle.app}/edit`)
    const [form, seenToken] = ["form", "seen"].map((name) => fieldIn(page, name) as string) as [string, string]
    const hidden = { form, seen: seenToken, appId: kettle.app, back: "/app" }
    const goal = await owner.send("/app/write", { ...hidden, action: "set_app_goal", goal: "rank" })
    expect((await next(goal)).text).toContain("Goal saved.")
    const places = { ...hidden, action: "set_storefronts", countries: "us", more: "Germany, jp", like: "us" }
    const preview = await owner.send("/app/write", places)
    expect(preview.text).toContain("United States, Germany, Japan")
    await confirmOf(preview)
    const terms = await service.sql<{ country: string }[]>`
      select country from tracked_term where app_id = ${kettle.app} order by country`
    expect(terms.map(({ country }) => country)).toEqual(["de", "jp", "us"])
    const removal = await owner.send("/app/write", { ...hidden, action: "remove_app" })
    expect(removal.text).toContain("<h1>Remove app</h1>")
    expect((await confirmOf(removal)).headers.get("location")).toMatch(/^\/app\?done=/)
    expect((await owner.open(`/app/apps/${kettle.app}`)).status).toBe(404)
  })

  /** Sends a file with the form of the keywords page. */
  async function sendFile(text: string): Promise<Page> {
    const page = await owner.open(base)
    const body = new FormData()
    for (const name of ["form", "seen"]) body.set(name, fieldIn(page, name) as string)
    const fields = { action: "add_keywords", "form-id": "add_keywords", appId: tea.app, back: base, keywords: "" }
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    body.set("file", new File([text], "keywords.csv", { type: "text/csv" }))
    const cookie = [...owner.cookies].map((pair) => pair.join("=")).join("; ")
    const request = new Request("http://127.0.0.1:8787/app/write", { method: "POST", body, headers: { cookie } })
    const { status, headers, body: answer } = await service.app.fetch(request, "192.0.2.1")
    return { status, headers, text: await new Response(answer).text() }
  }

  test("keywords are added from an uploaded CSV file with semicolons", async () => {
    expect((await sendFile("Keyword;Country\nmatcha;US\nsencha;US\n")).status).toBe(303)
    expect(await tracked()).toEqual(expect.arrayContaining(["matcha", "sencha"]))
  })

  test("each keyword of a file is added to its storefront with its tags, and undo removes all of them", async () => {
    await service.sql`update tracked_app set countries = '{us,de}' where id = ${tea.app}`
    const rows = () => service.sql<{ country: string; term: string }[]>`
      select country, term from tracked_term where app_id = ${tea.app} and term like '%pot' order by term, country`
    const sent = await sendFile("keyword,country,tags\nteapot,de,core|q4\nteapot,us,\n=pot,,\nteepot,Germany,core\n")
    const done = await next(sent)
    expect(done.text).toContain("3 keywords added. 2 keywords tagged.")
    expect((await rows()).map(({ country, term }) => `${term} ${country}`)).toEqual([
      "=pot de",
      "=pot us",
      "teapot de",
      "teapot us",
      "teepot de",
    ])
    expect(await tags()).toEqual({ teapot: ["core", "q4"], teepot: ["core"] })
    await undo(done)
    expect([await rows(), await tags()]).toEqual([[], null])
    await service.sql`update tracked_app set countries = '{us}' where id = ${tea.app}`
  })

  test("a file with an untracked storefront is refused, with a message at the file field", async () => {
    const { status, text } = await sendFile("keyword,country\ncha,Japan\n")
    expect(status).toBe(400)
    const message = "The file has keywords for Japan, which is not a storefront of the app. Add the storefront first."
    expect(text).toMatch(new RegExp(`id="add_keywords-file-error">${message}`))
    expect(await tracked()).not.toContain("cha")
    const long = await sendFile(`keyword,tags\n${"x".repeat(200)},core\n`)
    expect([long.status, long.text.includes("at most 150 characters")]).toEqual([400, true])
  })

  test("invalid lines of a file are skipped, and the page lists these lines with the reason", async () => {
    const done = await next(await sendFile("keyword,country\ngyokuro,us\n,us\nbancha,Atlantis\nhojicha,us\n"))
    expect(done.text).toContain("2 keywords added.")
    expect(done.text).toContain("2 lines of the file skipped")
    expect(done.text).toContain("<li>Line 3: it has no keyword.</li><li>Line 4: its storefront is unknown.</li>")
    await undo(done)
    const none = await sendFile("keyword,country\n,us\nsencha,<Atlantis>\n")
    expect([none.status, none.text.includes("Line 2: it has no keyword. Line 3: &quot;&lt;Atlantis")]).toEqual([
      400,
      true,
    ])
    const forged = await owner.open(`${base}?skipped=2.3-keyword.<b>&done=${crypto.randomUUID()}`)
    expect([forged.text.includes("skipped</summary>"), forged.text.includes("<b>")]).toEqual([false, false])
  })

  test("a list of 120 keywords from an outdated page is previewed, and the confirm adds every keyword", async () => {
    const page = await owner.open(`${base}/edit`)
    const hidden = { form: fieldIn(page, "form")!, seen: fieldIn(page, "seen")!, appId: tea.app, back: base }
    await next(await atOnce("rename_app", { name: "Tea shop" }))
    const before = await tracked()
    const keywords = Array.from({ length: 120 }, (_, at) => `late ${at}`).join("\n")
    const preview = await owner.send("/app/write", { ...hidden, action: "add_keywords", keywords })
    expect((await next(await confirmOf(preview))).text).toContain("120 keywords added.")
    expect(await tracked()).toHaveLength(before.length + 120)
    await service.sql`delete from tracked_term where app_id = ${tea.app} and term like 'late %'`
  })

  test("a file for a new app adds keywords, but is refused if its storefront is not chosen", async () => {
    const fields = { app: "com.example.pot", countries: "us", more: "de", file: "keyword,country\npot,de\n" }
    const preview = await previewOf("/app/add?app=android%3Acom.example.pot&country=us", "add_app", fields)
    expect(preview.text).toContain("1 more keyword from your list")
    const { text } = await next(await confirmOf(preview))
    expect(text).toContain("App added. 1 keyword added.")
    expect(await service.sql`select country from tracked_term where term = 'pot'`).toEqual([{ country: "de" }] as never)
    const refused = await previewOf("/app/add?app=android%3Acom.example.pan&country=us", "add_app", {
      ...fields,
      app: "com.example.pan",
      more: "",
    })
    expect([
      refused.status,
      refused.text.includes("keywords for Germany, which is not a storefront of the app."),
    ]).toEqual([400, true])
  })
})

describe("a refused form", () => {
  test("a refused form is shown again with the sent values, and the focus is on the invalid field", async () => {
    const { status, text } = await previewOf("/app/add?app=ios%3A1234567890&country=us", "add_app", {
      "form-id": "add_app",
      app: "id1234567890",
      countries: "us",
      more: 'Sweden, <Atlantis> "x"',
      keywords: "tides\r\nhigh water",
    })
    expect([status, text.includes("<h1>Add an app</h1>")]).toEqual([400, true])
    expect(text).toContain('value="Sweden, &lt;Atlantis&gt; &quot;x&quot;"')
    expect(text).toContain("tides\r\nhigh water</textarea>")
    expect(text).toMatch(/name="more"[^>]* aria-describedby="add_app-more-error" aria-invalid="true" autofocus=""/)
    expect(text).toContain('id="add_app-more-error">“&lt;Atlantis&gt;” is not a storefront.')
    for (const word of ["iosId", "androidPkg", "must be a list"]) expect(text).not.toContain(word)
    const name = await previewOf("/app/add", "add_app", { "form-id": "add_app", app: "Tide Clock", keywords: "" })
    expect([name.status, name.text.includes("Enter a link to the app")]).toEqual([400, true])
  })

  test("a refused form does not repeat the password, and a hostile form id is escaped", async () => {
    const { status, text } = await previewOf(`${base}/edit`, "create_share_link", {
      "form-id": '"><script>',
      appId: tea.app,
      country: "us",
      days: "900",
      password: "open sesame",
    })
    expect([status, text.includes("open sesame"), text.includes("<script>alert")]).toEqual([400, false, false])
    expect(text).toContain("Nothing was changed.")
  })
})

describe("limits of writes from pages", () => {
  test("a write that has no page form is refused, and a return address on another site is replaced", async () => {
    const form = fieldIn(await owner.open(`${base}/edit`), "form") as string
    const fields = { action: "add_keywords", appId: tea.app, keywords: "stolen", back: "/app" }
    expect((await owner.send("/app/write", { ...fields, form: "guessed" })).status).toBe(403)
    expect((await owner.send("/app/write", fields)).status).toBe(403)
    expect((await owner.send("/app/write", { ...fields, form, action: "pause_campaign" })).status).toBe(400)
    for (const back of ["https://evil.example/", "//evil.example", "/sign-in", "/application"])
      expect(fieldIn(await owner.send("/app/write", { ...fields, form, back }), "back")).toBe("/app")
    expect(await tracked()).not.toContain("stolen")
  })

  test("a change of another workspace is not shown and cannot be undone", async () => {
    const coffee = await sharing(service, { name: "Coffee", keywords: ["espresso"] })
    const coffeeOwner = await ownerOf(service, coffee.writer.workspace)
    const form = fieldIn(await coffeeOwner.open("/app"), "form") as string
    const renamed = await atOnce("rename_app", { name: "Mine" })
    const address = renamed.headers.get("location") as string
    const request = new URL(address, "http://here").searchParams.get("done") as string
    expect((await coffeeOwner.open(`/app?done=${request}`)).text).not.toContain('role="status"')
    await coffeeOwner.send("/app/write", { form, action: "undo_change", request, back: "/app" })
    expect((await owner.open(base)).text).toContain("Mine")
    await undo(await owner.open(address))
  })

  test("the colour scheme is changed only by a form with the page's token", async () => {
    const form = fieldIn(await owner.open("/app"), "form") as string
    expect((await owner.send("/app/scheme", { scheme: "dark", form: "guessed" })).status).toBe(403)
    expect((await owner.send("/app/scheme", { scheme: '"><script>', form })).status).toBe(303)
    expect((await owner.open("/app")).text).toContain('<html lang="en">')
    await owner.send("/app/scheme", { scheme: "dark", form })
    expect((await owner.open("/app")).text).toContain('<html lang="en" data-scheme="dark">')
    await owner.send("/app/scheme", { scheme: "", form })
  })

  test("a write cannot reach another workspace's app or confirm another workspace's token", async () => {
    const coffee = await sharing(service, { name: "Coffee", keywords: ["espresso"] })
    const preview = await previewOf(`${base}/edit`, "add_keywords", { appId: coffee.app, keywords: "mine" })
    expect([preview.status, preview.text.includes("Coffee")]).toEqual([404, false])
    const form = fieldIn(await owner.open(`${base}/edit`), "form") as string
    const confirmToken = await coffee.writer.token("add_keywords", { appId: coffee.app, keywords: ["latte"] })
    const stolen = await owner.send("/app/write", { form, confirmToken, back: "/app" })
    expect(stolen.status).toBe(400)
  })

  test("the sample offers no write", async () => {
    for (const page of ["/app/sample/alerts", "/app/sample/apps/app_lumenjournal/edit", "/app/sample/add"])
      expect((await owner.open(page)).text).not.toContain('method="post"')
  })
})
