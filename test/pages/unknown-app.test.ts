import { expect, test } from "bun:test"
import { ownerBrowser } from "../access/oauth/scene.ts"
import { freshDatabase } from "../database.ts"
import { openService } from "../service.ts"
import { newStoreId, trackOwn } from "../world/app.ts"

test("the page of an unknown app links to the list of apps and shows no ids of other apps", async () => {
  const sql = await freshDatabase()
  const service = openService({ sql })
  const workspaceId = await service.workspace({ plan: "pro" })
  const appId = await trackOwn(sql, { workspaceId, iosId: newStoreId() })
  const browser = await ownerBrowser(service, workspaceId)
  const { status, text } = await browser.open("/app/apps/app_unknown")
  expect(status).toBe(404)
  expect(text).toContain("Your apps")
  expect(text).not.toContain(`App ids of this key`)
  expect(text).not.toContain(`${appId} (`)
})
