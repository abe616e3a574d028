// A process that runs the whole service and confirms. processes.ts starts it and explains its output.
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { openService, PUBLIC_URL } from "../service.ts"
import type { ConfirmRequest, Death } from "./processes.ts"
import { type Steps, stepped } from "./stepped.ts"
import { outcomeOf, tally } from "./writer.ts"

const { databaseUrl, dataDir = "" } = JSON.parse(process.argv[2]!)
const { sql } = await openDatabase({ databaseUrl, dataDir, as: "server", log: silentLog })
await sql`select 1`
say("ready")
for await (const line of createInterface({ input: process.stdin })) say(await answer(JSON.parse(line)))
process.exit(0)

async function answer({ key, token, calls = 1, death }: ConfirmRequest) {
  const service = openService({
    sql: death ? stepped(sql, dying(death)) : sql,
    settings: { requestDeadlineMs: 20_000 },
  })
  const body = { confirmToken: token }
  const confirm = () => service.call("/v1/actions/confirm", { key, method: "POST", body })
  // fills the cache of keys first, so that the measured time is the confirm's only; other tests check the answer
  // against the document
  const headers = { authorization: `Bearer ${key}` }
  const account = await service.app.fetch(new Request(`${PUBLIC_URL}/v1/account`, { headers }), "127.0.0.1")
  if (account.status !== 200) throw new Error(await account.text())
  if (death && "afterMs" in death) setTimeout(() => die(`${death.afterMs} ms`), death.afterMs)
  const answers = await Promise.all(Array.from({ length: calls }, confirm))
  return tally(answers.map((answer) => `${outcomeOf(answer)}${answer.body.detail ? " used" : ""}`))
}

function dying(death: Death): Steps {
  return {
    statement: (n, text) => {
      if ("before" in death && n === death.before) die(text)
    },
    commit: async () => {
      if ("commit" in death && death.commit === "to be sent") die("commit to be sent")
      // the driver sends the commit on the next turn of the event loop; each further turn gives the database more time
      if ("commit" in death && death.commit === "sent") afterTurns(2 + (death.turns ?? 0), () => die("commit sent"))
    },
    committed: async () => {
      if ("commit" in death && death.commit === "done") die("commit done")
      // the commit may end before the process dies; the caller must not get an answer then
      if ("commit" in death && death.commit === "sent") await new Promise(() => {})
    },
  }
}

function afterTurns(turns: number, action: () => void): void {
  if (turns === 0) action()
  else setImmediate(() => afterTurns(turns - 1, action))
}

function die(point: string): void {
  say({ died: point })
  process.kill(process.pid, "SIGKILL")
}

// Writes synchronously, because output right before the process dies must not be lost.
function say(what: unknown): void {
  writeSync(1, `${JSON.stringify(what)}\n`)
}
