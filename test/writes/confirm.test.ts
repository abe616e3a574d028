import { describe, expect, test } from "bun:test"
import { removeTerms } from "../../src/tracking/terms.ts"
import { slow } from "../long.ts"
import { prepareScene } from "./scene.ts"
import { termsOf } from "./writer.ts"

const scene = prepareScene()

describe("a confirm", () => {
  test("a confirm applies what was previewed, charges it and stores it in the audit", async () => {
    const { status, body, credits } = await scene.applied("add_keywords", {
      appId: scene.app,
      keywords: ["coffee", "tea"],
    })
    expect([status, body]).toEqual([
      200,
      {
        action: "add_keywords",
        status: "applied",
        appliedAt: expect.any(String),
        credits: 1,
        result: { appId: scene.app, countries: ["us", "de"], added: ["coffee"], alreadyTracked: ["tea"] },
        jobId: null,
      },
    ])
    expect(await termsOf(scene.sql, scene.app)).toEqual(["de coffee", "de tea", "us coffee", "us tea"])
    expect(credits.used).toBe(1)
    expect(await scene.ledger()).toEqual([{ operation: "add_keywords", cost: 1 }])
    expect(await scene.audits()).toMatchObject([
      {
        action: "add_keywords",
        target: `app ${scene.app}`,
        app_id: scene.app,
        credits: 1,
        args: { appId: scene.app, keywords: ["coffee", "tea"] },
        preview: { before: { tracked: [{ countries: ["us", "de"], keywords: ["tea"] }] } },
        result: { added: ["coffee"] },
        job_id: null,
      },
    ])
  })

  test("a second confirm of a token returns the time of the first, and neither charges nor writes", async () => {
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body
    expect((await scene.confirm(confirmToken)).status).toBe(200)
    await scene.sql.begin((tx) => removeTerms(tx, scene.app, "all", ["tea"]))
    const repeated = await scene.confirm(confirmToken)
    expect([repeated.status, repeated.body.error]).toEqual([400, "confirm_token_invalid"])
    expect(repeated.body.detail).toMatch(/^It was already confirmed at \d{4}-/)
    expect([await scene.ledger(), (await scene.audits()).length]).toEqual([
      [{ operation: "remove_keywords", cost: 1 }],
      1,
    ])
  })

  test("a confirm with an unknown token or another key's token gets confirm_token_invalid", async () => {
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body
    const second = await scene.service.key(scene.workspace)
    const otherKey = await scene.service.key(await scene.service.workspace())
    for (const [token, by] of [
      [confirmToken, second],
      [confirmToken, otherKey],
      [`confirm_${"A".repeat(43)}`, scene.key],
      ["x", scene.key],
    ] as const) {
      const refused = await scene.confirm(token, by)
      expect([refused.status, refused.body.error, refused.body.detail]).toEqual([
        400,
        "confirm_token_invalid",
        expect.stringContaining("with the key that previewed"),
      ])
    }
    for (const body of [{}, { confirmToken: "" }, { confirmToken: 7 }])
      expect(
        (await scene.service.call("/v1/actions/confirm", { key: scene.key, method: "POST", body })).body.error,
      ).toBe("confirm_token_invalid")
    const more = { confirmToken, args: { appId: scene.app, keywords: ["other"] } }
    const strange = await scene.service.call("/v1/actions/confirm", { key: scene.key, method: "POST", body: more })
    expect(strange.body).toMatchObject({ error: "invalid_arguments", field: "args" })
    expect(await termsOf(scene.sql, scene.app)).toEqual(["de tea", "us tea"])
    expect((await scene.confirm(confirmToken)).status).toBe(200)
  })

  test("a token expires after 600 s by the database's clock, and a used token is reported as used", async () => {
    const aged = async (seconds: number) => {
      const { confirmToken } = (await scene.preview("add_keywords", { appId: scene.app, keywords: [`k${seconds}`] }))
        .body
      await scene.sql`
        update confirm_token
        set created_at = now() - make_interval(secs => ${seconds})
        where used_at is null and workspace_id = ${scene.workspace}`
      return confirmToken
    }
    const old = await aged(601)
    const refused = await scene.confirm(old)
    expect([refused.status, refused.body.error]).toEqual([400, "confirm_token_expired"])
    const fresh = await aged(595)
    expect((await scene.confirm(fresh)).status).toBe(200)
    await scene.sql`
      update confirm_token
      set created_at = now() - interval '2 hours'
      where workspace_id = ${scene.workspace}`
    expect((await scene.confirm(fresh)).body.error).toBe("confirm_token_invalid")
  })

  test("a confirm after the target changed writes nothing, shows the new preview and keeps the token", async () => {
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea", "coffee"] }))
      .body
    expect((await scene.applied("add_keywords", { appId: scene.app, keywords: ["coffee"] })).status).toBe(200)
    const refused = await scene.confirm(confirmToken)
    expect([refused.status, refused.body.error]).toEqual([409, "confirm_token_mismatch"])
    expect(refused.body.preview.before).toEqual({ tracked: [{ countries: ["us", "de"], keywords: ["tea", "coffee"] }] })
    expect(await termsOf(scene.sql, scene.app)).toHaveLength(4)
    expect([(await scene.audits()).length, await scene.ledger()]).toEqual([1, [{ operation: "add_keywords", cost: 1 }]])
    await scene.sql.begin((tx) => removeTerms(tx, scene.app, "all", ["coffee"]))
    expect((await scene.confirm(confirmToken)).status).toBe(200)
    expect(await termsOf(scene.sql, scene.app)).toEqual([])
  })

  test("a confirm for an app that was deleted after the preview is refused as not_found", async () => {
    const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] })).body
    await scene.sql`delete from tracked_app where id = ${scene.app}`
    expect((await scene.confirm(confirmToken)).body.error).toBe("not_found")
  })

  test("a confirm that changes nothing is free and does not count as a write", async () => {
    const { body } = await scene.preview("add_keywords", { appId: scene.app, keywords: ["tea"] })
    expect([body.credits, body.preview.before]).toEqual([0, body.preview.after])
    const answer = await scene.confirm(body.confirmToken)
    expect(answer.body).toEqual({
      action: "add_keywords",
      status: "unchanged",
      appliedAt: null,
      credits: 0,
      result: null,
      jobId: null,
    })
    expect([await scene.ledger(), (await scene.audits()).length]).toEqual([[], 0])
    const repeated = await scene.confirm(body.confirmToken)
    expect([repeated.body.error, repeated.body.detail]).toEqual([
      "confirm_token_invalid",
      expect.not.stringContaining("applied"),
    ])
  })

  test("a confirm without enough credits writes nothing, and works after a pack was bought", async () => {
    const poor = await scene.service.workspace({ plan: "pro", overrides: { credits: 1, ratePerSecond: 1_000 } })
    const spender = await scene.service.key(poor)
    const { confirmToken } = (await scene.preview("add_app", { iosId: "389801252" }, spender)).body
    const refused = await scene.confirm(confirmToken, spender)
    expect([refused.status, refused.body.error, refused.body.limit]).toEqual([402, "credits_exhausted", 1])
    expect(refused.credits).toMatchObject({ used: 0, limit: 1 })
    expect(await scene.sql`select id from tracked_app where workspace_id = ${poor}`).toHaveLength(0)
    await scene.sql`update account set pack = 5 where workspace_id = ${poor}`
    expect((await scene.confirm(confirmToken, spender)).credits).toMatchObject({ used: 2 })
  })

  slow(
    "a confirm is refused if it exceeds the key's budget, or if the key lost the scope after the preview",
    async () => {
      const tight = await scene.service.key(scene.workspace, { monthlyBudget: 0 })
      const { confirmToken } = (await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea"] }, tight))
        .body
      expect((await scene.confirm(confirmToken, tight)).body.error).toBe("key_budget_reached")
      await scene.sql`update api_key set scopes = '{apps:read}' where workspace_id = ${scene.workspace}`
      await Bun.sleep(760) // a key may be cached for that long
      expect((await scene.confirm(confirmToken, tight)).body).toMatchObject({
        error: "scope_required",
        scope: "track:write",
      })
      expect(await termsOf(scene.sql, scene.app)).toEqual(["de tea", "us tea"])
    },
  )

  test("a write beyond the workspace's limit is refused as write_limit_reached, at preview and confirm", async () => {
    const small = await scene.service.workspace({ overrides: { apps: 1, trackedKeywords: 3, ratePerSecond: 1_000 } })
    const by = await scene.service.key(small)
    const ownApp = await scene.tracked(["one"], "1437843273", small)
    const full = await scene.preview("add_keywords", { appId: ownApp, keywords: ["two", "three"] }, by)
    expect([full.status, full.body.error, full.body.reason]).toEqual([
      403,
      "write_limit_reached",
      "The workspace may track 3 keywords, each counted in each storefront; this would make it 6.",
    ])
    expect((await scene.preview("add_app", { iosId: "389801252" }, by)).body.reason).toContain("1 app;")
    await scene.sql`update tracked_app set countries = '{us}' where id = ${ownApp}`
    await scene.sql`delete from tracked_term where app_id = ${ownApp} and country = 'de'`
    const [first, second] = [
      await scene.preview("add_keywords", { appId: ownApp, keywords: ["two", "three"] }, by),
      await scene.preview("add_keywords", { appId: ownApp, keywords: ["four"] }, by),
    ]
    expect((await scene.confirm(first.body.confirmToken, by)).status).toBe(200)
    const late = await scene.confirm(second.body.confirmToken, by)
    expect([late.status, late.body.error]).toEqual([403, "write_limit_reached"])
    expect(await termsOf(scene.sql, ownApp)).toHaveLength(3)
  })
})

describe("the audit", () => {
  test("audit rows cannot be changed, even by the database's owner", async () => {
    await scene.applied("remove_keywords", { appId: scene.app, keywords: ["tea"] })
    for (const change of [
      scene.sql`update audit set credits = 0`,
      scene.sql`delete from audit`,
      scene.sql`truncate audit`,
    ]) {
      expect(
        await change.then(
          () => "changed",
          (error) => error.message,
        ),
      ).toBe("audit is append-only")
    }
    expect(await scene.audits()).toHaveLength(1)
  })
})
