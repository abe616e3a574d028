import { describe, expect, test } from "bun:test"
import { RULE_TYPES } from "../../../src/alerts/types.ts"
import { tagTerms } from "../../../src/tracking/terms.ts"
import { prepareScene } from "../../writes/scene.ts"

const fixture = prepareScene()

const previewRule = async (args: object) => (await fixture.preview("create_alert_rule", args)).body
const notesOf = async (args: object): Promise<string[]> => (await previewRule(args)).preview.notes

async function rules() {
  const rows = await fixture.sql`
    select type, channels, drop_by, keyword_scope, rival_scope
    from alert_rule
    where workspace_id = ${fixture.workspace}
    order by type`
  return rows.map((row) => Object.values(row))
}

const NONE = { channels: [], dropBy: null, keywordScope: null, rivalScope: null }

describe("create_alert_rule", () => {
  test("create_alert_rule previews the rule before and after the change, and stores the previewed rule", async () => {
    const args = { type: "rank_drop", channels: ["webhook", "slack", "webhook"], dropBy: 10, keywordScope: "tagged" }
    const { preview, credits, destructive, confirmToken } = await previewRule(args)
    const rule = { ...NONE, type: "rank_drop", channels: ["slack", "webhook"], dropBy: 10, keywordScope: "tagged" }
    expect([credits, destructive]).toEqual([2, false])
    expect(preview).toMatchObject({
      summary: "Deliver rank_drop alerts by slack, webhook.",
      target: { kind: "alert_rule", id: "rank_drop", name: "rank_drop" },
      before: { rule: null },
      after: { rule },
    })
    expect(await rules()).toEqual([])
    const { body, credits: paid } = await fixture.confirm(confirmToken)
    expect(body).toMatchObject({ status: "applied", credits: 2, result: { rule, created: true } })
    expect([paid.used, await rules()]).toEqual([2, [["rank_drop", ["slack", "webhook"], 10, "tagged", null]]])
  })

  test("create_alert_rule replaces the existing rule of its type completely; repeating the call is free", async () => {
    await fixture.applied("create_alert_rule", { type: "rival_passed", channels: ["slack"], rivalScope: "manual" })
    const { preview, confirmToken } = await previewRule({ type: "rival_passed", channels: ["telegram"] })
    const before = { ...NONE, type: "rival_passed", channels: ["slack"], keywordScope: "all", rivalScope: "manual" }
    const after = { ...before, channels: ["telegram"], rivalScope: "all" }
    expect(preview).toMatchObject({
      summary: "Deliver rival_passed alerts by telegram, with changed conditions.",
      before: { rule: before },
      after: { rule: after },
    })
    expect((await fixture.confirm(confirmToken)).body.result).toEqual({ rule: after, created: false })
    const same = await previewRule({ type: "rival_passed", channels: ["telegram"], rivalScope: "all" })
    expect([same.credits, same.preview.before]).toEqual([0, same.preview.after])
    expect((await fixture.confirm(same.confirmToken)).body.status).toBe("unchanged")
    expect(await rules()).toEqual([["rival_passed", ["telegram"], null, "all", "all"]])
  })

  test("create_alert_rule creates a rule of each of the fifteen types with default options", async () => {
    for (const type of RULE_TYPES) expect((await fixture.applied("create_alert_rule", { type })).status).toBe(200)
    const all = "all"
    expect(await rules()).toEqual([
      ["ai_mention_lost", [], null, all, null],
      ["asa_rule", [], null, null, null],
      ["chart_drop", [], null, null, null],
      ["chart_enter", [], null, null, null],
      ["dropped_out", [], null, all, null],
      ["entered", [], null, all, null],
      ["featured", [], null, null, null],
      ["off_topic", [], null, all, null],
      ["rank_drop", [], 3, all, null],
      ["rank_rise", [], null, all, null],
      ["review_wave", [], null, null, null],
      ["rival_beaten", [], null, all, all],
      ["rival_event", [], null, null, all],
      ["rival_passed", [], null, all, all],
      ["weekly", [], null, null, null],
    ])
  })

  test("create_alert_rule refuses an option that the type lacks or that is out of bounds, and names it", async () => {
    const cases: [object, string][] = [
      [{ type: "rank_rise", dropBy: 5 }, "dropBy"],
      [{ type: "dropped_out", dropBy: 5 }, "dropBy"],
      [{ type: "chart_drop", keywordScope: "all" }, "keywordScope"],
      [{ type: "rival_event", keywordScope: "tagged" }, "keywordScope"],
      [{ type: "rank_drop", rivalScope: "all" }, "rivalScope"],
      [{ type: "weekly", rivalScope: "manual" }, "rivalScope"],
      [{ type: "rank_drop", dropBy: 2 }, "dropBy"],
      [{ type: "rank_drop", dropBy: 51 }, "dropBy"],
      [{ type: "rank_drop", dropBy: 4.5 }, "dropBy"],
      [{ type: "rank_drop", channels: ["sms"] }, "channels"],
      [{ type: "rank_drop", channels: "slack" }, "channels"],
      [{ type: "discovery" }, "type"],
      [{}, "type"],
    ]
    for (const [args, field] of cases) {
      const body = await previewRule(args)
      expect([args, body.error, body.field]).toEqual([args, "invalid_arguments", field])
    }
    for (const dropBy of [3, 50]) expect((await previewRule({ type: "rank_drop", dropBy })).error).toBeUndefined()
  })

  test("create_alert_rule explains why a rule cannot deliver yet, such as missing channels or tags", async () => {
    const nowhere = "Without a channel nothing is delivered; alerts appear only in the feed."
    expect(await notesOf({ type: "rank_drop" })).toEqual([nowhere])
    expect(await notesOf({ type: "entered", channels: ["slack", "telegram"] })).toEqual([
      "Not connected yet, so nothing is delivered there: telegram, slack.",
    ])
    expect(await notesOf({ type: "asa_rule" })).toEqual([
      nowhere,
      expect.stringMatching(/^Without a connected Apple Ads account .* appmeter account add apple-ads\./),
    ])
    const tagged = { type: "rank_drop", keywordScope: "tagged" }
    const manual = { type: "rival_event", rivalScope: "manual" }
    expect(await notesOf(tagged)).toEqual([nowhere, "No keyword of the workspace has a tag yet."])
    expect(await notesOf(manual)).toEqual([nowhere, "No rival was added by hand yet. add_rivals adds rivals."])
    await fixture.sql.begin((tx) => tagTerms(tx, fixture.app, ["tea"], ["core"]))
    await fixture.applied("add_rivals", { appId: fixture.app, rivals: ["ios:1437816860"] })
    expect([await notesOf(tagged), await notesOf(manual)]).toEqual([[nowhere], [nowhere]])
  })

  test("create_alert_rule defaults to every kind of channel that the workspace has connected", async () => {
    const connect = (
      id: string,
      kind: string,
      workspace = fixture.workspace,
      disabled: string | null = null,
    ) => fixture.sql`
      insert into channel (id, workspace_id, kind, shown, sealed, disabled, disabled_at)
      values (${id}, ${workspace}, ${kind}, 'shown', 'sealed', ${disabled}, ${disabled && fixture.sql`now()`})`
    await connect("chan_1", "webhook")
    await connect("chan_2", "webhook", fixture.workspace, "gone")
    await connect("chan_3", "slack", await fixture.service.workspace())
    const { preview, confirmToken } = await previewRule({ type: "entered" })
    expect([preview.after.rule.channels, preview.notes]).toEqual([["webhook"], []])
    await connect("chan_4", "telegram", fixture.workspace, "gone")
    const refused = await fixture.confirm(confirmToken)
    expect([refused.body.error, refused.body.preview.after.rule.channels, refused.body.preview.notes]).toEqual([
      "confirm_token_mismatch",
      ["telegram", "webhook"],
      ["Disabled, so nothing is delivered there: telegram."],
    ])
    const withoutChannels = await previewRule({ type: "entered", channels: [] })
    expect(withoutChannels.preview.after.rule.channels).toEqual([])
    expect(await notesOf({ type: "entered", channels: ["slack"] })).toEqual([
      "Not connected yet, so nothing is delivered there: slack.",
    ])
  })

  test("create_alert_rule notes that alerts about charts and features need an app on the App Store", async () => {
    const storeNote = expect.stringContaining("on the App Store")
    for (const type of ["chart_drop", "chart_enter", "featured"]) {
      expect(await notesOf({ type })).not.toContainEqual(storeNote)
      await fixture.sql`update tracked_app set android_app = ios_app, ios_app = null where id = ${fixture.app}`
      expect(await notesOf({ type })).toContainEqual(storeNote)
      expect(await notesOf({ type: "review_wave" })).not.toContainEqual(storeNote)
      await fixture.sql`update tracked_app set ios_app = android_app, android_app = null where id = ${fixture.app}`
    }
    await fixture.sql`delete from tracked_app where id = ${fixture.app}`
    expect(await notesOf({ type: "chart_drop" })).toContain("The workspace tracks no app yet.")
  })
})

describe("delete_alert_rule", () => {
  test("delete_alert_rule previews and deletes one rule free of charge, and keeps the other rules", async () => {
    await fixture.applied("create_alert_rule", { type: "rank_drop", dropBy: 7 })
    await fixture.applied("create_alert_rule", { type: "entered" })
    const { body } = await fixture.preview("delete_alert_rule", { type: "rank_drop" })
    const rule = { ...NONE, type: "rank_drop", dropBy: 7, keywordScope: "all" }
    expect([body.credits, body.destructive]).toEqual([0, true])
    expect(body.preview).toMatchObject({ before: { rule }, after: { rule: null } })
    const done = await fixture.confirm(body.confirmToken)
    expect(done.body).toMatchObject({ status: "applied", credits: 0, result: { removed: rule } })
    expect(await rules()).toEqual([["entered", [], null, "all", null]])
  })

  test("delete_alert_rule for a type without a rule changes nothing and is free", async () => {
    const { body } = await fixture.preview("delete_alert_rule", { type: "rank_drop" })
    expect(body).toMatchObject({ credits: 0, preview: { before: { rule: null }, after: { rule: null } } })
    expect(body.preview.summary).toStartWith("Change nothing")
    expect((await fixture.confirm(body.confirmToken)).body).toMatchObject({
      status: "unchanged",
      credits: 0,
      result: null,
    })
  })

  test("confirming delete_alert_rule fails as a mismatch if the rule was deleted after the preview", async () => {
    await fixture.applied("create_alert_rule", { type: "rank_drop" })
    const { body } = await fixture.preview("delete_alert_rule", { type: "rank_drop" })
    await fixture.applied("delete_alert_rule", { type: "rank_drop" })
    const answer = await fixture.confirm(body.confirmToken)
    expect([answer.status, answer.body.error, answer.body.preview.before]).toEqual([
      409,
      "confirm_token_mismatch",
      { rule: null },
    ])
  })
})

describe("rules", () => {
  test("rules of another workspace are neither visible nor changed", async () => {
    await fixture.applied("create_alert_rule", { type: "rank_drop" })
    const key = await fixture.service.key(await fixture.service.workspace())
    expect((await fixture.preview("create_alert_rule", { type: "rank_drop" }, key)).body.preview.before).toEqual({
      rule: null,
    })
    expect((await fixture.preview("delete_alert_rule", { type: "rank_drop" }, key)).body.preview.before).toEqual({
      rule: null,
    })
  })

  test("a key limited to some apps cannot change rules, because they apply to all apps", async () => {
    await fixture.applied("create_alert_rule", { type: "rank_drop" })
    const limited = await fixture.service.key(fixture.workspace, { appList: [fixture.app] })
    for (const action of ["create_alert_rule", "delete_alert_rule"])
      expect((await fixture.preview(action, { type: "rank_drop" }, limited)).body.error).toBe("app_not_allowed")
  })
})
