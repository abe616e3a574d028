import { spoken } from "../../ui/words.ts"
import { atOnce, type PageForm, previewed } from "./page-form.ts"
import { numberIn, textIn } from "./read.ts"

const typeIn = (fields: URLSearchParams) => ({ type: fields.get("type") ?? "" })

/** Marks the alerts that the page showed; those found since stay unread. */
export const markAlertsReadForm: PageForm = atOnce({
  action: "mark_alerts_read",
  read: (fields) => ({ read: true, ...textIn("until", fields) }),
  button: () => "Mark as read",
  rules: {},
})

export const createAlertRuleForm: PageForm = previewed({
  action: "create_alert_rule",
  read: (fields) => ({
    ...typeIn(fields),
    ...numberIn("dropBy", fields),
    ...textIn("keywordScope", fields),
    ...textIn("rivalScope", fields),
  }),
  button: () => "Save rule",
  rules: {
    type: { field: "type", rule: "Choose a type of alert." },
    dropBy: { field: "dropBy", rule: "Enter a whole number from 1 to 100." },
    keywordScope: { field: "keywordScope", rule: "This type of alert is not about keywords." },
    rivalScope: { field: "rivalScope", rule: "This type of alert is not about rivals." },
  },
})

export const deleteAlertRuleForm: PageForm = previewed({
  action: "delete_alert_rule",
  read: typeIn,
  button: ({ type }) => `Remove rule for ${spoken(String(type)).toLowerCase()}`,
  rules: {},
})
