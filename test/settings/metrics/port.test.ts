import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { randomBytes } from "node:crypto"
import { answer, appmeter, dataFolder, removeFolders, serving } from "../../commands/child.ts"
import { LONG, long } from "../../long.ts"
import { complaints, parsed } from "./lint.ts"

setDefaultTimeout(60_000)
afterAll(removeFolders)

const SECRET_KEY = randomBytes(32).toString("base64")
const METRICS_TOKEN = randomBytes(16).toString("hex")

long(
  "a server has metrics on a separate port, requires the token, and logs neither the token nor the secret key",
  async () => {
    const env = { ...(await dataFolder()), METRICS_PORT: "0", METRICS_TOKEN, SECRET_KEY, LOG_LEVEL: "debug" }
    const server = await serving({ env })
    const lines = server
      .err()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    const { url } = lines.find(({ event }) => event === "metrics_listening")
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const [ownPort, main] = await Promise.all([fetch(url, { headers }), fetch(`${server.url}/metrics`, { headers })])
    for (const response of [ownPort, main]) {
      const metrics = parsed(await response.text())
      expect(complaints(metrics)).toEqual([])
      const { version } = await Bun.file(`${import.meta.dirname}/../../../package.json`).json()
      expect(metrics.get("appmeter_build_info")!.samples[0]!.labels).toEqual({ version })
      expect(metrics.get("appmeter_database_size_bytes")!.samples[0]!.value).toBeGreaterThan(1e6)
    }
    expect((await fetch(url)).status).toBe(401)
    if (LONG) {
      const refused = await appmeter(["serve"], {
        env: { ...(await dataFolder()), PORT: "0", METRICS_PORT: new URL(url).port },
      })
      expect([refused.code, refused.err.trim().split("\n").at(-1)]).toEqual([
        1,
        expect.stringContaining("the port is in use; choose another, for example METRICS_PORT="),
      ])
    }
    await answer(["workspace", "list"], { env })
    server.kill()
    expect(await server.exited).toBe(0)
    const output = server.out() + server.err()
    for (const never of [METRICS_TOKEN, SECRET_KEY, Buffer.from(SECRET_KEY, "base64").toString("hex")])
      expect(output).not.toContain(never)
  },
)

long("without port and token, no server has the metrics path", async () => {
  const server = await serving({ env: await dataFolder() })
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  expect(server.err()).not.toContain("metrics")
  server.kill()
  expect(await server.exited).toBe(0)
})
