import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { setWrites } from "../../src/consoles/writing/writers.ts"
import { type Browser, fieldIn, type Page } from "../access/sign-in/browser.ts"
import { replyScene } from "../consoles/play/reply-scene.ts"
import { reported } from "../consoles/reported.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { record } from "../record.ts"

setDefaultTimeout(60_000)

const on = replyScene()
let owner: Browser
let reviews: string
let reply: string

beforeEach(async () => {
  owner = await ownerOf(on.service, on.workspaceId)
  reviews = `/app/apps/${on.appId}/reviews?at=us-android`
  reply = `/app/apps/${on.appId}/reply?review=${on.review.id}&at=us-android`
})

const plainText = ({ text }: Page) => text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ")

async function previewOf(response: string): Promise<Page> {
  const page = await owner.open(reply)
  const names = ["form", "action", "form-id", "back", "appId", "country", "reviewId"]
  const fields = names.map((name) => [name, fieldIn(page, name) as string])
  return await owner.send("/app/write", { ...Object.fromEntries(fields), response })
}

test("a reply on Google Play is written, previewed with its length, sent, and shown at its review", async () => {
  expect(plainText(await owner.open(reply))).toContain("At most 350 characters.")
  const long = await previewOf("x".repeat(351))
  expect([long.status, plainText(long)]).toEqual([400, expect.stringContaining("On Google Play: at most 350")])
  const preview = await previewOf("Thank you.\r\nIt is back.")
  expect(plainText(preview)).toMatch(
    /Reply none Thank you\. It is back\..*The reply has 22 of at most 350 characters\./,
  )
  const fields = ["form", "back", "confirmToken"].map((name) => [name, fieldIn(preview, name) as string])
  const { headers } = await owner.send("/app/write", Object.fromEntries(fields))
  expect(plainText(await owner.open(headers.get("location") as string))).toContain("The reply is queued.")
  await on.worker.runOnce()
  expect(on.review.reply?.text).toBe("Thank you.\nIt is back.")
  expect(plainText(await owner.open(reviews))).toMatch(/Thank you\. It is back\. Sent .* Google Play has accepted it\./)
})

test("a reply that Play Console lists is shown at its review and is the text to begin with", async () => {
  const at = new Date(Date.now() - 3_600_000)
  const review = { id: on.review.id, stars: 2, text: "x", at, reply: { text: "Written <elsewhere>.", at } }
  const seen = { account: on.account, seenAt: new Date(), reviews: [review] }
  expect(await record(on.sql, [reported("console_reviews", seen)])).toMatchObject({ recorded: 1 })
  const list = plainText(await owner.open(reviews))
  expect(list).toMatch(/Written &lt;elsewhere&gt;\. In Play Console .* Change the reply/)
  expect((await owner.open(reply)).text).toContain(">\nWritten &lt;elsewhere&gt;.</textarea>")
})

test("without a connection or writes the page says what is missing and offers no form", async () => {
  await setWrites(on.register, on.workspaceId, on.account, { on: false })
  const off = await owner.open(reply)
  expect([off.text.includes('name="response"'), plainText(off)]).toEqual([
    false,
    expect.stringContaining("Writes to this account are off"),
  ])
  await on.sql`delete from connected_account where id = ${on.account}`
  const page = plainText(await owner.open(reply))
  expect(page).toContain("Google Play Console is not connected for writing")
  expect(page).toContain("copy a draft and reply in Play Console")
})
