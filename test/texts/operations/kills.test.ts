import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { scratchUrl } from "../../database.ts"
import { cases, longOnServer } from "../../long.ts"
import { well } from "../stand-in.ts"
import { MODEL_ANSWERS, openScene } from "./adversary-scene.ts"

setDefaultTimeout(180_000)

const kills = cases(1, 8)
const close: (() => unknown)[] = []
afterAll(() => close.map((closeOne) => closeOne()))

// the embedded database has only one process
longOnServer(
  "postgres: a process that is killed at any time charges for no missing answer and loses no finished text",
  async () => {
    const scene = await openScene()
    close.push(() => scene.standIn.close())
    const { sql, standIn, appId } = scene
    standIn.script.push({ ...(well(MODEL_ANSWERS.draft_review_reply!.good) as object), afterMs: 20 } as never)
    for (let n = 0; n < kills; n++) {
      await scene.forget()
      const { credits } = await scene.books()
      const path = `/v1/apps/${appId}/reviews/reply-draft?reviewId=1`
      const task = JSON.stringify({ databaseUrl: scratchUrl(sql), provider: standIn.url, path, key: scene.key })
      const child = Bun.spawn([process.execPath, join(import.meta.dirname, "caller-process.ts"), task], {
        stdout: "pipe",
      })
      const reader = child.stdout.getReader()
      let output = ""
      while (output.split("200\n").length < 4) output += new TextDecoder().decode((await reader.read()).value)
      await Bun.sleep((n * 37) % 60)
      child.kill("SIGKILL")
      for (let part = await reader.read(); !part.done; part = await reader.read())
        output += new TextDecoder().decode(part.value)
      await child.exited
      const answered = output.split("200\n").length - 1
      // expires the lease and the calls of the killed process
      await sql`update writer_text set lease_until = now() where lease is not null`
      await sql`update allowance_unit set opened_at = now() - interval '11 minutes'`
      const used = (await scene.usage("reviewAi")).used
      const finished = (await scene.books()).texts - 1
      // the process may have stored the last answer without reporting it
      expect([0, 1]).toContain(used - answered)
      expect([0, 1]).toContain(finished - answered)
      expect([0, 1]).toContain((await scene.books()).credits - credits - answered)
      standIn.requests.splice(0)
      for (let round = 0; round < finished; round++)
        expect((await scene.get(`reviews/reply-draft?reviewId=1&note=n${round}`)).status).toBe(200)
      expect([standIn.requests.length, (await scene.usage("reviewAi")).used]).toEqual([0, finished])
    }
  },
)
