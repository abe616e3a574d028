import { type PageForm, previewed } from "./page-form.ts"
import { appIn, textIn } from "./read.ts"

/** Replies to a review through the connected console. The preview shows the reply that the store has now. */
export const replyForm: PageForm = previewed({
  action: "reply_review",
  read: (fields) => ({
    ...appIn(fields),
    ...textIn("country", fields),
    reviewId: fields.get("reviewId") ?? "",
    response: (fields.get("response") ?? "").trim().replaceAll("\r\n", "\n"),
  }),
  button: () => "Send reply",
  rules: {
    response: {
      field: "response",
      rule: "Write a reply of 1 to 5,970 characters. On Google Play: at most 350, without HTML tags.",
    },
  },
})
