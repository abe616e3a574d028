import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Browser, fieldIn } from "../../access/sign-in/browser.ts"
import { freshDatabase } from "../../database.ts"
import { openService, PUBLIC_URL, type Service } from "../../service.ts"
import { type Sharing, sharing } from "../../sharing/share-scene.ts"
import { ownerOf } from "../app-scene.ts"
import { settingsBrowser } from "./settings-browser.ts"

setDefaultTimeout(60_000)

const SHARING = "/app/settings/sharing"

let service: Service
let tea: Sharing
let owner: Browser
let settings: ReturnType<typeof settingsBrowser>

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  tea = await sharing(service, { name: "Tea <Timer>", keywords: ["tea"] })
  owner = await ownerOf(service, tea.writer.workspace)
  settings = settingsBrowser(owner, SHARING)
})

/** Creates a link through preview and confirm. Returns its path. */
async function linkOf(form: string, fields: Record<string, string>): Promise<string> {
  const preview = await settings.send(form, { appId: tea.app, country: "us", ...fields })
  const confirmToken = fieldIn(preview, "confirmToken") as string
  const created = await settings.send("confirm", { confirmToken })
  const [, url = ""] = /value="(http[^"]+)"/.exec(created.text) ?? []
  return url.slice(PUBLIC_URL.length)
}

const handles = async () =>
  [...(await owner.open(SHARING)).text.matchAll(/class="hash">((?:share|export)_\w+)/g)].map(([, id]) => id!)

describe("sharing in the settings", () => {
  test("a shared page and an export are listed after creation, and their addresses are shown only once", async () => {
    const page = await linkOf("share", { days: "3", password: "" })
    const file = await linkOf("export", { dataset: "keywords", platform: "ios", format: "csv", from: "", to: "" })
    expect([(await owner.open(page)).status, (await owner.open(file)).status]).toEqual([200, 200])
    expect(await handles()).toHaveLength(2)
    const { text } = await owner.open(SHARING)
    expect([text.includes(page), text.includes(file), text.includes("Tea &lt;Timer&gt;")]).toEqual([false, false, true])
  })

  test("an invalid form is shown again with the values that were sent", async () => {
    const page = await settings.send("share", { appId: tea.app, country: "us", days: "99", password: "hidden word" })
    expect([page.status, page.text.includes('value="99"')]).toEqual([400, true])
    expect(page.text).not.toContain("hidden word")
  })

  test("withdrawing a link asks for confirmation and then closes the link immediately", async () => {
    const before = await handles()
    const page = await linkOf("share", { days: "1", password: "" })
    const id = (await handles()).find((handle) => !before.includes(handle))!
    expect((await settings.send("withdraw", { id })).text).toContain("Withdraw this link?")
    expect((await owner.open(page)).status).toBe(200)
    expect((await settings.send("withdrawn", { id })).headers.get("location")).toBe(`${SHARING}?done=withdrawn`)
    expect((await owner.open(page)).status).toBe(404)
    const repeated = await settings.send("withdrawn", { id })
    expect([repeated.status, repeated.text.includes("not open any more")]).toEqual([400, true])
  })
})
