import { atOnce, type PageForm } from "./page-form.ts"
import { textIn } from "./read.ts"

/** Marks the alerts that the page showed as read. Alerts that were found later stay unread. */
export const markAlertsReadForm: PageForm = atOnce({
  action: "mark_alerts_read",
  read(fields) {
    // the field is not named appId, because a form with a field of that name must also send the app's state
    const { about: appId } = textIn("about", fields)
    return { read: true, ...textIn("until", fields), ...(appId !== undefined && { appId }) }
  },
  button: () => "Mark as read",
  rules: {},
})
