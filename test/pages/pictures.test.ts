import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { type Browser, browserOf } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

const ICON = "https://is1-ssl.mzstatic.com/image/thumb/a/512x512bb.jpg"
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

let service: Service
let tea: Sharing
let owner: Browser
const read: string[] = []

beforeAll(async () => {
  const pictureCache = {
    read: async (address: string) => {
      read.push(address)
      return address.includes("missing") ? null : { type: "image/png" as const, bytes: PNG }
    },
  }
  service = openService({ sql: await freshDatabase(), pictureCache })
  tea = await sharing(service, { name: "Tea", keywords: ["tea"] })
  await service.sql`
    insert into store_app_name (app_id, storefront, origin, name, name_at, name_weight, icon_url, icon_at, icon_weight)
    select ios_app, 'us', 'own', 'Tea', now(), 1, ${ICON}, now(), 1 from tracked_app where id = ${tea.app}
    on conflict (app_id, storefront) do update
    set icon_url = excluded.icon_url, icon_at = excluded.icon_at, icon_weight = excluded.icon_weight`
  owner = await ownerOf(service, tea.writer.workspace)
})

describe("pictures of the stores", () => {
  test("an app's icon is served from this origin in the size that the page needs", async () => {
    for (const path of ["/app", `/app/apps/${tea.app}`]) {
      const { text } = await owner.open(path)
      const [, source = ""] = /<img class="badge" src="([^"]+)"/.exec(text) ?? []
      expect([path, source.startsWith("/app/picture?of=https%3A%2F%2Fis1-ssl.mzstatic.com")]).toEqual([path, true])
      const picture = await owner.open(source.replaceAll("&amp;", "&"))
      expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"])
      expect(picture.headers.get("x-content-type-options")).toBe("nosniff")
      expect(picture.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox")
      expect(read.at(-1)).toBe("https://is1-ssl.mzstatic.com/image/thumb/a/96x288bb.jpg")
    }
  })

  test("rivals, hidden rivals and search results have names and icons", async () => {
    const rival = `/app/apps/${tea.app}/rivals`
    await service.sql`
      update tracked_app set hidden_rivals = '{ios:1200000009,ios:1200000010}' where id = ${tea.app}`
    await service.sql`
      with added as (
        insert into store_app (platform, store_id) values ('ios', '1200000009') returning id
      )
      insert into store_app_name (
        app_id, storefront, origin, name, name_at, name_weight, icon_url, icon_at, icon_weight
      )
      select id, 'de', 'own', 'Kettle <Clock>', now(), 1, ${ICON}, now(), 1 from added`
    const { text } = await owner.open(rival)
    const hidden = text.slice(text.indexOf("Hidden rivals"))
    expect(hidden).toContain("<bdi>Kettle &lt;Clock&gt;</bdi>")
    expect(hidden.split("/app/picture?of=")).toHaveLength(2)
    // an app that was never read is shown by its id
    expect(hidden).toContain("<bdi>1200000010</bdi>")
    const found = (await owner.open("/app/search?q=tea")).text
    expect(found.slice(found.indexOf("<ul")).split("/app/picture?of=")).toHaveLength(2)
  })

  test("without the picture cache a page shows no store pictures and names no other host", async () => {
    const plain = openService({ sql: service.sql })
    const { text } = await (await ownerOf(plain, tea.writer.workspace)).open("/app")
    expect([text.includes("<img"), text.includes("mzstatic")]).toEqual([false, false])
    expect((await owner.open("/app/sample")).text).not.toContain("<img")
  })

  test("an unavailable picture gets a 404, and a visitor who is not signed in gets a 401", async () => {
    expect((await owner.open("/app/picture?of=missing")).status).toBe(404)
    const count = read.length
    const stranger = await browserOf(service).open(`/app/picture?${new URLSearchParams({ of: ICON })}`)
    expect([stranger.status, stranger.text, read.length]).toEqual([401, "", count])
  })
})
