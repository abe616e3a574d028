import { afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { confirmMailAddress, removeMailAddress, requestMailCode } from "../../../src/access/people/mail-addresses.ts"
import { addPerson, changeRights, removeMember } from "../../../src/access/people/people.ts"
import { scopesOf } from "../../../src/access/people/roles.ts"
import { CHANNEL_KINDS } from "../../../src/alerts/delivery/channel-kinds.ts"
import { addChannel, listChannels } from "../../../src/alerts/delivery/channels.ts"
import { openMailPort } from "../../../src/alerts/delivery/mail-port.ts"
import { testChannel } from "../../../src/alerts/delivery/test-channel.ts"
import { makeUnsubscribeUrl, readUnsubscribe, unsubscribe } from "../../../src/alerts/digest/unsubscribe.ts"
import type { Sql, Tx } from "../../../src/database/types.ts"
import { createMailer } from "../../../src/outbound/mail/smtp.ts"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { errorOf } from "../../error-of.ts"
import { until } from "../../jobs/platform.ts"
import { longOnServer, slow } from "../../long.ts"
import { type MailServer, parsed, plainServer, startMailServer } from "../../outbound/mail/mail-server.ts"
import { addAlerts, createScene, deliveries, deliveryOf, foundPassings, outbound, rule, type Scene } from "./scene.ts"

setDefaultTimeout(60_000)

let sql: Sql
let mailServer: MailServer
let scene: Scene
let personId: number
let people = 0

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  mailServer = await startMailServer()
  scene = await createScene(sql, "Tea <b>evil.example</b>")
  // a workspace needs at least one manager
  const boss = { workspaceId: scene.workspaceId, name: `Boss ${++people}`, scopes: scopesOf("owner"), appList: null }
  await inTx((tx) => addPerson(tx, boss))
  personId = await member()
})
afterEach(() => mailServer.stop())

const inTx = <T>(work: (tx: Tx) => Promise<T>) => sql.begin(work) as Promise<T>

async function member(role: "owner" | "viewer" = "viewer", apps: string[] | null = null): Promise<number> {
  const name = `Reader ${++people}`
  return await inTx((tx) =>
    addPerson(tx, { workspaceId: scene.workspaceId, name, scopes: scopesOf(role), appList: apps }),
  )
}

async function confirm(id: number, address = "ada@example.org"): Promise<void> {
  const { code } = await requestMailCode(sql, id, address)
  await confirmMailAddress(sql, id, code)
}

const nameOf = async (id: number) => (await sql<{ name: string }[]>`select name from person where id = ${id}`)[0]!.name
const add = async (id = personId) => {
  const { channel } = await addChannel(scene.register, scene.workspaceId, "email", { person: await nameOf(id) })
  return channel
}
const mail = () =>
  openMailPort(sql, { mailer: createMailer(plainServer(mailServer)), publicUrl: "https://ranks.example.com" })
const deliver = () => deliveryOf(sql, { mail: mail(), gapsMs: { email: 0 } }).runOnce()
const channels = () => listChannels(sql, scene.workspaceId)

describe("alerts by mail", () => {
  test("a mail goes only to a member who sees all apps and has confirmed an address", async () => {
    const message = async (person: string) =>
      ((await errorOf(addChannel(scene.register, scene.workspaceId, "email", { person }))) as Error).message
    expect(await message("nobody")).toContain('no person named "nobody"')
    expect(await message(await nameOf(personId))).toContain("has not confirmed an address yet")
    await requestMailCode(sql, personId, "ada@example.org")
    expect(await message(await nameOf(personId))).toContain("has not confirmed an address yet")
    const limited = await member("viewer", [scene.appId])
    await confirm(limited, "bo@example.org")
    expect(await message(await nameOf(limited))).toContain("sees only some of the apps")
    await confirm(personId)
    expect(await add()).toMatchObject({ kind: "email", address: "ada@example.org", state: "on" })
  })

  slow("a mail covers one event, names its delivery in the Message-ID, and links only to this instance", async () => {
    await confirm(personId)
    await add()
    await rule(scene, "rank_drop", { channels: ["email"] })
    await rule(scene, "rival_passed", { channels: ["email"] })
    await addAlerts(scene)
    await foundPassings(scene, ["Softly https://evil.example"])
    await deliver()
    expect(mailServer.received).toHaveLength(1)
    const { text, html, subject, messageId, headers } = await parsed(mailServer.received[0]!)
    const rows = await deliveries(scene)
    expect(rows.map(({ state }) => state)).toEqual(["delivered", "delivered"])
    expect(rows.map(({ id }) => `<${id}@example.com>`)).toContain(messageId!)
    expect(subject).toContain("fell from 5 to 12")
    expect(text).toContain("passed you")
    const links = [...String(html).matchAll(/href="([^"]*)"/g)].map(([, url]) => url!)
    expect(links.every((url) => url.startsWith("https://ranks.example.com/"))).toBe(true)
    expect(`${text}${String(html).replaceAll(/<[^>]*>/g, "")}`).not.toMatch(/evil\.example|https:\/\/evil/)
    expect(headers.get("list")).toMatchObject({ "unsubscribe-post": { name: "List-Unsubscribe=One-Click" } })
  })

  test("a mail with an unknown outcome ends as undelivered and is not sent again", async () => {
    await confirm(personId)
    await add()
    await rule(scene, "rank_drop", { channels: ["email"] })
    await addAlerts(scene)
    const silent = mail()
    const mailer = { ...silent.mailer, send: async () => ({ result: "unknown" as const, failure: "no answer" }) }
    await deliveryOf(sql, { mail: { ...silent, mailer } }).runOnce()
    await deliver()
    expect(mailServer.received).toEqual([])
    const rows = await sql`
      select d.state, d.failure
      from delivery d
      join channel c on c.id = d.channel_id
      where c.workspace_id = ${scene.workspaceId}`
    expect([...rows]).toEqual([{ state: "undelivered", failure: "no answer; it may have arrived" }])
    expect((await channels())[0]).toMatchObject({ state: "on" })
  })

  slow("an address that the mail server refuses disables the channel and is stored as refused", async () => {
    await confirm(personId)
    const { id } = await add()
    await rule(scene, "rank_drop", { channels: ["email"] })
    await addAlerts(scene, 3)
    mailServer.refuse.set("ada@example.org", 550)
    await deliver()
    expect((await channels())[0]).toMatchObject({
      state: "disabled",
      disabled: expect.stringContaining("status 550"),
    })
    const [{ refused }] = await sql<
      [{ refused: string }]
    >`select refused from mail_address where person_id = ${personId}`
    expect(refused).toContain("status 550")
    const result = await testChannel(
      scene.register,
      { outbound, telegramApi: undefined, mail: mail() },
      scene.workspaceId,
      id,
    )
    expect(result).toMatchObject({ taken: false, failure: expect.stringContaining("no confirmed address") })
  })

  slow("mails go to a newly confirmed address, and end when the address or the membership is removed", async () => {
    await confirm(personId)
    await add()
    await confirm(personId, "new@example.org")
    expect((await channels()).map(({ address }) => address)).toEqual(["new@example.org"])
    await rule(scene, "rank_drop", { channels: ["email"] })
    await addAlerts(scene)
    await deliver()
    expect(mailServer.received.map(({ to }) => to)).toEqual([["new@example.org"]])
    await removeMailAddress(sql, personId)
    expect(await channels()).toEqual([])
    await confirm(personId)
    await add()
    await inTx((tx) => removeMember(tx, scene.workspaceId, personId))
    expect(await channels()).toEqual([])
  })

  test("a person who is limited to some apps gets no more mails", async () => {
    await confirm(personId)
    await add()
    await rule(scene, "rank_drop", { channels: ["email"] })
    await inTx((tx) =>
      changeRights(tx, scene.workspaceId, personId, { scopes: scopesOf("viewer"), appList: [scene.appId] }),
    )
    await addAlerts(scene)
    await deliver()
    expect(mailServer.received).toEqual([])
    expect((await channels())[0]).toMatchObject({ disabled: "the person sees only some of the apps now" })
  })

  test("a mail leaves out changes of ads for a member who may not see ads", async () => {
    const reader = { address: "ada@example.org", workspace: "W", hasAllApps: true, seesAds: false, unsubscribeUrl: "" }
    const port = {
      outbound,
      telegramApi: undefined,
      mail: { ...mail(), readerOf: async () => reader },
      channelId: "ch_1",
      signal: new AbortController().signal,
      now: () => new Date(),
      timeoutMs: 1_000,
    }
    const message = { id: "msg_1", type: "alert.asa_rule", at: "2025-11-20T08:00:00Z", data: {}, text: "The bid rose" }
    const sent = await CHANNEL_KINDS.email.send({ person: "ada", personId: "1" }, message, port)
    expect(sent).toEqual({ result: "ended", failure: "the person may not see ads" })
    expect(mailServer.received).toEqual([])
  })

  slow("the unsubscribe link in each mail stops all further mails", async () => {
    await confirm(personId)
    const { id } = await add()
    await testChannel(scene.register, { outbound, telegramApi: undefined, mail: mail() }, scene.workspaceId, id)
    const { headers } = await parsed(mailServer.received[0]!)
    const { unsubscribe: link } = headers.get("list") as unknown as { unsubscribe: { url: string } }
    const token = link.url.split("/").at(-1)!
    expect(await unsubscribe(sql, token)).toMatchObject({ kind: "alerts" })
    expect(await channels()).toEqual([])
    expect(await unsubscribe(sql, token)).toBeNull()
  })

  test("the unsubscribe link of a mail works for 400 days, even after newer mails", async () => {
    const newToken = async () => {
      const subscription = { personId, workspaceId: scene.workspaceId }
      return (await makeUnsubscribeUrl(sql, "https://ranks.example.com", subscription)).split("/").at(-1)!
    }
    const mailing = { workspace: expect.any(String), kind: "summaries" }
    const age = (days: number) => sql`update mail_unsubscribe set created_at = now() - ${days} * interval '1 day'`
    const earlier = await newToken()
    await age(399)
    await newToken()
    expect(await readUnsubscribe(sql, earlier)).toMatchObject(mailing)
    await age(401)
    expect(await readUnsubscribe(sql, await newToken())).toMatchObject(mailing)
    expect(await readUnsubscribe(sql, earlier)).toBeNull()
  })

  test("mails wait if the server has no mail settings", async () => {
    await confirm(personId)
    await add()
    await rule(scene, "rank_drop", { channels: ["email"] })
    await addAlerts(scene)
    await deliveryOf(sql).runOnce()
    expect((await deliveries(scene)).map(({ state }) => state)).toEqual(["waiting"])
    expect((await channels())[0]).toMatchObject({ failure: expect.stringContaining("SMTP_URL") })
  })
})

const KILLS = 6
const ALERTS = 5

longOnServer(
  `postgres: all alerts by mail arrive despite ${KILLS} killed processes, each with a single Message-ID`,
  async () => {
    await confirm(personId)
    await add()
    await rule(scene, "rank_drop", { channels: ["email"] })
    // a mail of an earlier test may still wait
    await sql`delete from channel where workspace_id <> ${scene.workspaceId}`
    mailServer.received.length = 0
    const options = { leaseMs: 250, timeoutMs: 200, gapsMs: { email: 0 } }
    const task = JSON.stringify({ databaseUrl: scratchUrl(sql), options, smtpPort: mailServer.port })
    let kills = 0
    while (kills < KILLS || mailServer.received.length < ALERTS) {
      const child = Bun.spawn([process.execPath, join(import.meta.dirname, "delivery-process.ts"), task], {
        stdout: "pipe",
        stderr: "inherit",
      })
      await child.stdout.getReader().read()
      if (kills < KILLS) await addAlerts(scene, ALERTS, { term: `tea ${kills}` })
      await Bun.sleep(100 + ((kills * 53) % 150) + kills * 30)
      child.kill("SIGKILL")
      await child.exited
      kills++
    }
    const all = KILLS * ALERTS
    const last = deliveryOf(sql, { mail: mail(), gapsMs: { email: 0 } })
    last.start()
    const countDelivered = async () => (await deliveries(scene)).filter(({ state }) => state === "delivered").length
    await until(async () => (await countDelivered()) === all, 90_000)
    await last.stop()
    const mails = await Promise.all(mailServer.received.map(parsed))
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(all)
    // a kill can repeat a mail that the server had accepted; nothing else is sent twice
    expect(mails.length - all).toBeLessThanOrEqual(kills)
  },
  180_000,
)
