// Delivers alerts in a separate process: bun delivery-process.ts '{"databaseUrl": URL, "options": {…}}'. `standIn` is
// the address of the stand-in for Discord and Teams, `smtpPort` the port of a mail server. Prints "ready" once it
// polls, and after SIGTERM "stopped" with exit code 0.
import { openMailPort } from "../../../src/alerts/delivery/mail-port.ts"
import { openDatabase } from "../../../src/database/connect.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createMailer } from "../../../src/outbound/mail/smtp.ts"
import { plainServer } from "../../outbound/mail/mail-server.ts"
import { deliveryOf } from "./scene.ts"
import { toStandIn } from "./services.ts"

const { databaseUrl, options, standIn, smtpPort } = JSON.parse(process.argv[2]!)
const database = await openDatabase({ databaseUrl, dataDir: "", as: "server", log: silentLog, maxConnections: 3 })
const mail =
  smtpPort === undefined
    ? null
    : openMailPort(database.sql, {
        mailer: createMailer(plainServer({ port: smtpPort })),
        publicUrl: "https://ranks.example.com",
      })
const delivery = deliveryOf(database.sql, { ...options, mail, ...(standIn && { outbound: toStandIn(standIn) }) })
delivery.start()
process.stdout.write("ready\n")
process.on("SIGTERM", async () => {
  await delivery.stop()
  await database.close()
  process.stdout.write("stopped\n")
  process.exit(0)
})
