import { describe, expect, test } from "bun:test"
import { prepareScene } from "./scene.ts"

const scene = prepareScene()

describe("a preview", () => {
  test("a preview shows the change, its cost and the expiry time of its token", async () => {
    const { body, credits } = await scene.preview("add_keywords", {
      appId: scene.app,
      keywords: ["Coffee ", "tea", "coffee"],
    })
    expect(body).toEqual({
      action: "add_keywords",
      preview: {
        summary: 'Track 1 keyword of "Kettle" in the US, Germany.',
        target: { kind: "app", id: scene.app, name: "Kettle" },
        before: { tracked: [{ countries: ["us", "de"], keywords: ["tea"] }] },
        after: { tracked: [{ countries: ["us", "de"], keywords: ["coffee", "tea"] }] },
        notes: ['Tracked already in the US, Germany, and not added twice: "tea".'],
      },
      credits: 1,
      destructive: false,
      asynchronous: false,
      confirmToken: expect.stringMatching(/^confirm_[\w-]{43}$/),
      expiresAt: expect.any(String),
      approval: null,
    })
    expect(credits.used).toBe(0)
    expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(590_000)
  })

  test("arguments that are not an object are refused with the field args, over REST and as a tool", async () => {
    for (const args of [[], ["x"], [{}], "x", 1, null]) {
      const sent = { action: "mark_alerts_read", args }
      const rest = await scene.service.call("/v1/actions", { method: "POST", key: scene.key, body: sent })
      const tool = await scene.service.tool("preview_action", sent, { key: scene.key })
      expect(rest.body).toMatchObject({ error: "invalid_arguments", field: "args" })
      expect(tool.body).toEqual(rest.body)
    }
  })

  test("a preview with a missing, unknown or malformed argument is refused, naming the argument", async () => {
    const cases: [string, object, string][] = [
      ["add_keywords", { appId: scene.app }, "keywords"],
      ["add_keywords", { appId: scene.app, keywords: [] }, "keywords"],
      ["add_keywords", { appId: scene.app, keywords: Array.from({ length: 51 }, (_, i) => `k${i}`) }, "keywords"],
      ["add_keywords", { appId: scene.app, keywords: ["x".repeat(151)] }, "keywords"],
      ["add_keywords", { appId: scene.app, keywords: "tea" }, "keywords"],
      ["add_keywords", { appId: scene.app, keywords: ["a\u0000b"] }, "keywords"],
      ["add_keywords", { appId: scene.app, keywords: ["tea"], countries: ["us"] }, "countries"],
      ["add_keywords", { keywords: ["tea"] }, "appId"],
      ["remove_keywords", { appId: scene.app, keywords: [" "] }, "keywords"],
      ["remove_keywords", { appId: scene.app, keywords: ["tea"], force: true }, "force"],
      ["add_app", {}, "iosId"],
      ["add_app", { iosId: "12" }, "iosId"],
      ["add_app", { androidPkg: "nodots" }, "androidPkg"],
      ["add_app", { iosId: "389801252", countries: ["zz"] }, "countries"],
      ["add_app", { iosId: "389801252", countries: [] }, "countries"],
      ["add_app", { iosId: "389801252", name: "\n" }, "name"],
      ["add_app", { iosId: "389801252", title: "x" }, "title"],
    ]
    for (const [action, args, field] of cases) {
      const { status, body } = await scene.preview(action, args)
      expect([action, args, status, body.error, body.field]).toEqual([action, args, 400, "invalid_arguments", field])
    }
    for (const name of ["constructor", "__proto__", "prototype"]) {
      const strange = JSON.parse(`{"iosId":"389801252","${name}":1}`)
      expect((await scene.preview("add_app", strange)).body).toMatchObject({ error: "invalid_arguments", field: name })
    }
    expect((await scene.preview("buy_reviews")).body.error).toBe("unknown_action")
    const strange = await scene.service.call("/v1/actions", {
      key: scene.key,
      method: "POST",
      body: { action: "add_app", arguments: {} },
    })
    expect(strange.body).toMatchObject({ error: "invalid_arguments", field: "arguments" })
  })

  test("a preview and its confirm never write for a test key", async () => {
    const testKey = await scene.service.key(scene.workspace, { kind: "test" })
    const before = await scene.everything()
    for (const [action, args] of [
      ["add_app", { iosId: "389801252" }],
      ["add_keywords", { appId: scene.app, keywords: ["coffee"] }],
      ["remove_keywords", { appId: scene.app, keywords: ["tea"] }],
    ] as const) {
      expect((await scene.preview(action, args, testKey)).body.error).toBe("test_key_read_only")
    }
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body
    expect((await scene.confirm(confirmToken, testKey)).body.error).toBe("test_key_read_only")
    expect((await scene.preview("add_keywords", { appId: scene.app }, testKey)).body.error).toBe("invalid_arguments")
    expect(await scene.everything()).toBe(before)
  })

  test("a preview checks the action's scope before it looks up the app", async () => {
    const reader = await scene.service.key(scene.workspace, { scopes: ["apps:read"] })
    const refused = await scene.preview("add_keywords", { appId: "app_nowhere", keywords: ["a"] }, reader)
    expect(refused.body).toMatchObject({ error: "scope_required", scope: "track:write" })
  })

  test("a preview treats another workspace's app as missing and refuses an app that the key excludes", async () => {
    const other = await scene.service.workspace()
    const foreign = await scene.tracked([], "389801252", other)
    const args = (appId: string) => ({ appId, keywords: ["a"] })
    expect((await scene.preview("add_keywords", args(foreign))).text).toBe(
      (await scene.preview("add_keywords", args("app_never"))).text,
    )
    expect((await scene.preview("remove_keywords", args(foreign))).body.error).toBe("not_found")
    const limited = await scene.service.key(scene.workspace, { appList: [scene.app] })
    await scene.sql`
        update api_key set app_list = '{app_other}' where workspace_id = ${scene.workspace} and app_list is not null`
    expect((await scene.preview("add_keywords", args(scene.app), limited)).body.error).toBe("app_not_allowed")
    expect((await scene.preview("add_app", { iosId: "389801252" }, limited)).body.error).toBe("app_not_allowed")
  })

  test("a preview is refused when a thousand previews of the key are unconfirmed", async () => {
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body
    await scene.sql`
      insert into confirm_token (sha256, workspace_id, key_id, action, args, seen)
      select sha256(n::text::bytea), workspace_id, key_id, action, args, seen
      from confirm_token, generate_series(1, 999) n
      where workspace_id = ${scene.workspace}`
    const refused = await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })
    expect(refused.body).toMatchObject({ error: "write_limit_reached", reason: expect.stringContaining("1000") })
    expect((await scene.confirm(confirmToken)).status).toBe(200)
    expect((await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).status).toBe(200)
  })

  test("a preview deletes tokens older than a day", async () => {
    await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })
    await scene.sql`
      update confirm_token
      set created_at = now() - interval '25 hours'
      where workspace_id = ${scene.workspace}`
    await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })
    expect(await scene.sql`select count(*) from confirm_token where workspace_id = ${scene.workspace}`).toMatchObject([
      { count: 1 },
    ])
  })

  test("a preview deletes at most a hundred old tokens", async () => {
    await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })
    await scene.sql`
      insert into confirm_token (sha256, workspace_id, key_id, action, args, seen, created_at)
      select sha256(('old ' || n)::bytea), workspace_id, key_id, action, args, seen, now() - interval '25 hours'
      from confirm_token, generate_series(1, 250) n
      where workspace_id = ${scene.workspace}`
    await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })
    expect(await scene.sql`select count(*) from confirm_token where workspace_id = ${scene.workspace}`).toMatchObject([
      { count: 152 },
    ])
  })

  test("the token of a preview appears neither in the log nor in the database", async () => {
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body
    await scene.confirm(confirmToken)
    const secret = confirmToken.slice("confirm_".length)
    expect(scene.service.logged.join("")).not.toContain(secret)
    expect(await scene.everything()).not.toContain(secret)
    expect(JSON.stringify(await scene.sql`select t::text from confirm_token t`)).not.toContain(secret)
  })
})
