import { expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { freshDatabase, scratchUrl } from "../../database.ts"
import { longOnServer } from "../../long.ts"
import { startMailServer } from "../../outbound/mail/mail-server.ts"
import { addNews, digests, type MailScene, mailScene, subscriber } from "./scene.ts"

setDefaultTimeout(180_000)

/** Starts digest-process.ts on the scene's database. */
function startProcess({ sql }: MailScene, port: number): Bun.Subprocess {
  const task = JSON.stringify({ databaseUrl: scratchUrl(sql), port })
  return Bun.spawn([process.execPath, join(import.meta.dirname, "digest-process.ts"), task], { stderr: "inherit" })
}

const expire = ({ sql }: MailScene) => sql`update digest_mail set lease_until = now() - interval '1 s'`
const states = async ({ sql }: MailScene) => (await sql`select state from digest_mail`).map(({ state }) => state)

longOnServer(
  "postgres: a digest is sent once, with an unknown outcome, if its process is killed during the sending",
  async () => {
    const scene = await mailScene(await freshDatabase())
    await addNews(scene)
    await subscriber(scene)
    scene.mailServer.received.length = 0
    let child: Bun.Subprocess | null = null
    scene.mailServer.beforeAnswer = async () => {
      child?.kill("SIGKILL")
      await child?.exited
    }
    child = startProcess(scene, scene.mailServer.port)
    await child.exited
    expect(await states(scene)).toEqual(["sending"])
    await digests(scene).runOnce()
    await expire(scene)
    await digests(scene).runOnce()
    expect([scene.mailServer.received.length, await states(scene)]).toEqual([1, ["unknown"]])
    await scene.mailServer.stop()
  },
)

longOnServer("postgres: a digest is sent by the next process if a process is killed before sending it", async () => {
  const scene = await mailScene(await freshDatabase())
  await addNews(scene)
  await subscriber(scene)
  scene.mailServer.received.length = 0
  let child: Bun.Subprocess | null = null
  const deadly = await startMailServer({
    onRcptTo(_, __, done) {
      child?.kill("SIGKILL")
      done()
    },
  })
  child = startProcess(scene, deadly.port)
  await child.exited
  expect(await states(scene)).toEqual(["writing"])
  await digests(scene).runOnce()
  expect(scene.mailServer.received).toEqual([])
  await expire(scene)
  await digests(scene).runOnce()
  expect([scene.mailServer.received.length, deadly.received.length, await states(scene)]).toEqual([1, 0, ["sent"]])
  await deadly.stop()
  await scene.mailServer.stop()
})
