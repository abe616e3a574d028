import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { countSealed, reseal, SEALED } from "../../src/access/reseal.ts"
import { createSealer, SecretKeys } from "../../src/access/sealed.ts"
import { addChannel, readSealedChannel, rotateSecret } from "../../src/alerts/delivery/channels.ts"
import { openChannel } from "../../src/alerts/delivery/sealed-channel.ts"
import type { Sql } from "../../src/database/types.ts"
import { createScene } from "../alerts/delivery/scene.ts"
import { freshDatabase } from "../database.ts"

setDefaultTimeout(60_000)

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const key = () => randomBytes(32).toString("base64")
const sealerOf = (...keys: string[]) => createSealer(new SecretKeys(keys))

test("every database column with encrypted texts is in the list of columns to encrypt again", async () => {
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name::text as table, column_name::text as column
    from information_schema.columns
    where table_schema = current_schema() and column_name ~ '(^|_)sealed(_|$)'
    order by 1, 2
    limit 100`
  expect([...columns]).toEqual(
    SEALED.flatMap(({ table, columns }) => columns.map((column) => ({ table, column }))).sort(),
  )
})

test("after encrypting again, the newest key alone decrypts every secret, including rotated ones", async () => {
  const { workspaceId } = await createScene(sql)
  const [before, after, unknown] = [key(), key(), key()]
  const register = { sql, sealer: await sealerOf(before), randomBytes }
  const { channel, secret } = await addChannel(register, workspaceId, "webhook", {
    url: "https://hooks.example.com/in/hushhush",
  })
  const rotated = await rotateSecret(register, workspaceId, channel.id)
  const slack = await addChannel(register, workspaceId, "slack", { url: "https://slack.example.com/services/hush" })
  const foreign = await addChannel({ ...register, sealer: await sealerOf(unknown) }, workspaceId, "slack", {
    url: "https://slack.example.com/x",
  })

  const both = await sealerOf(after, before)
  expect(await countSealed(sql, both)).toEqual({ newest: 0, earlier: 3, unreadable: 1 })
  expect(await reseal(sql, both)).toEqual({ newest: 3, earlier: 0, unreadable: 1, resealed: 3 })
  expect(await reseal(sql, both)).toEqual({ newest: 3, earlier: 0, unreadable: 1, resealed: 0 })

  const newest = await sealerOf(after)
  const openStored = async (id: string) => await openChannel(newest, await readSealedChannel(sql, workspaceId, id))
  expect(await openStored(channel.id)).toMatchObject({
    secret: { url: "https://hooks.example.com/in/hushhush", secret: rotated.secret, earlier: secret },
  })
  expect(await openStored(slack.channel.id)).toMatchObject({
    secret: { url: "https://slack.example.com/services/hush" },
  })
  // A text that cannot be decrypted is kept. The key that encrypted it still decrypts it.
  const old = await openChannel(await sealerOf(unknown), await readSealedChannel(sql, workspaceId, foreign.channel.id))
  expect(old).toMatchObject({ secret: { url: "https://slack.example.com/x" } })
})

test("a secret that is replaced while secrets are encrypted again keeps its new value", async () => {
  const { workspaceId } = await createScene(sql, "Coffee Timer")
  const [before, after] = [key(), key()]
  const register = { sql, sealer: await sealerOf(before), randomBytes }
  const { channel } = await addChannel(register, workspaceId, "webhook", {
    url: "https://hooks.example.com/in/hushhush",
  })
  const both = await sealerOf(after, before)
  const rotating = { sql, sealer: both, randomBytes }
  let rotated: { secret: string } | undefined
  const meddling = {
    ...both,
    async seal(...args: Parameters<typeof both.seal>) {
      rotated ??= await rotateSecret(rotating, workspaceId, channel.id)
      return await both.seal(...args)
    },
  }
  await reseal(sql, meddling)
  const opened = await openChannel(await sealerOf(after), await readSealedChannel(sql, workspaceId, channel.id))
  expect(opened).toMatchObject({ secret: { secret: rotated!.secret, earlier: expect.any(String) } })
})
