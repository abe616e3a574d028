import { atOnce, type PageForm } from "./page-form.ts"
import { textIn } from "./read.ts"

/** Marks as read the alerts that the page showed; alerts found since stay unread. */
export const markAlertsReadForm: PageForm = atOnce({
  action: "mark_alerts_read",
  read(fields) {
    // not named appId: a form with that field must also send the app's state
    const { about: appId } = textIn("about", fields)
    return { read: true, ...textIn("until", fields), ...(appId !== undefined && { appId }) }
  },
  button: () => "Mark as read",
  rules: {},
})
