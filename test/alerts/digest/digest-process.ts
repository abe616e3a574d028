// Sends due digests in a separate process: bun digest-process.ts '{"databaseUrl": URL, "port": PORT}'.
import { createDigests } from "../../../src/alerts/digest/worker.ts"
import { askAs } from "../../../src/commands/process/digests.ts"
import { openDatabase } from "../../../src/database/connect.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createMailer } from "../../../src/outbound/mail/smtp.ts"
import { openService } from "../../service.ts"
import { AFTER, PUBLIC } from "./scene.ts"

const { databaseUrl, port } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ databaseUrl, dataDir: "", as: "server", log: silentLog, maxConnections: 3 })
const { sql } = database
const { app } = openService({ sql, now: () => AFTER })
const from = { name: "Appmeter", address: "reports@example.com" }
const digests = createDigests({
  sql,
  log: silentLog,
  mailer: createMailer({ host: "127.0.0.1", port, isSecure: false, needsTls: false, login: null, from }),
  publicUrl: PUBLIC,
  askAs: (keyId) => askAs(app.invoke, keyId),
  now: () => AFTER,
})
await digests.runOnce()
await database.close()
