import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createSummaries } from "../../../src/alerts/delivery/weekly.ts"
import { addDays, mondayOf } from "../../../src/lib/days.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { parsed } from "../../outbound/mail/mail-server.ts"
import { settingsBrowser } from "../../pages/settings/settings-browser.ts"
import { sharing } from "../../sharing/share-scene.ts"
import {
  addNews,
  codeIn,
  digests,
  MAIL,
  type MailScene,
  mailScene,
  PUBLIC,
  remove,
  subscriber,
  TODAY,
} from "./scene.ts"

setDefaultTimeout(60_000)

let scene: MailScene

beforeAll(async () => {
  scene = await mailScene(await freshDatabase())
  await addNews(scene, ["Lovely."])
})
afterAll(() => scene.mailServer.stop())
beforeEach(async () => {
  scene.mailServer.received.length = 0
  scene.mailServer.refuse.clear()
  scene.mailServer.beforeAnswer = async () => {}
  await scene.sql`delete from digest`
})

const stateOf = async (personId: number) =>
  (
    await scene.sql<{ state: string; failure: string | null }[]>`
    select state, failure
    from digest_mail
    where person_id = ${personId}`
  )[0]

describe("an address", () => {
  slow("an address gets no digest until its confirmation code is entered", async () => {
    const { browser, personId } = await subscriber(scene)
    const { send } = settingsBrowser(browser, MAIL)
    await send("address", { address: "bo@example.org" })
    expect(scene.mailServer.received.map(({ to }) => to)).toEqual([["ada@example.org"], ["bo@example.org"]])
    expect((await send("confirm", { code: "BCDF-GHJK" })).text).toContain("This is not the code")
    await digests(scene).runOnce()
    expect(scene.mailServer.received.at(-1)!.to).toEqual(["ada@example.org"])
    await send("confirm", {
      code: await codeIn({ ...scene.mailServer, received: scene.mailServer.received.slice(0, 2) }),
    })
    const rows = await scene.sql`select address, pending, code_sha256 from mail_address where person_id = ${personId}`
    expect([...rows]).toEqual([{ address: "bo@example.org", pending: null, code_sha256: null }])
  })

  slow("an address gets at most five codes a day, and a malformed address gets none", async () => {
    const { browser } = await subscriber(scene)
    const { send } = settingsBrowser(browser, MAIL)
    const bad = await send("address", { address: "bo@example.org\r\nBcc: eve@evil.example" })
    expect([bad.status, bad.text.includes("This is not a mail address")]).toEqual([400, true])
    for (let code = 2; code <= 5; code++) await send("address", { address: "stranger@example.org" })
    expect((await send("address", { address: "stranger@example.org" })).text).toContain("At most 5 codes")
    expect(scene.mailServer.received).toHaveLength(5)
  })

  slow("an address gets a test message from the page", async () => {
    const { browser } = await subscriber(scene)
    const { headers } = await settingsBrowser(browser, MAIL).send("test", {})
    expect(headers.get("location")).toBe(`${MAIL}?done=tested`)
    expect((await parsed(scene.mailServer.received.at(-1)!)).subject).toBe("Test message from Appmeter")
  })
})

describe("a digest", () => {
  slow("a digest is one mail per person and period, with the changes and the reviews", async () => {
    const { personId } = await subscriber(scene)
    const [first, second] = [digests(scene), digests(scene)]
    await Promise.all([first.runOnce(), second.runOnce()])
    await first.runOnce()
    const sent = scene.mailServer.received.slice(1)
    expect(sent).toHaveLength(1)
    const { subject, text, html, messageId, headers } = await parsed(sent[0]!)
    expect(subject).toContain(`day ${TODAY}: 1 rose, 1 review`)
    expect(text).toContain("WHAT MOVED")
    expect(text).toMatch(/entered|is at 8/)
    expect(text).toContain("Title: Lovely.")
    expect(text).toContain("★☆☆☆☆ · ")
    expect(html).toContain("Tea &lt;Timer&gt;")
    expect(messageId).toMatch(/^<digest_[0-9a-f]{32}@example\.com>$/)
    const { unsubscribe } = headers.get("list") as unknown as { unsubscribe: { url: string } }
    expect(unsubscribe.url.startsWith(`${PUBLIC}/unsubscribe/`)).toBe(true)
    // every link leads to this instance
    const links = [...String(html).matchAll(/href="([^"]*)"/g)].map(([, url]) => url)
    expect(links).toEqual([`${PUBLIC}/app`, unsubscribe.url])
    expect(await stateOf(personId)).toEqual({ state: "sent", failure: null })
  })

  slow("a weekly digest is sent on Monday with the figures of the feed's weekly summary", async () => {
    const weekly = await mailScene(await freshDatabase(), "Week")
    await weekly.tea.measure("tea", 7, 3)
    const { browser, personId } = await subscriber(weekly)
    await settingsBrowser(browser, MAIL).send("schedule", { every: "week", hour: "0", zone: "UTC" })
    const from = mondayOf(TODAY)
    const to = addDays(from, 6)
    weekly.clock.now = new Date(`${addDays(to, 1)}T09:30:00Z`)
    await createSummaries({ sql: weekly.sql, log: silentLog, now: () => weekly.clock.now }).runOnce()
    const before = weekly.mailServer.received.length
    for (let times = 0; times < 2; times++) await digests(weekly).runOnce()
    const sent = weekly.mailServer.received.slice(before)
    expect(sent).toHaveLength(1)
    const { subject, text } = await parsed(sent[0]!)
    expect([subject?.includes(from), subject?.includes(to)]).toEqual([true, true])
    // rank 3 in the week before, 12 in this week
    expect(text).toContain("Week: rose 0, fell 1,")
    const rows = await weekly.sql`select every, day::text, state from digest_mail where person_id = ${personId}`
    expect([...rows]).toEqual([{ every: "week", day: to, state: "sent" }])
    await weekly.mailServer.stop()
  })

  slow("a digest for a removed person is not sent, whenever the removal happens", async () => {
    const { personId } = await subscriber(scene)
    const other = await subscriber(scene, "viewer", "eve@example.org")
    await remove(scene, other.personId)
    let isRemoved = false
    const mailer: MailScene["mailer"] = {
      ...scene.mailer,
      async send(mail, options) {
        if (!isRemoved) await remove(scene, personId)
        isRemoved = true
        return await scene.mailer.send(mail, options)
      },
    }
    await subscriber(scene)
    const before = scene.mailServer.received.length
    await digests(scene, { mailer }).runOnce()
    expect(scene.mailServer.received.slice(before).map(({ to }) => to)).toEqual([["ada@example.org"]])
    const rows = await scene.sql`select 1 from mail_address where person_id in (${personId}, ${other.personId})`
    expect(rows).toHaveLength(0)
  })

  slow("a digest that the mail server does not respond to has an unknown outcome and is not sent again", async () => {
    const { personId } = await subscriber(scene)
    const stop = new AbortController()
    scene.mailServer.beforeAnswer = async () => stop.abort()
    const mailer: MailScene["mailer"] = {
      ...scene.mailer,
      send: (mail, options) => scene.mailer.send(mail, { ...options, signal: stop.signal }),
    }
    await digests(scene, { mailer }).runOnce()
    expect((await stateOf(personId))?.state).toBe("unknown")
    await digests(scene).runOnce()
    expect(scene.mailServer.received).toHaveLength(2)
  })

  slow("a digest whose process ended before recording the mail has an unknown outcome and is not resent", async () => {
    const { personId, browser } = await subscriber(scene)
    const mailer: MailScene["mailer"] = {
      ...scene.mailer,
      async send(mail, options) {
        await scene.mailer.send(mail, options)
        throw new Error("killed")
      },
    }
    await digests(scene, { mailer }).runOnce()
    await scene.sql`update digest_mail set lease_until = now() - interval '1 s' where person_id = ${personId}`
    await digests(scene).runOnce()
    expect(scene.mailServer.received).toHaveLength(2)
    expect((await browser.open(MAIL)).text).toContain("may have been sent")
  })

  slow("a digest that the mail server refuses temporarily is sent again", async () => {
    const { personId } = await subscriber(scene)
    scene.mailServer.refuse.set("ada@example.org", 451)
    await digests(scene).runOnce()
    expect(await stateOf(personId)).toMatchObject({ state: "writing", failure: expect.stringContaining("status 451") })
    scene.mailServer.refuse.clear()
    await scene.sql`update digest_mail set next_at = now() where person_id = ${personId}`
    await digests(scene).runOnce()
    expect(await stateOf(personId)).toEqual({ state: "sent", failure: null })
  })

  slow("a digest that is refused permanently pauses the address until a test message is accepted", async () => {
    const { personId, browser } = await subscriber(scene)
    scene.mailServer.refuse.set("ada@example.org", 550)
    await digests(scene).runOnce()
    expect(await stateOf(personId)).toMatchObject({ state: "failed" })
    expect((await browser.open(MAIL)).text).toContain("The mail server refused this address")
    scene.mailServer.refuse.clear()
    await scene.sql`delete from digest_mail`
    expect(await digests(scene).runOnce()).toBe(0)
    await settingsBrowser(browser, MAIL).send("test", {})
    expect(await digests(scene).runOnce()).toBe(1)
  })

  slow("a digest of a workspace without measurements is skipped and shows the reason", async () => {
    const idle = { ...scene, tea: await sharing(scene.service, { name: "Idle", keywords: ["never read"] }) }
    const { personId, browser } = await subscriber(idle)
    await digests(scene).runOnce()
    expect(await stateOf(personId)).toEqual({ state: "skipped", failure: "nothing was measured" })
    expect((await browser.open(MAIL)).text).toContain("nothing was measured")
  })
})

describe("the link that ends a subscription", () => {
  slow("the unsubscribe link changes nothing when opened, and ends the mails by a POST without sign-in", async () => {
    const { personId } = await subscriber(scene)
    await digests(scene).runOnce()
    const { headers } = await parsed(scene.mailServer.received.at(-1)!)
    const { unsubscribe } = headers.get("list") as unknown as { unsubscribe: { url: string } }
    const path = new URL(unsubscribe.url).pathname
    const request = (method: string) =>
      scene.service.app.fetch(
        new Request(`http://127.0.0.1:8787${path}`, {
          method,
          ...(method === "POST" && {
            body: "List-Unsubscribe=One-Click",
            headers: { "content-type": "application/x-www-form-urlencoded" },
          }),
        }),
        "192.0.2.9",
      )
    const countDigests = async () => (await scene.sql`select 1 from digest where person_id = ${personId}`).length
    const page = await request("GET")
    expect([page.status, (await page.text()).includes("Stop this mail?"), await countDigests()]).toEqual([200, true, 1])
    expect([(await request("POST")).status, await countDigests()]).toEqual([200, 0])
    expect((await request("POST")).status).toBe(200)
    const stored = await scene.sql<{ hex: string }[]>`select encode(token_sha256, 'hex') as hex from mail_unsubscribe`
    expect(stored.some(({ hex }) => hex.includes(path.slice(13, 30)))).toBe(false)
  })

  test("an unknown unsubscribe link returns a page with status 404", async () => {
    const { status } = await scene.service.app.fetch(
      new Request(`http://127.0.0.1:8787/unsubscribe/${"x".repeat(43)}`, { method: "POST" }),
      "192.0.2.9",
    )
    expect(status).toBe(404)
  })
})
