import { AccessProblem } from "../../access/problem.ts"
import type { Sealer } from "../../access/sealed.ts"
import type { Sql } from "../../database/types.ts"
import type { Platforms } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import type { AccountReach } from "../account-kind.ts"
import { accountKind } from "../account-kinds.ts"
import type { Ads } from "../ads/client.ts"
import type { Console } from "../console.ts"
import { openKey } from "../credentials.ts"
import type { Play } from "../play/client.ts"
import { adsWay } from "./ads-way.ts"
import { consoleWay } from "./console-way.ts"
import { playWay } from "./play-way.ts"
import { findWritableAccount, findWriteKey } from "./writers.ts"

/** Opens connections to the stored accounts, each with the account's write key. */
export function createPlatforms({ sql, sealer, reach }: { sql: Sql; sealer: Sealer; reach: AccountReach }): Platforms {
  return {
    async open(platform, app) {
      const { id: account, outsideId, currency } = await findWritableAccount(sql, platform, app, { lock: false })
      const writeKey = await findWriteKey(sql, account)
      const none = () => {
        if (platform === "app-store-connect") return new Fault("asc_unavailable")
        return new Fault("unavailable", { detail: notOpened(accountKind(platform).title) })
      }
      if (!writeKey) throw none()
      try {
        const way = await accountKind(platform).open(
          await openKey(sealer, account, writeKey.sealed),
          writeKey.part,
          reach,
        )
        if (platform === "apple-ads") return adsWay(way as Ads, { account, app: outsideId, currency })
        const place = { account, app: outsideId }
        return platform === "google-play-console" ? playWay(way as Play, place) : consoleWay(way as Console, place)
      } catch (error) {
        throw error instanceof AccessProblem ? none() : error
      }
    },
  }
}

function notOpened(title: string): string {
  return `The key of the ${title} account cannot be decrypted: SECRET_KEY changed, or the stored key is damaged.`
}
