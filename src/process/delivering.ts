import { createSealer } from "../access/sealed.ts"
import type { Sql } from "../database/types.ts"
import { createAdsNotices } from "../delivery/ads-rules.ts"
import { createSummaries } from "../delivery/weekly.ts"
import { createDelivery } from "../delivery/worker.ts"
import type { Log } from "../log.ts"
import type { Settings } from "../settings/settings.ts"
import { guardedFetch } from "./guarded-fetch.ts"

type DeliverySettings = Pick<Settings, "secretKeys" | "telegramApi" | "allowPrivateTargets">

interface DeliveryProcess {
  start(): void
  /** Within 2 s what is under way has ended or is given back. */
  stop(): Promise<void>
}

/** Wires the settings into what tells alerts, sums up weeks and looks for what was changed in ad accounts. Nothing is sent before `start`. */
export async function openDelivery(
  settings: DeliverySettings,
  { sql, log }: { sql: Sql; log: Log },
): Promise<DeliveryProcess> {
  const { secretKeys, telegramApi } = settings
  const summaries = createSummaries({ sql, log })
  const adsNotices = createAdsNotices({ sql, log })
  const delivery = createDelivery({
    ...{ sql, log, telegramApi },
    sealer: await createSealer(secretKeys),
    outbound: guardedFetch(settings.allowPrivateTargets),
  })
  return {
    start() {
      delivery.start()
      summaries.start()
      adsNotices.start()
    },
    async stop() {
      await Promise.all([delivery.stop(), summaries.stop(), adsNotices.stop()])
    },
  }
}
