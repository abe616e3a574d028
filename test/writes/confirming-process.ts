// A process of its own that runs the whole service and confirms; processes.ts starts it and says what the lines mean.
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { openDatabase } from "../../src/database/connect.ts"
import { silentLog } from "../../src/lib/log.ts"
import { openHouse, PUBLIC_URL } from "../house.ts"
import type { Asked, Death } from "./processes.ts"
import { type Steps, stepped } from "./stepped.ts"
import { said, tally } from "./writer.ts"

const { databaseUrl, dataDir = "" } = JSON.parse(process.argv[2]!)
const { sql } = await openDatabase({ databaseUrl, dataDir, as: "server", log: silentLog })
await sql`select 1`
say("ready")
for await (const line of createInterface({ input: process.stdin })) say(await answer(JSON.parse(line)))
process.exit(0)

async function answer({ key, token, calls = 1, death }: Asked) {
  const house = openHouse({ sql: death ? stepped(sql, dying(death)) : sql, settings: { requestDeadlineMs: 20_000 } })
  const body = { confirmToken: token }
  const confirm = () => house.call("/v1/actions/confirm", { key, method: "POST", body })
  // the key is known, so that what follows is the confirm alone; the answer is held to the document by other tests
  const headers = { authorization: `Bearer ${key}` }
  const known = await house.app.fetch(new Request(`${PUBLIC_URL}/v1/account`, { headers }), "127.0.0.1")
  if (known.status !== 200) throw new Error(await known.text())
  if (death && "afterMs" in death) setTimeout(() => die(`${death.afterMs} ms`), death.afterMs)
  const answers = await Promise.all(Array.from({ length: calls }, confirm))
  return tally(answers.map((answer) => `${said(answer)}${answer.body.detail ? " used" : ""}`))
}

function dying(death: Death): Steps {
  return {
    statement: (n, text) => {
      if ("before" in death && n === death.before) die(text)
    },
    commit: async () => {
      if ("commit" in death && death.commit === "to be sent") die("commit to be sent")
      // the driver writes on the next turn of the loop; each further one gives the database more time
      if ("commit" in death && death.commit === "sent") afterTurns(2 + (death.turns ?? 0), () => die("commit sent"))
    },
    committed: async () => {
      if ("commit" in death && death.commit === "done") die("commit done")
      // a fast database answers before the death that is on its way: nobody is to hear of it
      if ("commit" in death && death.commit === "sent") await new Promise(() => {})
    },
  }
}

function afterTurns(turns: number, then: () => void): void {
  if (turns === 0) then()
  else setImmediate(() => afterTurns(turns - 1, then))
}

function die(where: string): void {
  say({ died: where })
  process.kill(process.pid, "SIGKILL")
}

// written at once: what is said right before the end must be read
function say(what: unknown): void {
  writeSync(1, `${JSON.stringify(what)}\n`)
}
