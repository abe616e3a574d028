import * as v from "valibot"
import type { Sql } from "../../database/types.ts"
import { described, named } from "../../lib/schema.ts"
import { Count } from "../../tracking/shapes.ts"
import { COMPARED, readEventWitnesses } from "../billing/witness-events.ts"
import type { Service } from "../billing/witness-sums.ts"
import type { ReportQuery } from "../read/app-accounts.ts"
import type { EventCounts } from "../read/read-subscriptions.ts"
import { CauseName, SecondWitness, Whole, witnessShape } from "./reconciliation.ts"

export const EventReconciliation = named(
  "EventReconciliation",
  v.strictObject({
    with: SecondWitness,
    events: described(
      v.array(
        v.strictObject({
          event: described(
            v.picklist(COMPARED),
            "payments: first payments, reactivations and renewals together, because a service counts " +
              "reactivations as renewals.",
          ),
          console: Whole,
          service: described(Count, "Figures by UTC day."),
          difference: described(Whole, "Console minus service."),
          causes: described(
            v.array(v.strictObject({ cause: CauseName, units: Whole })),
            "Causes of the difference, in the order in which they are subtracted.",
          ),
          unexplained: Whole,
        }),
      ),
      "Events that both sources count in the same way. Cancellations are excluded: the console dates them at the " +
        "end of the paid period, a service on the day when renewal is turned off.",
    ),
  }),
)

/** Returns the comparison. Null if no service has sent a message about the app's purchases. */
export async function readEventReconciliation(
  sql: Sql,
  service: Service | null,
  query: ReportQuery & { reported: readonly string[]; events: readonly { day: string; counts: EventCounts }[] },
): Promise<v.InferOutput<typeof EventReconciliation> | null> {
  return service && { with: witnessShape(service), events: await readEventWitnesses(sql, service, query) }
}
