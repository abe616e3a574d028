import { actions } from "../../catalog.ts"
import { outsideWrites } from "../../core/action.ts"
import type { Sql } from "../../database/types.ts"
import { createOutbox } from "../../jobs/outbox.ts"
import type { Platforms } from "../../lib/accounts/platform.ts"
import type { Log } from "../../lib/log.ts"
import { createEstimates } from "../../market/estimates/estimates.ts"
import { createCleaning } from "../../measuring/retention/remove-old.ts"
import { RETENTION } from "../../recording.ts"
import type { Settings } from "../../settings/settings.ts"
import type { PictureReader } from "../../texts/pictures/read-pictures.ts"
import type { TextWriter } from "../../texts/port/write.ts"
import { openAccountReading, openPlatforms } from "./account-reading.ts"
import { openAsking } from "./asking.ts"
import { openDelivery, openFeedWriting } from "./delivering.ts"
import { createNightlyBackup } from "./nightly-backup.ts"
import { openPictureReading } from "./pictures.ts"
import { openStoreReading, type StoreReading } from "./store-reading.ts"
import { openWriting } from "./writing.ts"

export interface Workers {
  reading: StoreReading
  writing: TextWriter
  pictures: PictureReader
  platforms: Platforms
  start(): void
  stop(): Promise<void>
}

/**
 * Creates the workers. With MEASURE=no, no store is read. With DELIVER=no, no alerts are sent but the feed is still
 * written. A reader process only reads stores and sends alerts.
 */
export async function openWorkers(
  settings: Settings,
  { sql, log, as }: { sql: Sql; log: Log; as: "server" | "reader" },
): Promise<Workers> {
  const { measuring, allowPrivateTargets: allowPrivate, deliver, kept: retentionDays } = settings
  const reading = openStoreReading({ settings: measuring, sql, log, allowPrivate })
  const writing = openWriting(settings, { sql, log })
  const pictures = openPictureReading(settings, { sql, log })
  const platforms = await openPlatforms(settings, sql)
  const workers = [
    { work: reading, isOn: as === "reader" || measuring.on },
    { work: await openDelivery(settings, { sql, log }), isOn: deliver },
    { work: openFeedWriting({ sql, log }), isOn: true },
    { work: await openAccountReading(settings, { sql, log }), isOn: as === "reader" || measuring.on },
    { work: openAsking(settings, { sql, log }), isOn: settings.assistants.engines.length > 0 },
    { work: createOutbox({ sql, kinds: outsideWrites(actions), log, platforms }), isOn: as === "server" },
    { work: createCleaning({ sql, retention: RETENTION, retentionDays, log }), isOn: as === "server" },
    { work: createEstimates({ sql, log }), isOn: as === "server" },
    { work: createNightlyBackup({ settings, log }), isOn: as === "server" && settings.backupDir !== undefined },
  ]
  return {
    reading,
    writing,
    pictures,
    platforms,
    start() {
      for (const { work, isOn } of workers) if (isOn) work.start()
    },
    async stop() {
      await Promise.all([writing.stop(), pictures.stop(), ...workers.map(({ work }) => work.stop())])
    },
  }
}
