import { beforeEach, expect, setDefaultTimeout } from "bun:test"
import { setWrites } from "../../src/consoles/writing/writers.ts"
import { type Browser, fieldIn, type Page } from "../access/sign-in/browser.ts"
import { replyScene } from "../consoles/play/reply-scene.ts"
import { reported } from "../consoles/reported.ts"
import { slow } from "../long.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { record } from "../record.ts"

setDefaultTimeout(60_000)

const scene = replyScene()
let owner: Browser
let reviews: string
let reply: string

beforeEach(async () => {
  owner = await ownerOf(scene.service, scene.workspaceId)
  reviews = `/app/apps/${scene.appId}/reviews?at=us-android`
  reply = `/app/apps/${scene.appId}/reply?review=${scene.review.id}&at=us-android`
})

const plainText = ({ text }: Page) => text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ")

async function previewOf(response: string): Promise<Page> {
  const page = await owner.open(reply)
  const names = ["form", "action", "form-id", "back", "appId", "country", "reviewId"]
  const fields = names.map((name) => [name, fieldIn(page, name) as string])
  return await owner.send("/app/write", { ...Object.fromEntries(fields), response })
}

slow("a reply on Google Play is written, previewed with its length, sent, and shown at its review", async () => {
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
  await scene.worker.runOnce()
  expect(scene.review.reply?.text).toBe("Thank you.\nIt is back.")
  expect(plainText(await owner.open(reviews))).toMatch(/Thank you\. It is back\. Sent .* Google Play has accepted it\./)
})

slow("a reply that Play Console lists is shown at its review and is the initial text of the form", async () => {
  const at = new Date(Date.now() - 3_600_000)
  const review = { id: scene.review.id, stars: 2, text: "x", at, reply: { text: "Written <elsewhere>.", at } }
  const report = { account: scene.account, seenAt: new Date(), reviews: [review] }
  expect(await record(scene.sql, [reported("console_reviews", report)])).toMatchObject({ recorded: 1 })
  const list = plainText(await owner.open(reviews))
  expect(list).toMatch(/Written &lt;elsewhere&gt;\. In Play Console .* Change the reply/)
  expect((await owner.open(reply)).text).toContain(">\nWritten &lt;elsewhere&gt;.</textarea>")
})

slow("without a connection, or if writes are off, the page states what is missing and has no form", async () => {
  await setWrites(scene.register, scene.workspaceId, scene.account, { on: false })
  const off = await owner.open(reply)
  expect([off.text.includes('name="response"'), plainText(off)]).toEqual([
    false,
    expect.stringContaining("Writes to this account are off"),
  ])
  await scene.sql`delete from connected_account where id = ${scene.account}`
  const page = plainText(await owner.open(reply))
  expect(page).toContain("Google Play Console is not connected for writing")
  expect(page).toContain("copy a draft and reply in Play Console")
})
