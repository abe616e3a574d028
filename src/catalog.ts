import { actions } from "./actions/list.ts"
import type { Operation } from "./operation.ts"
import { getUsage, whoami } from "./operations/account.ts"
import { getApp, listApps } from "./operations/apps.ts"
import { fetchRecord } from "./operations/fetch.ts"
import { getRankHistory } from "./operations/history.ts"
import { getJob } from "./operations/jobs.ts"
import { listKeywordRanks } from "./operations/keywords.ts"
import { listRivals } from "./operations/rivals.ts"
import { search } from "./operations/search.ts"
import { writeOperations } from "./operations/writes.ts"

/** Everything that can be called, in the order of the specification. */
export const catalog: readonly Operation[] = [
  whoami,
  getUsage,
  search,
  fetchRecord,
  listApps,
  getApp,
  listKeywordRanks,
  listRivals,
  getRankHistory,
  getJob,
  ...writeOperations(actions),
]

export { actions }
