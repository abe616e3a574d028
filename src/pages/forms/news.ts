import { seeOther } from "../../ui/answer.ts"
import type { PageForm } from "./page-form.ts"

/** Marks the changes that the overview showed as seen. Changes that are found later stay new. */
export const markSeenForm: PageForm = {
  rules: {},
  async send(context, fields, back) {
    await context.ask("mark_seen", { until: fields.get("until") ?? "" })
    return seeOther(back)
  },
}

export const unmarkSeenForm: PageForm = {
  rules: {},
  async send(context, _, back) {
    await context.ask("mark_seen")
    return seeOther(back)
  },
}
