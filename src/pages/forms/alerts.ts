import { atOnce, type PageForm } from "./page-form.ts"
import { textIn } from "./read.ts"

/** Marks the alerts that the page showed; those found since stay unread. */
export const markAlertsReadForm: PageForm = atOnce({
  action: "mark_alerts_read",
  read: (fields) => ({ read: true, ...textIn("until", fields) }),
  button: () => "Mark as read",
  rules: {},
})
