import { type PageForm, previewed } from "./page-form.ts"
import { appIn, numberIn, textIn } from "./read.ts"

export const shareForm: PageForm = previewed({
  action: "create_share_link",
  read: (fields) => ({
    ...appIn(fields),
    country: fields.get("country") ?? "",
    ...numberIn("days", fields),
    ...textIn("password", fields),
  }),
  button: () => "Create link",
  rules: {
    country: { field: "country", rule: "Choose a storefront." },
    days: { field: "days", rule: "Enter a whole number of days from 1 to 30." },
    password: { field: "password", rule: "Enter a password of 1 to 128 characters, or leave it empty." },
  },
})
