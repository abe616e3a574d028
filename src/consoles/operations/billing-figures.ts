import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Time } from "../../tracking/shapes.ts"
import { type ReckonedDay, readBillingService } from "../billing/read-metrics.ts"
import type { MoneyAccounts, ReportQuery } from "../read/app-accounts.ts"
import { ANSWERED_STATES } from "../state.ts"
import { Money } from "./account-shapes.ts"

const figures = {
  mrr: described(v.nullable(Money), "Monthly recurring revenue. Null if not provided."),
  activeSubscriptions: v.nullable(Count),
  activeTrials: v.nullable(Count),
}

export const BillingFigures = described(
  v.nullable(
    named(
      "BillingFigures",
      v.strictObject({
        id: described(v.string(), "The connected account, as in `appmeter account list`."),
        kind: v.picklist(["revenuecat-metrics"]),
        state: v.picklist(ANSWERED_STATES),
        why: described(v.nullable(v.string()), "Who must do what, or what failed. Null if there is no problem."),
        projectApps: described(
          Count,
          "Number of apps in the project. The figures cover all of them together, regardless of country.",
        ),
        asOf: described(v.nullable(Time), "Time of the latest reading. Null if never read."),
        ...figures,
        days: described(
          v.array(v.strictObject({ day: Day, ...figures })),
          "The UTC days of the period with a reading, oldest first. Other days are unknown.",
        ),
      }),
    ),
  ),
  "Figures computed by a billing service, in one currency, and shown unchanged. Null if no connected service " +
    "provides them.",
)

/** Returns the figures of the billing service. Null if no service that computes figures is connected. */
export async function readBillingFigures(
  sql: Sql,
  { metrics }: MoneyAccounts,
  { from, to }: ReportQuery,
): Promise<v.InferOutput<typeof BillingFigures>> {
  if (!metrics) return null
  const service = await readBillingService(sql, metrics, { from, to })
  const { id, state, why, apps, latest, days } = service
  return {
    id,
    kind: "revenuecat-metrics" as const,
    state,
    why,
    projectApps: apps,
    asOf: latest?.readAt.toISOString() ?? null,
    ...(latest ? shown(latest) : { mrr: null, activeSubscriptions: null, activeTrials: null }),
    days: days.map((day) => ({ day: day.day, ...shown(day) })),
  }
}

function shown({ mrr, currency, activeSubscriptions, activeTrials }: ReckonedDay) {
  return { mrr: mrr === null ? null : { amount: mrr, currency }, activeSubscriptions, activeTrials }
}
