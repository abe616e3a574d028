// bun test/picture.ts — takes .github/app.png, the picture of the README: a page of the sample, in a browser.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freshDatabase } from "./database.ts"
import { chromiumBinary, openTab } from "./pages/browser.ts"
import { openService } from "./service.ts"

const binary = chromiumBinary()
if (!binary) throw new Error("there is no Chromium on this machine")
const service = openService({ sql: await freshDatabase() })
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => service.app.fetch(request, "127.0.0.1"),
})
const tab = await openTab(binary)
await tab.show(1_100, 900)
await tab.open(`${server.url.origin}/app/sample/apps/app_lumenjournal`)
writeFileSync(join(import.meta.dirname, "..", ".github", "app.png"), await tab.picture())
await tab.close()
await server.stop(true)
process.exit(0)
