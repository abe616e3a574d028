import { openLimits } from "../../access/limits/open.ts"
import { createApp } from "../../app.ts"
import { catalog } from "../../catalog.ts"
import { readTree } from "../../database/assets.ts"
import { assertHasBun, openDatabase } from "../../database/connect.ts"
import type { Database } from "../../database/types.ts"
import { prepareSandbox } from "../../http/sandbox.ts"
import type { Log } from "../../lib/log.ts"
import { listeningUrl, type Settings } from "../../settings/settings.ts"
import type { Invocation } from "../cli/command.ts"
import { assertMade } from "../cli/whole-database.ts"
import { bringUpToDate } from "../cli/with-database.ts"
import { checksOf } from "../process/asking.ts"
import { openPictureReading } from "../process/pictures.ts"
import { openStoreReading } from "../process/store-reading.ts"
import { openWriting } from "../process/writing.ts"
import type { Endpoint } from "./bridge.ts"

interface InProcessServer {
  endpoint: Endpoint
  close(): Promise<void>
}

/** The caller's address and the Host header for the tool endpoint. */
const HERE = "127.0.0.1"

/** The URL of the endpoint in this process. */
export const HERE_URL = `http://${HERE}/mcp`

const CONNECTIONS = 4

/**
 * Opens the tool endpoint in this process. It only requests live reads; the server or `appmeter work` with the same
 * database performs them. Throws if there is no database.
 */
export async function openInProcess({ settings, process }: Invocation, log: Log): Promise<InProcessServer> {
  assertMade(settings)
  const database = await openQuietly(settings, log)
  const { sql } = database
  const { redisUrl, upstash, host, port, redisPrefix: prefix, allowPrivateTargets: allowPrivate } = settings
  const url = settings.publicUrl ?? listeningUrl(host, port)
  const wire = redisUrl !== undefined && !upstash ? process.redisWire(redisUrl) : undefined
  const writing = openWriting(settings, { sql, log })
  const pictures = openPictureReading(settings, { sql, log })
  const app = createApp({
    sql,
    measure: openStoreReading({ settings: settings.measuring, sql, log, allowPrivate }).measure,
    write: writing.write,
    pictures: pictures.read,
    assistants: checksOf(settings),
    limits: openLimits({ upstash, wire, sql, log, prefix }),
    sandbox: prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), url),
    settings: { ...settings, publicUrl: url, databaseConnections: CONNECTIONS },
    log,
    now: () => new Date(),
    disk: database.disk,
  })
  return {
    endpoint: async (request) => await app.fetch(request, HERE),
    async close() {
      wire?.close()
      await Promise.all([writing.stop(), pictures.stop()])
      await database.close()
    },
  }
}

/**
 * Opens the database. Keeps an embedded database open only during calls, because an assistant keeps this process open
 * for days.
 */
async function openQuietly({ databaseUrl, dataDir }: Settings, log: Log): Promise<Database> {
  if (databaseUrl) {
    const database = await openDatabase({ databaseUrl, dataDir, as: "server", log, maxConnections: CONNECTIONS })
    await bringUpToDate(database, log).catch(async (error) => {
      await database.close()
      throw error
    })
    return database
  }
  assertHasBun()
  const { openVisits } = await import("../../database/embedded/visits.ts")
  return await openVisits({
    dataDir,
    log,
    arrive: (database) => bringUpToDate(database, log),
    maxConnections: CONNECTIONS,
  })
}
