// One of several processes that clean up at once, or one that kills itself in between. Reads its task as JSON from the
// arguments.

import { openDatabase } from "../../../src/database/connect.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { removeOld } from "../../../src/measuring/retention/remove-old.ts"
import { RETENTION } from "../../../src/recording.ts"

const { databaseUrl, dataDir = "", kept: retention, killAfter } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ databaseUrl, dataDir, as: "command", log: silentLog })
let begun = 0
const counted = new Proxy(database.sql, {
  get(target, name) {
    if (name !== "begin") return Reflect.get(target, name)
    return async (work: Parameters<Sql["begin"]>[1]) => {
      if (killAfter > 0 && ++begun > killAfter) process.kill(process.pid, "SIGKILL")
      return await target.begin(work)
    }
  },
})
await removeOld(counted, RETENTION, retention, { chunk: 40, pauseMs: 1 })
await database.close()
