import * as v from "valibot"
import { readWeekProceeds } from "../../consoles/read/read-proceeds.ts"
import { operation } from "../../core/operation.ts"
import { dayOf } from "../../lib/days.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Store } from "../../lib/shapes.ts"
import { shared } from "./workspace.ts"

export const listAppRevenue = operation({
  ...shared,
  id: "list_app_revenue",
  path: "/page/app-revenue",
  summary: "The proceeds of each app and store in the last seven reported days.",
  scope: "revenue:read",
  output: v.strictObject({
    apps: v.array(
      v.strictObject({
        id: v.string(),
        name: v.string(),
        platform: Store,
        figure: described(
          v.picklist(["proceeds", "estimated_sales"]),
          "estimated_sales: paid by customers on Google Play, before fees and not settled.",
        ),
        to: described(v.nullable(Day), "The latest reported day. Null if there is none."),
        days: described(Count, "Reported days among the seven that end with it."),
        proceeds: described(
          v.array(v.strictObject({ currency: v.string(), amount: v.string() })),
          "One amount per currency. Nothing is converted.",
        ),
      }),
    ),
    unconnected: described(Count, "Apps that no connected account has."),
  }),
}).run(async (_, { sql, caller, now, visibleApps }) => {
  const visible = await visibleApps()
  const today = dayOf(now())
  const weeks = []
  for (const platform of ["ios", "android"] as const)
    for (const week of await readWeekProceeds(sql, { workspaceId: caller.workspaceId, platform }, visible, today))
      weeks.push({ ...week, platform })
  const byApp = Map.groupBy(weeks, ({ appId }) => appId)
  const apps = visible.flatMap(({ id, name }) =>
    (byApp.get(id) ?? []).map(({ platform, figure, to, days, proceeds }) => {
      return { id, name, platform, figure, to, days, proceeds }
    }),
  )
  return { apps, unconnected: visible.length - byApp.size }
})
