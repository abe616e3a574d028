import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { CHANNEL_KINDS } from "../../../src/alerts/delivery/channel-kinds.ts"
import { listChannels } from "../../../src/alerts/delivery/channels.ts"
import { listRules } from "../../../src/alerts/rules.ts"
import { OutboundProblem } from "../../../src/outbound/problem.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import type { Browser } from "../../access/sign-in/browser.ts"
import { freshDatabase } from "../../database.ts"
import { openService, type Service } from "../../service.ts"
import { type Sharing, sharing } from "../../sharing/share-scene.ts"
import { ownerOf } from "../app-scene.ts"
import { NO_PORTS } from "./ports.ts"
import { settingsBrowser } from "./settings-browser.ts"

setDefaultTimeout(60_000)

const CHANNELS = "/app/settings/channels"
const RULES = "/app/settings/rules"
const SLACK = "https://hooks.slack.example/services/T000/B000/verysecretpart1234"

let service: Service
let tea: Sharing
let owner: Browser
let channels: ReturnType<typeof settingsBrowser>
let rules: ReturnType<typeof settingsBrowser>
const sent: { url: string; body: string }[] = []
let isReachable = true

const outbound: SafeFetch = async (url, { body } = {}) => {
  if (!isReachable) throw new OutboundProblem("blocked")
  sent.push({ url, body: String(body) })
  return { url, status: 200, headers: new Headers(), bytes: new TextEncoder().encode("ok") }
}

beforeAll(async () => {
  service = openService({ sql: await freshDatabase(), settingsPorts: { ...NO_PORTS, outbound } })
  tea = await sharing(service, { name: "Tea", keywords: ["tea"] })
  owner = await ownerOf(service, tea.writer.workspace)
  channels = settingsBrowser(owner, CHANNELS)
  rules = settingsBrowser(owner, RULES)
})

const listed = async () => await listChannels(service.sql, tea.writer.workspace)
const channelOf = async (kind: string) => (await listed()).find((channel) => channel.kind === kind)!

describe("channels in the settings", () => {
  test("an alert rule cannot be created before there is a channel", async () => {
    expect((await owner.open(`${RULES}?type=rank_drop`)).text).toContain("Add a channel first")
  })

  test("Slack, Telegram and a webhook are added, and only the webhook's signing secret is shown once", async () => {
    expect((await channels.send("slack", { url: SLACK })).headers.get("location")).toBe(`${CHANNELS}?done=added`)
    await channels.send("telegram", { token: "123456789:AAEabcdefghijklmnopqrstuvwxyz", chat: "@ranks" })
    const webhook = await channels.send("webhook", { url: "https://example.com/hook" })
    const [secret = ""] = /value="(whsec_[^"]+)"/.exec(webhook.text)?.slice(1) ?? []
    expect(secret).not.toBe("")
    const { text } = await owner.open(CHANNELS)
    expect(["Slack", "Telegram", "Webhook"].filter((name) => !text.includes(`<strong>${name}</strong>`))).toEqual([])
    for (const hidden of [secret, "verysecretpart", "AAEabcdef"])
      expect([hidden, text.includes(hidden)]).toEqual([hidden, false])
    expect(text).toContain("No rule uses it.")
  })

  test.each([
    ["ntfy", { url: "https://ntfy.sh/tea-timer-q7Xk2", token: "tk_verysecrettoken" }],
    ["discord", { url: "https://discord.com/api/webhooks/1/verysecretpart" }],
    ["teams", { url: "https://a.logic.azure.com/workflows/1/triggers/manual/paths/invoke?sig=verysecretpart" }],
  ] as const)(
    "a channel of type %s is added, tested and removed, and no page shows its secret",
    async (kind, fields) => {
      const refused = await channels.send(kind, { url: "https://x.example/verysecretpart?a" })
      expect([refused.status, refused.text.includes(`id="${kind}-url-error"`)]).toEqual([400, true])
      expect((await channels.send(kind, fields)).headers.get("location")).toBe(`${CHANNELS}?done=added`)
      const { id } = await channelOf(kind)
      expect((await channels.send("test", { id })).headers.get("location")).toBe(`${CHANNELS}?done=tested`)
      const { text } = await owner.open(CHANNELS)
      expect(text).toContain(`<strong>${CHANNEL_KINDS[kind].title}</strong>`)
      for (const hidden of ["verysecret", "q7Xk2</"]) expect([hidden, text.includes(hidden)]).toEqual([hidden, false])
      await channels.send("removed", { id })
    },
  )

  test("a Telegram chat that got a new id is shown with both ids", async () => {
    const moved = { moved_from: "-100123", moved_at: new Date(), shown: "-100456" }
    const { id } = await channelOf("telegram")
    await service.sql`update channel set ${service.sql(moved)} where id = ${id}`
    const { text } = await owner.open(CHANNELS)
    expect(text).toContain("The chat got a new id")
    for (const chat of ["-100123", "-100456"]) expect([chat, text.includes(chat)]).toEqual([chat, true])
  })

  test("a refused channel form names the invalid field and does not repeat the secret", async () => {
    const slack = await channels.send("slack", { url: "ftp://secret.example/token" })
    expect([slack.status, slack.text.includes('id="slack-url-error"')]).toEqual([400, true])
    expect(slack.text).not.toContain("secret.example")
    const telegram = await channels.send("telegram", {
      token: "123456789:AAEabcdefghijklmnopqrstuvwxyz",
      chat: "<nowhere>",
    })
    expect(telegram.text).toContain('id="telegram-chat-error"')
    expect(telegram.text).toContain('value="&lt;nowhere&gt;"')
    expect(telegram.text).not.toContain("AAEabcdef")
  })

  test("a test message is delivered, or the page shows why not", async () => {
    const { id } = await channelOf("slack")
    expect((await channels.send("test", { id })).headers.get("location")).toBe(`${CHANNELS}?done=tested`)
    expect(sent.at(-1)?.url).toBe(SLACK)
    isReachable = false
    const failed = await channels.send("test", { id })
    isReachable = true
    expect([failed.status, failed.text.includes("The test message was not delivered:")]).toEqual([400, true])
  })

  test("a paused channel stays paused after a test, until it is resumed", async () => {
    const { id } = await channelOf("slack")
    await channels.send("pause", { id })
    await channels.send("test", { id })
    expect((await channelOf("slack")).state).toBe("paused")
    await channels.send("resume", { id })
    expect((await channelOf("slack")).state).toBe("on")
  })

  test("removing a channel asks for confirmation", async () => {
    const { id } = await channelOf("telegram")
    expect((await channels.send("remove", { id })).text).toContain("Remove this Telegram channel?")
    expect(await listed()).toHaveLength(3)
    await channels.send("removed", { id })
    expect(await listed()).toHaveLength(2)
  })
})

describe("alert rules in the settings", () => {
  const ruleOf = async (type: string) =>
    (await listRules(service.sql, tea.writer.workspace)).find((rule) => rule.type === type)

  test("a rule without a channel is refused, and its form is shown again with the values that were sent", async () => {
    const page = await rules.send(
      "save",
      { type: "rank_drop", dropBy: "7", keywordScope: "tagged" },
      `${RULES}?type=rank_drop`,
    )
    expect([page.status, page.text.includes("Choose at least one channel.")]).toEqual([400, true])
    expect(page.text).toContain('value="7"')
    expect(await ruleOf("rank_drop")).toBeUndefined()
  })

  test("a rule is made, changed and deleted, and the channels page lists it", async () => {
    const at = `${RULES}?type=rank_drop`
    const fields = { type: "rank_drop", channels: "slack", keywordScope: "tagged" }
    expect((await rules.send("save", { ...fields, dropBy: "7" }, at)).headers.get("location")).toBe(
      `${RULES}?done=saved`,
    )
    expect(await ruleOf("rank_drop")).toMatchObject({ channels: ["slack"], dropBy: 7, keywordScope: "tagged" })
    expect((await owner.open(CHANNELS)).text).toContain("Delivers: rank drop")
    await rules.send("save", { ...fields, channels: ["slack", "webhook"], dropBy: "9" }, at)
    expect(await ruleOf("rank_drop")).toMatchObject({ channels: ["slack", "webhook"], dropBy: 9 })
    expect((await owner.open(at)).text).toContain('value="9"')
    await rules.send("delete", { id: "rank_drop" })
    expect(await ruleOf("rank_drop")).toBeUndefined()
  })

  test("values out of range and channels that do not exist are refused", async () => {
    const fields = { type: "rank_drop", channels: "slack", dropBy: "7" }
    const wrong: Record<string, string>[] = [
      { dropBy: "2" },
      { dropBy: "1e3" },
      { channels: "pigeon" },
      { keywordScope: "none" },
      { type: "constructor" },
    ]
    for (const change of wrong) {
      const page = await rules.send("save", { ...fields, ...change }, `${RULES}?type=rank_drop`)
      expect([change, page.status]).toEqual([change, 400])
    }
    expect(await ruleOf("rank_drop")).toBeUndefined()
  })
})
