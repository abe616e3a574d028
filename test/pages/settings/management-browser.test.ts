import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { createCode } from "../../../src/access/sign-in/code.ts"
import { reachOf, TEA } from "../../consoles/scene.ts"
import { type StandIn, standIn } from "../../consoles/stand-in.ts"
import { freshDatabase } from "../../database.ts"
import { type House, openHouse } from "../../house.ts"
import { trackOwn } from "../../world/tracked.ts"
import { chromiumBinary, openTab, type Tab } from "../browser.ts"
import { NO_PORTS } from "./ports.ts"

setDefaultTimeout(120_000)

const binary = chromiumBinary()
const axe = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dirname), "utf8")
const SETTINGS = "/app/settings"
const PAGES = [
  "",
  "/keys",
  "/channels",
  "/rules",
  "/rules?type=rank_drop",
  "/accounts",
  "/accounts?add=app-store-connect",
  "/sharing",
  "/usage",
  "/data",
  "/health",
]
const VIEWS = [
  { width: 390, colours: "dark" },
  { width: 1_280, colours: "light" },
] as const

describe.skipIf(binary === null)("the settings in a browser", () => {
  let house: House
  let server: ReturnType<typeof Bun.serve>
  let tab: Tab
  let there: StandIn
  let at: (path: string) => string

  beforeAll(async () => {
    there = standIn()
    there.apps.push(TEA)
    const outbound = async (url: string) => ({ url, status: 200, headers: new Headers(), bytes: Buffer.from("ok") })
    const settingsPorts = { ...NO_PORTS, outbound, reach: reachOf(there.url) }
    house = openHouse({ sql: await freshDatabase(), settingsPorts })
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => house.app.fetch(request, "127.0.0.1") })
    at = (path) => `${server.url.origin}${path}`
    const workspaceId = await house.workspace()
    const tracked = { name: TEA.name, iosId: TEA.id, countries: ["us"], keywords: ["tea"], origin: "own" as const }
    await trackOwn(house.sql, { workspaceId, ...tracked })
    tab = await openTab(binary as string)
    await tab.show(390, 800)
    await tab.open(at(`/sign-in?code=${await createCode(house.sql, workspaceId)}`))
    await tab.leave("document.querySelector('main button').click()")
  })
  afterAll(async () => {
    await tab.close()
    await server.stop(true)
    there.stop()
  })

  /** Fills in the form with this name and presses its button. */
  async function send(path: string, form: string, fields: Record<string, string> = {}): Promise<void> {
    if (path !== "") await tab.open(at(path))
    await tab.leave(`(() => {
      const form = document.querySelector('input[name=do][value=${form}]').form
      const fields = ${JSON.stringify(fields)}
      for (const [name, value] of Object.entries(fields)) form.elements[name].value = value
      form.querySelector('button').click()
    })()`)
  }
  const text = () => tab.value<string>("document.querySelector('main').textContent")

  test("everything is managed on a phone without script: key, channel, rule, account and link", async () => {
    await tab.scripts(false)
    await send(`${SETTINGS}/keys`, "create", { name: "CI" })
    const secret = await tab.value<string>("document.querySelector('#secret').value")
    expect((await house.call("/v1/apps", { key: secret })).status).toBe(200)

    await send(`${SETTINGS}/channels`, "slack", { url: "https://hooks.slack.example/services/T0/B0/secretsecret" })
    await send("", "test")
    expect(await text()).toContain("The test message was delivered.")

    await send(`${SETTINGS}/rules?type=rank_drop`, "save", { dropBy: "5" })
    expect(await text()).toContain("only drops of at least 5 places")

    const { keyId, pem } = there.key("ADMIN")
    const account = { issuer: there.issuer, keyId, part: there.vendor }
    await send(`${SETTINGS}/accounts?add=app-store-connect`, "add", { ...account, privateKey: "no key" })
    expect(await tab.value("document.activeElement.name")).toBe("privateKey")
    expect(await tab.value("document.querySelector('[name=issuer]').value")).toBe(there.issuer)
    await send("", "add", { privateKey: pem })
    expect(await text()).toContain("The account is connected.")

    await send(`${SETTINGS}/sharing`, "share")
    await send("", "confirm")
    const link = await tab.value<string>("document.querySelector('#secret').value")
    const page = new URL(link).pathname
    expect((await fetch(at(page))).status).toBe(200)
    await send(`${SETTINGS}/sharing`, "withdraw")
    await send("", "withdrawn")
    expect((await fetch(at(page))).status).toBe(404)

    await send(`${SETTINGS}/keys`, "revoke")
    await send("", "revoked")
    expect((await house.call("/v1/apps", { key: secret })).body.error).toBe("key_revoked")
    await tab.scripts(true)
  })

  test("no page of the settings violates an accessibility rule or is wider than a phone", async () => {
    const found: unknown[] = []
    for (const { width, colours } of VIEWS) {
      await tab.show(width, 900, colours)
      for (const page of PAGES) {
        await tab.open(at(`${SETTINGS}${page}`))
        const isWide = (await tab.value<number>("document.documentElement.scrollWidth")) > width
        const broken = await tab.value<string[]>(`(async () => {
          if (!globalThis.axe) { ${axe} }
          const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] })
          return violations.map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 160))
        })()`)
        if (isWide || broken.length > 0) found.push([page, width, isWide, broken])
      }
    }
    expect(found).toEqual([])
    const isForeign = (url: string) => !url.startsWith(server.url.origin) && !/^(?:data:|about:|chrome)/.test(url)
    expect(tab.requests.filter(isForeign)).toEqual([])
  })
})
