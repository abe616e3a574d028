import { atOnce, type PageForm } from "./page-form.ts"
import { textIn } from "./read.ts"

/** Marks the alerts that the page showed; those found since stay unread. */
export const markAlertsReadForm: PageForm = atOnce({
  action: "mark_alerts_read",
  read(fields) {
    // another name than appId, which forms about the settings of an app use
    const { about: appId } = textIn("about", fields)
    return { read: true, ...textIn("until", fields), ...(appId !== undefined && { appId }) }
  },
  button: () => "Mark as read",
  rules: {},
})
