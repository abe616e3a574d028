import * as v from "valibot"
import { readWeekProceeds } from "../../consoles/read/read-proceeds.ts"
import { operation } from "../../core/operation.ts"
import { dayOf } from "../../lib/days.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day } from "../../lib/shapes.ts"
import { shared } from "./workspace.ts"

export const listAppRevenue = operation({
  ...shared,
  id: "list_app_revenue",
  path: "/desk/app-revenue",
  summary: "The proceeds of each app in the last seven reported days.",
  scope: "revenue:read",
  output: v.strictObject({
    apps: v.array(
      v.strictObject({
        id: v.string(),
        name: v.string(),
        to: described(v.nullable(Day), "The latest reported day. Null if none is."),
        days: described(Count, "Reported days of the seven up to it."),
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
  const weeks = await readWeekProceeds(sql, caller.workspaceId, visible, dayOf(now()))
  const names = new Map(visible.map(({ id, name }) => [id, name]))
  const apps = weeks.map(({ appId, to, days, proceeds }) => {
    return { id: appId, name: names.get(appId) ?? appId, to, days, proceeds }
  })
  return { apps, unconnected: visible.length - apps.length }
})
