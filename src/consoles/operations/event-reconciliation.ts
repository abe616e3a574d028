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
            "payments: begun paid, begun again and renewed together, for a service counts who comes back as renewed.",
          ),
          console: Whole,
          service: described(Count, "By its own days, UTC."),
          difference: described(Whole, "Console less service."),
          causes: described(
            v.array(v.strictObject({ cause: CauseName, units: Whole })),
            "What of the difference each explains, taken off in this order.",
          ),
          unexplained: Whole,
        }),
      ),
      "What both count alike. Cancellations are not among them: the console dates them at the end of what was paid, a service when renewal was turned off.",
    ),
  }),
)

/** Null if no service has sent a message about the app's purchases. */
export async function readEventReconciliation(
  sql: Sql,
  service: Service | null,
  asked: ReportQuery & { reported: readonly string[]; events: readonly { day: string; counts: EventCounts }[] },
): Promise<v.InferOutput<typeof EventReconciliation> | null> {
  return service && { with: witnessShape(service), events: await readEventWitnesses(sql, service, asked) }
}
