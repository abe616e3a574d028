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
import { adsWay } from "./ads-way.ts"
import { consoleWay } from "./console-way.ts"
import { findWritableAccount, findWriteKey } from "./writers.ts"

/** Opens connections to the stored accounts, each with its write key. */
export function createPlatforms({ sql, sealer, reach }: { sql: Sql; sealer: Sealer; reach: AccountReach }): Platforms {
  return {
    async open(platform, app) {
      const { id: account, outsideId, currency } = await findWritableAccount(sql, platform, app, { lock: false })
      const writeKey = await findWriteKey(sql, account)
      const none = () =>
        platform === "apple-ads" ? new Fault("unavailable", { detail: NOT_OPENED }) : new Fault("asc_unavailable")
      if (!writeKey) throw none()
      try {
        const way = await accountKind(platform).open(
          await openKey(sealer, account, writeKey.sealed),
          writeKey.part,
          reach,
        )
        return platform === "apple-ads"
          ? adsWay(way as Ads, { account, app: outsideId, currency })
          : consoleWay(way as Console, { account, app: outsideId })
      } catch (error) {
        throw error instanceof AccessProblem ? none() : error
      }
    },
  }
}

const NOT_OPENED =
  "The key of the Apple Ads account cannot be opened here: SECRET_KEY is another, or the key was damaged."
