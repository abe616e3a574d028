import { createSealer } from "../../access/sealed.ts"
import { createAdsNotices } from "../../alerts/delivery/ads-rules.ts"
import { openMailPort } from "../../alerts/delivery/mail-port.ts"
import { createSummaries } from "../../alerts/delivery/weekly.ts"
import { createDelivery, type Delivery } from "../../alerts/delivery/worker.ts"
import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import { createMailer } from "../../outbound/mail/smtp.ts"
import { listeningUrl, type Settings } from "../../settings/settings.ts"
import { guardedFetch } from "./guarded-fetch.ts"

type DeliverySettings = Pick<
  Settings,
  "secretKeys" | "telegramApi" | "allowPrivateTargets" | "mail" | "publicUrl" | "host" | "port"
>

/** Creates the worker that sends alerts to the channels of rules. A stop takes at most 2 s. */
export async function openDelivery(
  { secretKeys, telegramApi, allowPrivateTargets, mail, publicUrl, host, port }: DeliverySettings,
  { sql, log }: { sql: Sql; log: Log },
): Promise<Delivery> {
  return createDelivery({
    sql,
    log,
    telegramApi,
    mail: mail && openMailPort(sql, { mailer: createMailer(mail), publicUrl: publicUrl ?? listeningUrl(host, port) }),
    sealer: await createSealer(secretKeys),
    outbound: guardedFetch(allowPrivateTargets),
  })
}

/**
 * Creates the worker that writes alerts that do not come from store readings: weekly summaries and changes in ad
 * accounts.
 */
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
