import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { json } from "../../src/database/json.ts"
import { slow } from "../long.ts"
import { appmeter, dataFolder, openFolder, removeFolders } from "./child.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

slow("app add shows where keywords are being read, and why keywords are not read elsewhere", async () => {
  const { DATA_DIR } = await dataFolder()
  const { sql, close } = await openFolder({ DATA_DIR })
  const add = async (id: string, ...options: string[]) =>
    (await appmeter(["app", "add", "--ios", id, "--android", `com.example.a${id}`, ...options], { env: { DATA_DIR } }))
      .err
  await appmeter(["workspace", "create", "own"], { env: { DATA_DIR } })
  expect(await add("1000000001", "--keyword", "tea")).toContain(
    "its keywords are not read in us on ios, us on android: no worker process is running",
  )
  expect(await add("1000000002")).not.toContain("keywords are")
  const reads = [{ kind: "search", platform: "ios", upstream: "apps.apple.com", storefronts: null }]
  await sql`insert into reader (process, egress, reads) values (gen_random_uuid(), 'here', ${json(sql, reads)})`
  const output = await add("1000000003", "--keyword", "tea", "--country", "us", "--country", "de")
  expect(output).toContain("its keywords are being read in us on ios, de on ios")
  expect(output).toContain("not read in us on android, de on android: its sources are disabled")
  await close()
})
