import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { EXPORT_COLUMNS } from "../../src/sharing/export/rows.ts"
import { long, slow } from "../long.ts"
import { booksAt, booksOf, outcomeOf } from "../writes/writer.ts"
import { ago, exportScene } from "./export-scene.ts"

setDefaultTimeout(60_000)

const scene = exportScene({ requestDeadlineMs: 20_000 })

describe("the preview", () => {
  test("the preview of an export shows its rows, columns, days and cost, and notes what the file omits", async () => {
    const { status, body } = await scene.preview()
    const file = {
      dataset: "history",
      format: "csv",
      country: "us",
      platform: "ios",
      from: ago(89),
      to: ago(0),
      rows: 3,
      columns: ["day", "term", "country", "platform", "measured", "rank", "searchDepth", "source"],
    }
    expect([status, body.credits, body.destructive, body.asynchronous]).toEqual([200, 20, false, false])
    expect(body.preview).toEqual({
      summary:
        `Make a CSV file of the rank history of "Kettle" in us on ios from ${ago(89)} to ${ago(0)}: ` +
        "3 rows of 8 columns.",
      target: { kind: "app", id: scene.app, name: "Kettle" },
      before: { export: null },
      after: { export: file },
      notes: [
        expect.stringContaining("Days on which a keyword was not measured have no row"),
        "1 of 3 keywords was not measured on any of these days.",
      ],
    })
  })

  long("previews of exports store only confirm tokens", async () => {
    const { sql } = scene
    const everything = async () => {
      const tables = await sql<{ name: string }[]>`
        select table_name as name
        from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'confirm_token'
        order by 1`
      const all = []
      for (const { name } of tables) all.push([name, await sql`select t::text from ${sql(name)} t order by 1`])
      return JSON.stringify(all)
    }
    const before = await everything()
    for (let round = 0; round < 20; round++)
      for (const dataset of ["keywords", "history", "reviews"]) {
        expect((await scene.preview({ dataset, format: round % 2 ? "csv" : "json" })).status).toBe(200)
      }
    expect(await everything()).toBe(before)
  })

  test("the preview of each dataset shows its exact number of rows and its columns", async () => {
    const counted = async (args: object) => (await scene.preview(args)).body.preview.after.export
    expect(await counted({ dataset: "keywords" })).toMatchObject({ rows: 3, from: ago(1), to: ago(1) })
    expect(await counted({ dataset: "reviews" })).toMatchObject({ rows: 2, from: ago(89), to: ago(0) })
    expect(await counted({ dataset: "reviews", from: ago(300) })).toMatchObject({ rows: 3, from: ago(300) })
    expect(await counted({ dataset: "reviews", from: ago(5), to: ago(5) })).toMatchObject({ rows: 1 })
    expect(await counted({ dataset: "reviews", from: ago(4), to: ago(3) })).toMatchObject({ rows: 0 })
    expect(await counted({ from: ago(3), to: ago(2) })).toMatchObject({ rows: 1, from: ago(3), to: ago(2) })
    for (const dataset of ["keywords", "history", "reviews"] as const)
      expect((await counted({ dataset })).columns).toEqual([...EXPORT_COLUMNS[dataset]])
  })

  test("an export starts no earlier than the plan's history, and a range entirely before it is refused", async () => {
    const cut = (await scene.preview({ from: ago(90) })).body.preview
    expect([cut.after.export.from, cut.notes.at(-1)]).toEqual([
      ago(89),
      `The plan reads back to ${ago(89)}: earlier days are not in the file.`,
    ])
    expect((await scene.preview({ from: ago(89) })).body.preview.notes.join()).not.toContain("The plan")
    expect((await scene.preview({ to: ago(89) })).status).toBe(200)
    const refused = await scene.preview({ to: ago(90) })
    expect([outcomeOf(refused), refused.body.detail]).toEqual([
      "403 plan_required",
      "This plan includes history of the last 90 days.",
    ])
    expect(outcomeOf(await scene.preview({ dataset: "reviews", to: ago(365) }))).toBe("403 plan_required")
    expect((await scene.preview({ dataset: "reviews", to: ago(364) })).body.preview.after.export.from).toBe(ago(364))
  })

  test("an export range that ends in the future ends today; a range entirely in the future is refused", async () => {
    for (const dataset of ["history", "reviews"]) {
      const predicted = (await scene.preview({ dataset })).body.preview.after.export
      const ahead = (await scene.preview({ dataset, to: "2999-01-01" })).body.preview.after.export
      expect(ahead).toEqual(predicted)
      const { body } = await scene.preview({ dataset, from: "2998-01-01", to: "2999-01-01" })
      expect(body).toMatchObject({
        error: "invalid_arguments",
        field: "from",
        detail: expect.stringContaining("2998-01-01"),
      })
    }
  })

  test("the default range of an export is the plan's history, or at most 90 days for reviews", async () => {
    const rangeOf = async (dataset: string) => {
      const { from, to, country, platform, format } = (await scene.preview({ dataset })).body.preview.after.export
      return { from, to, country, platform, format }
    }
    const usual = { to: ago(0), country: "de", platform: "ios", format: "csv" }
    await scene.sql`update tracked_app set countries = '{de,us}' where id = ${scene.app}`
    for (const [historyDays, reviewDays, first] of [
      [200, 365, 89],
      [30, 60, 59],
    ] as const) {
      await scene.sql`
        update workspace
        set overrides = ${scene.sql.json({ historyDays, reviewDays })}
        where id = ${scene.workspace}`
      scene.key = await scene.service.key(scene.workspace)
      expect(await rangeOf("history")).toEqual({ ...usual, from: ago(historyDays - 1) })
      expect(await rangeOf("reviews")).toEqual({ ...usual, from: ago(first) })
    }
  })

  test("the preview of an empty export explains the reason, and its confirm is free and creates no link", async () => {
    const cases: [object, string][] = [
      [{ country: "fr" }, "The app does not track fr"],
      [{ platform: "android" }, "not tracked on Google Play"],
      [{ dataset: "reviews", platform: "android" }, "not tracked on Google Play"],
      [{ dataset: "reviews", country: "de" }, "never read, so it is unknown whether there are any"],
    ]
    for (const [args, note] of cases) {
      const { body } = await scene.preview(args)
      expect([args, body.credits, body.preview.after.export.rows]).toEqual([args, 0, 0])
      expect(body.preview.before).toEqual(body.preview.after)
      expect(body.preview.notes.join(" ")).toContain(note)
      const confirmed = await scene.confirm(body.confirmToken)
      expect(confirmed.body).toMatchObject({ status: "unchanged", credits: 0, result: null })
    }
    expect(await scene.counts()).toEqual({ exports: 0, parts: 0 })
    expect(await booksOf(scene.sql, scene.workspace)).toMatchObject({ ledger: 0, audit: 0 })
  })

  test("an invalid argument of an export is refused with the name of the argument", async () => {
    const cases: [object, string][] = [
      [{ dataset: "ranks" }, "dataset"],
      [{ dataset: undefined }, "dataset"],
      [{ country: "zz" }, "country"],
      [{ platform: "windows" }, "platform"],
      [{ format: "xlsx" }, "format"],
      [{ from: "2025-02-30" }, "from"],
      [{ to: "yesterday" }, "to"],
      [{ from: ago(1), to: ago(2) }, "from"],
      [{ from: ago(-1) }, "from"],
      [{ from: ago(-1), to: ago(-2) }, "from"],
      [{ from: ago(-1), to: ago(-1) }, "from"],
      [{ dataset: "keywords", from: ago(1) }, "from"],
      [{ dataset: "keywords", to: ago(1) }, "to"],
      [{ days: 7 }, "days"],
    ]
    for (const [args, field] of cases) {
      const refused = await scene.preview(args)
      expect([args, outcomeOf(refused), refused.body.field]).toEqual([args, "400 invalid_arguments", field])
    }
  })
})

describe("the confirm", () => {
  test("the confirm creates the file, charges 20 credits and records the export without its link", async () => {
    const { body } = await scene.preview({ format: "json", country: "US" })
    const { status, body: done, credits } = await scene.confirm(body.confirmToken)
    const { url, expiresAt, ...result } = done.result
    expect([status, done.status, done.credits, credits.used, done.jobId]).toEqual([200, "applied", 20, 20, null])
    expect(result).toEqual({ appId: scene.app, ...body.preview.after.export })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8787\/exports\/[\w-]{43}$/)
    expect(Date.parse(expiresAt) - Date.parse(done.appliedAt)).toBe(7 * 86_400_000)
    expect(await booksOf(scene.sql, scene.workspace)).toEqual(booksAt(1, 20))
    const [audit] = await scene.sql`select action, target, result from audit where workspace_id = ${scene.workspace}`
    expect({ ...audit }).toEqual({
      action: "export_data",
      target: `export ${scene.app} history`,
      result: { ...result, expiresAt },
    })
  })

  slow("the token of an export link is neither in the database nor in the log", async () => {
    const { url } = await scene.exported()
    await scene.open(url)
    const token = url.split("/").at(-1) as string
    const tables = await scene.sql<{ name: string }[]>`
      select table_name as name
      from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'
      order by 1`
    const hex = Buffer.from(token, "base64url").toString("hex")
    for (const { name } of tables) {
      const text = JSON.stringify(await scene.sql`select t::text from ${scene.sql(name)} t`)
      expect([name, text.includes(token), text.includes(hex)]).toEqual([name, false, false])
    }
    expect(scene.service.logged.join("")).not.toContain(token)
  })

  test("a confirm after the data changed creates no file and returns a new preview", async () => {
    const { confirmToken } = (await scene.preview()).body
    await scene.measure("tea", 2, ["10007"])
    const refused = await scene.confirm(confirmToken)
    expect([outcomeOf(refused), refused.body.preview.after.export.rows]).toEqual(["409 confirm_token_mismatch", 4])
    expect([await scene.counts(), await booksOf(scene.sql, scene.workspace)]).toEqual([
      { exports: 0, parts: 0 },
      booksAt(0),
    ])
    await scene.sql`update rank_month set ranks = set_byte(ranks, ${Number(ago(2).slice(8)) - 1}, 255)`
    expect((await scene.confirm(confirmToken)).body.result.rows).toBe(3)
  })

  test("an export is refused for an expired token, a wrong key, a missing scope or a foreign app", async () => {
    const { confirmToken } = (await scene.preview()).body
    await scene.sql`update workspace set overrides = overrides || '{"liveKeys": 9}' where id = ${scene.workspace}`
    expect(outcomeOf(await scene.confirm(confirmToken, await scene.service.key(scene.workspace)))).toBe(
      "400 confirm_token_invalid",
    )
    await scene.sql`
        update confirm_token
        set created_at = now() - interval '601 s'
        where workspace_id = ${scene.workspace}`
    expect(outcomeOf(await scene.confirm(confirmToken))).toBe("400 confirm_token_expired")
    const reader = await scene.service.key(scene.workspace, { scopes: ["apps:read", "reviews:read", "track:write"] })
    const refused = await scene.preview({}, reader)
    expect([outcomeOf(refused), refused.body.scope]).toEqual(["403 scope_required", "reports:write"])
    const narrow = await scene.service.key(scene.workspace, { scopes: ["reports:write"] })
    expect((await scene.preview({}, narrow)).status).toBe(200)
    expect(outcomeOf(await scene.preview({}, await scene.service.key(scene.workspace, { kind: "test" })))).toBe(
      "403 test_key_read_only",
    )
    const other = await scene.service.key(await scene.service.workspace())
    expect((await scene.preview({}, other)).text).toBe((await scene.preview({ appId: "app_never" }, other)).text)
    expect(outcomeOf(await scene.preview({}, other))).toBe("404 not_found")
    const limited = await scene.service.key(scene.workspace, { appList: [scene.app] })
    expect((await scene.preview({}, limited)).status).toBe(200)
    expect(outcomeOf(await scene.preview({ appId: "app_other" }, limited))).toBe("403 app_not_allowed")
    expect(await scene.counts()).toEqual({ exports: 0, parts: 0 })
  })

  test("an export on the Free plan is refused with plan_required on the tool endpoint", async () => {
    const free = await scene.service.workspace({ plan: "free" })
    const { body } = await scene.service.tool(
      "preview_action",
      { action: "export_data", args: { appId: scene.app, dataset: "history" } },
      { key: await scene.service.key(free) },
    )
    expect(body.error).toBe("plan_required")
  })

  test("a confirm without enough credits creates no file, and succeeds after credits were bought", async () => {
    await scene.sql`update account set quota = 19 where workspace_id = ${scene.workspace}`
    const { confirmToken } = (await scene.preview()).body
    expect(outcomeOf(await scene.confirm(confirmToken))).toBe("402 credits_exhausted")
    expect([await scene.counts(), await booksOf(scene.sql, scene.workspace)]).toEqual([
      { exports: 0, parts: 0 },
      booksAt(0),
    ])
    await scene.sql`update account set pack = 1 where workspace_id = ${scene.workspace}`
    expect((await scene.confirm(confirmToken)).status).toBe(200)
    expect(await scene.counts()).toEqual({ exports: 1, parts: 1 })
  })

  long("an export of 100,000 reviews is created, and an export of 100,001 reviews is refused", async () => {
    const more = async (from: number, to: number) => {
      await scene.sql`
        insert into review_version (
          app_id, feed, review_id, digest, current, stars, text, at, first_seen_at, seen_at, source, parser, origin,
          sha256
        )
        select a.id, 'us', 'r' || n, decode(md5(n::text), 'hex'), true, 3, '',
          now() - interval '3 days' - n * interval '1 s', now(), now(), 'apple-reviews', 1, 'own', '\\x00'
        from store_app a, generate_series(${from}::int, ${to}::int) n
        where a.store_id = '1437843273'`
    }
    // two reviews exist already
    await more(1, 99_998)
    expect((await scene.preview({ dataset: "reviews" })).body.preview.after.export.rows).toBe(100_000)
    expect((await scene.exported({ dataset: "reviews" })).rows).toBe(100_000)
    expect(await scene.counts()).toEqual({ exports: 1, parts: 200 })
    await more(99_999, 99_999)
    const refused = await scene.preview({ dataset: "reviews" })
    expect([outcomeOf(refused), refused.body.reason]).toEqual([
      "403 write_limit_reached",
      "A file can have 100000 reviews at most, and these days have more. Choose fewer days.",
    ])
  })
})
