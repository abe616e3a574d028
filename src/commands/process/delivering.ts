import { createSealer } from "../../access/sealed.ts"
import { createAdsNotices } from "../../alerts/delivery/ads-rules.ts"
import { createSummaries } from "../../alerts/delivery/weekly.ts"
import { createDelivery, type Delivery } from "../../alerts/delivery/worker.ts"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { Settings } from "../../settings/settings.ts"
import { guardedFetch } from "./guarded-fetch.ts"

type DeliverySettings = Pick<Settings, "secretKeys" | "telegramApi" | "allowPrivateTargets">

/** Sends alerts on the channels that rules name. Nothing is sent before `start`; a stop takes at most 2 s. */
export async function openDelivery(
  { secretKeys, telegramApi, allowPrivateTargets }: DeliverySettings,
  { sql, log }: { sql: Sql; log: Log },
): Promise<Delivery> {
  return createDelivery({
    sql,
    log,
    telegramApi,
    sealer: await createSealer(secretKeys),
    outbound: guardedFetch(allowPrivateTargets),
  })
}

/** Writes the alerts that no reading of a store makes: the week's summary, and what was changed in ad accounts. */
export function openFeedWriting({ sql, log }: { sql: Sql; log: Log }) {
  const summaries = createSummaries({ sql, log })
  const adsNotices = createAdsNotices({ sql, log })
  return {
    start() {
      summaries.start()
      adsNotices.start()
    },
    async stop() {
      await Promise.all([summaries.stop(), adsNotices.stop()])
    },
  }
}
