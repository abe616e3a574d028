import { AccessProblem } from "../../access/problem.ts"
import { ReadFailure } from "../../measuring/source.ts"
import type { AccountKind } from "../account-kind.ts"
import { openRevenueCat, type RevenueCatApi } from "../billing/revenuecat-api.ts"
import { ConsoleProblem } from "../console.ts"
import type { ApiKey } from "../credentials.ts"
import { type AccountApp, probeRight } from "../look.ts"
import { metricsIn, overviewPath, storeAppsIn } from "../sources/billing/revenuecat-metrics.ts"

/** Figures that RevenueCat computes. Purchases arrive as messages to an account of the kind revenuecat. */
export const revenueCatMetrics: AccountKind<ApiKey, RevenueCatApi> = {
  name: "revenuecat-metrics",
  title: "RevenueCat's figures",
  summary:
    "Read recurring revenue, subscriptions and trials as computed by RevenueCat, each hour, with a read-only key.",
  examples: [
    ["account add revenuecat-metrics --key-file sk.txt", "lists the projects if there are several, and exits with 2"],
    ["account add revenuecat-metrics --key-file - --project proj1ab2c3d4 < sk.txt", "from stdin"],
  ],
  ids: {},
  secret: {
    name: "apiKey",
    option: "key-file",
    value: "FILE",
    meaning: "A secret key (sk_…) of API v2 with the permissions to read charts and project configuration.",
  },
  part: {
    name: "project",
    option: "project",
    value: "ID",
    meaning: "The project. Not needed if the key opens only one.",
  },
  async listParts(api) {
    const projects = (await api.list("/v2/projects?limit=100")) as { id?: unknown; name?: unknown }[]
    return projects.flatMap(({ id, name }) => (typeof id === "string" ? [{ id, name: String(name ?? id) }] : []))
  },
  check({ apiKey }, project) {
    if (!/^sk_[\x21-\x7e]{10,200}$/.test(apiKey))
      throw new AccessProblem("a secret key of RevenueCat begins with sk_", "apiKey")
    if (project !== null && !/^[\w-]{1,60}$/.test(project))
      throw new AccessProblem("a project's id has letters and digits; omit it to see which there are", "part")
  },
  begins: "recurring revenue, subscriptions and trials as computed by RevenueCat, each hour",
  shown: ({ apiKey }) => `key …${apiKey.slice(-4)}`,
  open: async (key, _, reach) => openRevenueCat(key, reach),
  async look(api, project) {
    const apps: AccountApp[] = []
    const rights = [
      await probeRight({ name: "metrics", needs: "the permission to read charts and overview" }, () =>
        api.get(overviewPath(project)),
      ),
      await probeRight({ name: "apps", needs: "the permission to read project configuration" }, async () => {
        const items = await api.list(`/v2/projects/${encodeURIComponent(project)}/apps?limit=100`)
        for (const { id, name, bundleId } of storeAppsIn({ items }))
          apps.push({ outsideId: id, sku: bundleId, name, bundleId })
      }),
    ]
    return { rights, apps }
  },
  needs: ["metrics"],
  async read(api, { sql, record, account, now, keep, fence, noteAnswer, signal }) {
    const body = await api.get(overviewPath(account.part), signal)
    await noteAnswer()
    await keep(body)
    try {
      await record(sql, [metricsIn(account.id, body)], now, { all: true, finish: fence })
    } catch (error) {
      if (!(error instanceof ReadFailure)) throw error
      throw new ConsoleProblem("unavailable", error.message)
    }
    // Null makes the worker read the account again in an hour.
    return null
  },
}
