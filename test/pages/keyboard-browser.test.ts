import { describe, expect, setDefaultTimeout } from "bun:test"
import { createCode } from "../../src/access/sign-in/code.ts"
import { consoleScene, REVIEW } from "../consoles/actions/scene.ts"
import { afterSlow, beforeSlow, LONG, slow } from "../long.ts"
import { charted } from "../measuring/record/charted.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { daysAgo } from "../world/clock.ts"
import { chromiumBinary, openTab, type Tab } from "./browser.ts"

setDefaultTimeout(120_000)

const binary = chromiumBinary()

describe.skipIf(binary === null)("by keyboard only", () => {
  const scene = consoleScene()
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab

  beforeSlow(async () => {
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => scene.service.app.fetch(request, "127.0.0.1"),
    })
    tab = await openTab(binary as string)
  })
  afterSlow(async () => {
    await tab.close()
    await server.stop(true)
  })

  /** Signs in to the workspace of this test on a screen of this width. */
  async function signIn(width: number): Promise<void> {
    await scene.service.sql`update workspace set plan = 'enterprise', explorer = true where id = ${scene.workspaceId}`
    await tab.forget()
    await tab.show(width, 800)
    await tab.open(`${server.url.origin}/sign-in?code=${await createCode(scene.service.sql, scene.workspaceId)}`)
    await open("Sign in")
    await scene.service.sql`update person set is_operator = true`
  }

  /**
   * Presses Tab until the element with this name has the focus. Checks that each stop on the way is visible, and that
   * the page is not wider than the screen.
   */
  async function tabTo(name: string): Promise<void> {
    const stops: string[] = []
    for (let press = 0; press < MAX_STOPS; press++) {
      await tab.press("Tab")
      const { label, isSeen, isWide } = await tab.value<Stop>(STOP)
      if (!isSeen || isWide) throw new Error(`${await heading()}: ${label} is ${isWide ? "wide" : "unseen"}`)
      if (label.startsWith(name)) return
      stops.push(label)
    }
    throw new Error(`${await heading()}: Tab does not reach “${name}” but ${stops.join(" | ")}`)
  }

  async function open(name: string): Promise<void> {
    await tabTo(name)
    await tab.press("Enter")
  }

  async function fill(label: string, text: string): Promise<void> {
    await tabTo(label)
    await tab.type(text)
  }

  const heading = () => tab.value<string>("document.querySelector('h1').textContent")
  const text = () => tab.value<string>("document.querySelector('main').innerText")

  for (const width of LONG ? [1_280, 390] : [1_280])
    slow(`at ${width} pixels, a person finds and tracks an app and follows a storefront by keyboard`, async () => {
      const apps = [7, 8, 9].map((at) => ({ id: `${width}00${at}`, name: `Tide ${at}`, developer: "Maker" }))
      const ids = apps.map(({ id }) => id)
      await record(scene.service.sql, [charted(daysAgo(0), ids, { source: "apple-charts", apps })])
      await signIn(width)
      await open("Market")
      await open("Finder")
      await fill("Words in app or publisher", "Tide 8")
      await tab.press("Enter")
      expect(await text()).toContain("1 app")
      await open("Tide 8")
      expect(await heading()).toBe("Tide 8")
      await open("Track this app")
      await open("Preview")
      await open("Add app")
      expect(await text()).toContain("App added.")
      const tracked = await scene.service.sql`select 1 from tracked_app where workspace_id = ${scene.workspaceId}`
      expect(tracked).toHaveLength(2)

      await open("Market")
      await open("Follow daily")
      expect(await text()).toContain("United States is followed")
      await open("Undo")
      expect(await text()).toContain("United States is no longer followed")
    })

  for (const width of LONG ? [1_280, 390] : [1_280])
    slow(`at ${width} pixels, a person filters reviews and sends a reply by keyboard`, async () => {
      const storeId = "310633997"
      const reviews = Array.from({ length: 60 }, (_, at) => ({
        id: `p${at}`,
        at: new Date(Date.now() - 86_400_000 * (1 + at)),
        title: at % 10 === 9 ? "Other" : `Crash ${at}`,
      }))
      await record(scene.service.sql, [reviewed(new Date().toISOString(), reviews, { storeId })])
      await signIn(width)
      await tab.open(`${server.url.origin}/app/apps/${scene.appId}`)
      await open("Reviews")
      await fill("Find in title or text", "Crash")
      await tab.press("Enter")
      expect(await text()).toContain("54 reviews")
      await open("Next 50")
      expect(await text()).toContain("These are the last ones.")
      expect(await text()).toContain("Crash 58")
      await fill("Find in title or text", REVIEW.title)
      await tab.press("Enter")
      await open("Reply")
      expect(await text()).toContain(REVIEW.text)
      await fill("Reply, in the name", "Thank you. It is fixed.")
      await open("Preview")
      expect(await text()).toContain("Thank you. It is fixed.")
      await open("Send reply")
      expect(await text()).toContain("The reply is queued.")
    })
})

/** A page has fewer stops than this, so a keyboard trap ends the test. */
const MAX_STOPS = 250

interface Stop {
  label: string
  isSeen: boolean
  isWide: boolean
}

/** The element with the focus, by its label or text. An element that covers a card draws its outline on the card. */
const STOP = `(() => {
  const focused = document.activeElement
  const isOutlined = (part) => getComputedStyle(focused, part).outlineStyle !== "none"
  const name = focused.labels?.[0]?.textContent ?? focused.ariaLabel ?? focused.textContent
  return {
    label: name.replace(/\\s+/g, " ").trim().slice(0, 60),
    isSeen: focused === document.body || isOutlined() || isOutlined("::after"),
    isWide: document.documentElement.scrollWidth > innerWidth,
  }
})()`
