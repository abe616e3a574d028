import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { scratchDatabase } from "../database/server.ts"
import { afterSlow, beforeSlow, isQuick, long, slow } from "../long.ts"
import { answer, appmeter, type Serving, scratch, serving } from "./child.ts"
import {
  ASKED_BY,
  appIn,
  CLIENTS,
  client,
  clientsAt,
  type Env,
  exercise,
  fillFolder,
  leave,
  remoteEnv,
  service,
  write,
} from "./mcp-clients.ts"

setDefaultTimeout(60_000)
afterSlow(leave)

describe("a data folder without a server", () => {
  let env: Env

  beforeSlow(async () => {
    env = await service()
  })

  slow.each(clientsAt(0))("the client %s works with a folder without a server", async (_, connect) => {
    const connected = await connect([], env)
    await exercise(connected)
    await connected.close()
  })

  long("a write to a folder without a server happens only after the client's user agrees", async () => {
    const [, connect] = ASKED_BY[0]!
    const { id } = await appIn(env.DATA_DIR!)
    const connected = await connect([], env, () => "accept")
    expect((await write(connected, id, "kettle")).structuredContent).toMatchObject({ status: "applied" })
    await connected.close()
    expect(await appIn(env.DATA_DIR!)).toMatchObject({ keywords: 2 })
  })
})

describe("a server", () => {
  let env: Env
  let server: Serving

  beforeSlow(async () => {
    env = await service()
    server = await serving({ env: { DATA_DIR: env.DATA_DIR! } })
  })
  afterSlow(async () => {
    server.kill()
    expect(await server.exited).toBe(0)
  })

  slow.each(clientsAt(1))("the client %s works with the folder of a running server", async (_, connect) => {
    const connected = await connect([], env)
    await exercise(connected)
    await connected.close()
  })

  slow.each(clientsAt(2))("the client %s works with a server at its URL", async (_, connect) => {
    const connected = await connect(["--url", server.url], remoteEnv(env))
    await exercise(connected)
    await connected.close()
  })

  slow.each(ASKED_BY)("a server writes only what the client's user agrees to: %s", async (_, connect) => {
    let pressed: "accept" | "decline" = "accept"
    const verdicts: string[] = []
    const connected = await connect(["--url", server.url], remoteEnv(env), () => {
      verdicts.push(pressed)
      return pressed
    })
    const { id, keywords } = await appIn(env.DATA_DIR!)
    expect((await write(connected, id, `teapot ${keywords}`)).structuredContent).toMatchObject({ status: "applied" })
    pressed = "decline"
    expect((await write(connected, id, "samovar")).isError).toBe(true)
    await connected.close()
    expect(verdicts).toEqual(["accept", "decline"])
    expect(await appIn(env.DATA_DIR!)).toMatchObject({ keywords: keywords + 1 })
  })
})

const postgres = test.skipIf(isQuick || !process.env.DATABASE_URL)

describe("a server database", () => {
  postgres(
    "postgres: mcp works with a server database, with or without a running server, and creates no folder",
    async () => {
      await using database = await scratchDatabase("mcp")
      const place = { DATABASE_URL: database.url, DATA_DIR: join(scratch(), "none") }
      const unmade = await appmeter(["mcp"], { env: { ...place, APPMETER_KEY: "k" }, stdin: "" })
      expect([unmade.code, unmade.err]).toEqual([1, expect.stringContaining("run: appmeter migrate")])
      await answer(["migrate"], { env: place })
      const env = { ...place, ...(await fillFolder(place)) }
      for (const [, connect] of CLIENTS) {
        const connected = await connect([], env)
        await exercise(connected)
        await connected.close()
      }
      const server = await serving({ env: place })
      const secondClient = await client("auto")([], env)
      await exercise(secondClient)
      await secondClient.close()
      server.kill()
      expect([await server.exited, existsSync(place.DATA_DIR)]).toEqual([0, false])
    },
  )
})
