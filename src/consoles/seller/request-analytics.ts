import { AccessProblem } from "../../access/problem.ts"
import { CONSOLE_HOST } from "../../lib/upstreams.ts"
import { ConsoleProblem, openConsole } from "../console.ts"
import { type ConsoleKey, openKey } from "../credentials.ts"
import { findSealed, type Register } from "../register.ts"
import { analyticsRequestsPath } from "../sources/request.ts"
import { askTask } from "../tasks.ts"
import { readPages } from "./documents.ts"

interface AnalyticsWish {
  id: string
  /** The App Store's id of the app. */
  app: string
  /**
   * Another key of the same issuer, which is used only for this request and not stored. Omit it to use the account's
   * own key.
   */
  once?: Pick<ConsoleKey, "keyId" | "privateKey">
}

/**
 * Asks the console to make daily reports of an app from now on. This needs an Admin key, and is done only when a person
 * requests it. Returns false if the reports are made already. Throws AccessProblem or ConsoleProblem.
 */
export async function createAnalyticsRequest(
  { sql, sealer, reach }: Register,
  workspaceId: number,
  { id, app, once }: AnalyticsWish,
): Promise<boolean> {
  const { kind, sealed } = await findSealed(sql, workspaceId, id)
  if (kind !== "app-store-connect") throw new AccessProblem("only App Store Connect makes such reports")
  const accountKey = await openKey(sealer, id, sealed)
  const console = await openConsole({ ...accountKey, ...once } as ConsoleKey, reach.to(CONSOLE_HOST))
  const requests = (await readPages(console, analyticsRequestsPath(app)))?.flatMap(({ data }) => data)
  if (!requests) throw new AccessProblem(`the account has no app ${app}`, "app")
  const isMade = requests.some(({ attributes }) => attributes.stoppedDueToInactivity !== true)
  try {
    if (!isMade) await console.create("/v1/analyticsReportRequests", requestFor(app))
  } catch (error) {
    if (!(error instanceof ConsoleProblem && error.trouble === "forbidden")) throw error
    throw new AccessProblem("the key may not request reports; use a key with the role Admin", "keyId")
  }
  await askTask(sql, id, "analytics", app)
  return !isMade
}

function requestFor(app: string) {
  const relationships = { app: { data: { type: "apps", id: app } } }
  return { data: { type: "analyticsReportRequests", attributes: { accessType: "ONGOING" }, relationships } }
}
