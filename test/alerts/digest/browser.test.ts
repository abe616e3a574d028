import { expect, setDefaultTimeout } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { digestLetter } from "../../../src/alerts/digest/digest-letter.ts"
import type { Digest } from "../../../src/alerts/digest/read-digest.ts"
import { writeLetter } from "../../../src/ui/mail/letter.ts"
import { freshDatabase } from "../../database.ts"
import { afterLong, beforeLong, long } from "../../long.ts"
import { parsed } from "../../outbound/mail/mail-server.ts"
import { chromiumBinary, openTab, type Tab } from "../../pages/browser.ts"
import { addNews, digests, MAIL, mailScene, subscriber } from "./scene.ts"

setDefaultTimeout(120_000)

let tab: Tab
let server: ReturnType<typeof Bun.serve>

beforeLong(async () => {
  tab = await openTab(chromiumBinary()!)
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(mail.html, { headers: { "content-type": "text/html; charset=utf-8" } }),
  })
})
afterLong(async () => {
  await tab?.close()
  await server?.stop(true)
})

const axe = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dirname), "utf8")

const HOSTILE = `<img src=x onerror=alert(1)> https://evil.example \u202egnp.exe אבג ${"long".repeat(60)}`
const move = (line: string, direction: "up" | "down") => ({
  line,
  direction,
  apps: ["Tea"],
  lead: { day: "2025-11-19" },
})

const digest = {
  apps: [
    { name: "Tea Timer", up: 3, down: 1, reviews: 2 },
    { name: HOSTILE, up: null, down: null, reviews: null },
  ],
  moves: [
    move('"tea" rose from 12 to 5 in the US App Store', "up"),
    move(`"${"verylongkeyword".repeat(12)}" fell from 8 to 17 in the US App Store`, "down"),
  ],
  changes: [{ text: "Tea Timer: version: 2.0 → 2.1; since then 3 keywords rose and 1 fell", day: "2025-11-19" }],
  reviews: [
    {
      id: "1",
      rating: 1,
      title: null,
      text: HOSTILE,
      version: "2.1",
      date: "2025-11-19T08:00:00.000Z",
      seenAt: "2025-11-19T09:00:00.000Z",
      country: "us",
      platform: "ios",
      app: "Tea Timer",
    },
  ],
  money: {
    about: "Proceeds of 2025-11-19.",
    rows: [
      {
        app: "Tea Timer",
        amounts: [
          { amount: "1204.50", currency: "USD" },
          { amount: "3.20", currency: "EUR" },
        ],
      },
    ],
  },
  tasks: [],
  appsLeft: 2,
} as unknown as Digest

const mail = writeLetter(
  digestLetter(digest, {
    every: "day",
    from: "2025-11-19",
    to: "2025-11-19",
    workspace: "Acme",
    publicUrl: "https://ranks.example.com",
    unsubscribeUrl: "https://ranks.example.com/unsubscribe/x",
  }),
)

/** Stores screenshots if MAIL_PICTURES names a folder, for a visual check. */
const folder = process.env.MAIL_PICTURES

for (const width of [320, 360, 640, 800])
  for (const colours of ["light", "dark"] as const)
    long(`a digest at ${width} px in ${colours} colours is accessible, needs no scroll and loads nothing`, async () => {
      await tab.show(width, 900, colours)
      await tab.open(`http://127.0.0.1:${server.port}/`)
      expect([await overflow(), await violations()]).toEqual([0, []])
      expect(await tab.value("document.images.length + document.scripts.length")).toBe(0)
      const dark = await tab.value<string>("getComputedStyle(document.querySelector('.card')).backgroundColor")
      expect(dark).toBe(colours === "dark" ? "rgb(26, 28, 31)" : "rgb(255, 255, 255)")
      if (folder === undefined) return
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `digest-${width}-${colours}.png`), await tab.picture())
      writeFileSync(join(folder, "digest.txt"), mail.text)
    })

long("the mail settings and the page that ends a subscription are accessible in both colours and widths", async () => {
  const scene = await mailScene(await freshDatabase())
  await addNews(scene, ["Lovely."])
  const member = await subscriber(scene)
  await digests(scene).runOnce()
  const { headers } = await parsed(scene.mailServer.received.at(-1)!)
  const { unsubscribe } = headers.get("list") as unknown as { unsubscribe: { url: string } }
  const app = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => scene.service.app.fetch(request, "127.0.0.1"),
  })
  const at = (path: string) => `http://127.0.0.1:${app.port}${path}`
  await tab.open(at(`/sign-in?code=${await createCode(scene.sql, scene.tea.writer.workspace, member.name)}`))
  await tab.leave(`document.querySelector("main button").click()`)
  const pages = [MAIL, new URL(unsubscribe.url).pathname, "/unsubscribe/none"]
  for (const [width, colours] of [
    [360, "dark"],
    [1_280, "light"],
  ] as const)
    for (const page of pages) {
      await tab.show(width, 900, colours)
      await tab.open(at(page))
      if (folder !== undefined && page === MAIL)
        writeFileSync(join(folder, `settings-${width}-${colours}.png`), await tab.picture())
      expect([page, await violations(), await overflow()]).toEqual([page, [], 0])
    }
  await tab.open(at(MAIL))
  expect(await tab.value("document.body.innerText")).toContain("ada@example.org")
  await tab.open(at(pages[1]!))
  await tab.leave(`document.querySelector("main button").click()`)
  expect(await tab.value("document.body.innerText")).toContain("You get no more summaries")
  await app.stop(true)
  await scene.mailServer.stop()
})

/** Returns the pixels by which the open page is wider than the window. */
const overflow = () => tab.value<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)")

const violations = () =>
  tab.value<string[]>(`(async () => {
    if (!globalThis.axe) { ${axe} }
    const { violations } = await globalThis.axe.run(document)
    return violations.map(({ id, nodes }) => id + ": " + nodes[0].html)
  })()`)
