import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { dayAgo } from "../world/clock.ts"
import { anApp, booksAt, booksOf, outcomeOf } from "../writes/writer.ts"
import { readPage, type Sharing, sharing } from "./share-scene.ts"

let sql: Sql
let service: Service
let scene: Sharing

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  scene = await sharing(service, { keywords: ["tea", "green tea", "oolong"] })
  await scene.measure("tea", 2, 7)
  await scene.measure("tea", 0, 4)
  await scene.measure("green tea", 0, 0)
})

const preview = (args: object, { writer, app } = scene) =>
  service.call("/v1/actions", {
    key: writer.key,
    method: "POST",
    body: { action: "create_share_link", args: { appId: app, country: "us", ...args } },
  })

const links = (workspace: number) =>
  sql<{ days: number; content: { app: string }; password: string | null }[]>`
    select (extract(epoch from expires_at - created_at) / 86400)::float8 as days, content, password
    from share_link
    where workspace_id = ${workspace}
    order by created_at, sha256`

describe("a preview of a shared page", () => {
  test("the preview of a shared page shows its content and days and says that the page will not change", async () => {
    const { status, body } = await preview({})
    expect(status).toBe(200)
    expect(body).toMatchObject({ credits: 1, destructive: false, asynchronous: false })
    const { summary, target, before, after, notes } = body.preview
    expect(summary).toBe('Show "Tea Timer" in us to everybody who has the link, for 7 days.')
    expect(target).toEqual({ kind: "app", id: scene.app, name: "Tea Timer" })
    expect(before).toEqual({ link: null })
    const stores = [{ platform: "ios", keywords: ["tea", "green tea", "oolong"], charts: 2, storePage: false }]
    const shows = { app: "Tea Timer", country: "us", from: dayAgo(89), to: dayAgo(0), stores }
    expect(after).toEqual({ link: { days: 7, hasPassword: false, shows } })
    expect(notes.join(" ")).toContain("3 keywords (1 ranked, 1 absent, 1 not measured), store page never read.")
    expect(notes.join(" ")).toContain("The page is frozen at the confirm")
    expect(notes.join(" ")).toContain("No password is set")
    expect(await links(scene.writer.workspace)).toHaveLength(0)
  })

  test("the preview for an untracked storefront states that nothing is measured there", async () => {
    const { body } = await preview({ country: "DE" })
    expect(body.preview.after.link.shows).toMatchObject({
      country: "de",
      stores: [{ keywords: { length: 3 }, charts: 0 }],
    })
    expect(body.preview.notes.join(" ")).toContain("The app does not track de: everything is shown as not measured.")
  })

  test("a shared page on the Free plan covers the last 30 days", async () => {
    const ownScene = await sharing(service)
    const workspace = await service.workspace({ plan: "free" })
    await sql`update tracked_app set workspace_id = ${workspace} where id = ${ownScene.app}`
    const args = { action: "create_share_link", args: { appId: ownScene.app, country: "us" } }
    const { body } = await service.tool("preview_action", args, { key: await service.key(workspace) })
    expect(body.preview.after.link.shows).toMatchObject({ from: dayAgo(29), to: dayAgo(0) })
  })

  const BAD: [object, string][] = [
    [{ days: 0 }, "days"],
    [{ days: 31 }, "days"],
    [{ days: 1.5 }, "days"],
    [{ days: "7" }, "days"],
    [{ days: null }, "days"],
    [{ password: "" }, "password"],
    [{ password: "x".repeat(129) }, "password"],
    [{ password: "\ud800" }, "password"],
    [{ password: 42 }, "password"],
    [{ password: "a\u0000b" }, "password"],
    [{ country: "zz" }, "country"],
    [{ country: undefined }, "country"],
    [{ appId: undefined }, "appId"],
    [{ token: "mine" }, "token"],
  ]

  test("an invalid argument of a shared page is refused with the name of the argument", async () => {
    for (const [args, field] of BAD) {
      const { status, body } = await preview(args)
      expect([args, status, body.error, body.field]).toEqual([args, 400, "invalid_arguments", field])
    }
    for (const args of [{ days: 1 }, { days: 30 }, { password: "x" }, { password: "😀".repeat(128) }])
      expect([args, outcomeOf(await preview(args))]).toEqual([args, "200"])
  })

  test("sharing an app is refused for another workspace's key or a key without the scope or the app", async () => {
    const other = await sharing(service)
    expect(outcomeOf(await preview({ appId: other.app }))).toBe("404 not_found")
    const narrow = await service.key(scene.writer.workspace, { scopes: ["apps:read"] })
    expect(outcomeOf(await preview({}, { ...scene, writer: { ...scene.writer, key: narrow } }))).toBe(
      "403 scope_required",
    )
    const another = await anApp(sql, scene.writer.workspace)
    const limitedKey = await service.key(scene.writer.workspace, { appList: [another] })
    expect(outcomeOf(await preview({}, { ...scene, writer: { ...scene.writer, key: limitedKey } }))).toBe(
      "403 app_not_allowed",
    )
  })
})

describe("a confirm", () => {
  test("the confirm returns a working address that expires after the requested number of days", async () => {
    const ownScene = await sharing(service)
    for (const days of [1, 30]) {
      const { result, path } = await ownScene.share({ days })
      expect(Object.keys(result).sort()).toEqual(["appId", "country", "days", "expiresAt", "hasPassword", "url"])
      expect(result.url).toMatch(/^http:\/\/127\.0\.0\.1:8787\/share\/[\w-]{43}$/)
      expect(Math.abs(Date.parse(result.expiresAt) - Date.now() - days * 86_400_000)).toBeLessThan(10_000)
      expect((await service.call(path)).text).toContain("Tea Timer")
    }
    const { result } = await ownScene.share()
    expect([result.days, result.hasPassword]).toEqual([7, false])
    expect((await links(ownScene.writer.workspace)).map(({ days }) => days).sort((a, b) => a - b)).toEqual([1, 7, 30])
    expect(await booksOf(sql, ownScene.writer.workspace)).toEqual(booksAt(3))
  })

  test("the confirm is refused with a new preview if the page's content has changed", async () => {
    const ownScene = await sharing(service)
    const token = await ownScene.writer.token("create_share_link", { appId: ownScene.app, country: "us" })
    const rename = (from: string, to: string) =>
      sql`update tracked_term set term = ${to} where app_id = ${ownScene.app} and term = ${from}`
    await rename("tea", "secret plan")
    const refused = await ownScene.writer.confirm(token)
    expect(outcomeOf(refused)).toBe("409 confirm_token_mismatch")
    expect(refused.body.preview.after.link.shows.stores[0].keywords).toEqual(["secret plan"])
    await rename("secret plan", "tea")
    await sql`update tracked_app set name = 'Secret Name' where id = ${ownScene.app}`
    expect(outcomeOf(await ownScene.writer.confirm(token))).toBe("409 confirm_token_mismatch")
    expect(await links(ownScene.writer.workspace)).toHaveLength(0)
    await sql`update tracked_app set name = 'Tea Timer' where id = ${ownScene.app}`
    expect(outcomeOf(await ownScene.writer.confirm(token))).toBe("200")
  })

  test("the confirm is refused while the workspace has 200 unexpired pages", async () => {
    const ownScene = await sharing(service)
    const { writer } = ownScene
    await sql`
      insert into share_link (sha256, workspace_id, app_id, created_at, expires_at, content)
      select sha256((${ownScene.app}::text || g)::bytea),
        ${writer.workspace}, ${ownScene.app}, now() - interval '2 days',
        now() + case when g = 200 then interval '-1 s' else interval '1 hour' end, '{}'
      from generate_series(1, 200) g`
    await ownScene.share()
    const { status, body } = await preview({}, ownScene)
    expect([status, body.error]).toEqual([403, "write_limit_reached"])
    expect(body.reason).toContain("200 shared pages")
  })
})

describe("secrets", () => {
  slow("the database and the log contain neither the password nor the address of a shared page", async () => {
    const ownScene = await sharing(service)
    await readPage(service, ownScene.iosId)
    const password = "correct horse battery stäple"
    const { token } = await ownScene.share({ password })
    const { token: open } = await ownScene.share()
    const tables = await sql<{ name: string }[]>`
      select table_name as name
      from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'
      order by 1`
    expect(tables.length).toBeGreaterThan(30)
    let stored = service.logged.join("")
    for (const { name } of tables) stored += JSON.stringify(await sql`select t::text as row from ${sql(name)} t`)
    for (const secret of [password, "battery", "stäple", token, open]) expect(stored).not.toContain(secret)
    expect(stored).toContain("create_share_link")
    const [audit] = await sql<{ args: object; result: object; preview: object }[]>`
      select args, result, preview
      from audit
      where workspace_id = ${ownScene.writer.workspace}
      order by id`
    expect(audit!.args).toEqual({ appId: ownScene.app, country: "us", days: 7, password: "set" })
    expect(audit!.result).toMatchObject({ hasPassword: true })
    expect(JSON.stringify(audit)).not.toContain("argon2id")
  })

  slow("the stored password hash is a standard argon2id hash with a new salt for each page", async () => {
    const ownScene = await sharing(service)
    for (let i = 0; i < 2; i++) await ownScene.share({ password: "Käse" })
    const hashes = (await links(ownScene.writer.workspace)).map(({ password }) => password as string)
    expect(new Set(hashes).size).toBe(2)
    for (const hashed of hashes) {
      expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
      expect(await Bun.password.verify("Käse".normalize("NFC"), hashed)).toBe(true)
      expect(await Bun.password.verify("Kase", hashed)).toBe(false)
    }
  })
})
