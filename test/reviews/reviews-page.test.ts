import { beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { setWrites } from "../../src/consoles/writing/writers.ts"
import { type Browser, fieldIn, type Page } from "../access/sign-in/browser.ts"
import { consoleScene, REVIEW } from "../consoles/actions/scene.ts"
import { slow } from "../long.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { record } from "../record.ts"

setDefaultTimeout(60_000)

const scene = consoleScene()
let owner: Browser
let reviews: string
let reply: string

beforeEach(async () => {
  owner = await ownerOf(scene.service, scene.workspaceId)
  reviews = `/app/apps/${scene.appId}/reviews?at=us-ios`
  reply = `/app/apps/${scene.appId}/reply?review=${REVIEW.id}&at=us-ios`
})

const plainText = ({ text }: Page) => text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ")

/** Submits the reply form. Returns the preview. */
async function previewOf(response: string): Promise<Page> {
  const page = await owner.open(reply)
  const names = ["form", "action", "form-id", "back", "appId", "country", "reviewId"]
  const fields = names.map((name) => [name, fieldIn(page, name) as string])
  return await owner.send("/app/write", { ...Object.fromEntries(fields), response })
}

/** Presses the button of the preview. Returns the page to which the button leads. */
async function confirmOf(preview: Page): Promise<Page> {
  const fields = ["form", "back", "confirmToken"].map((name) => [name, fieldIn(preview, name) as string])
  const { headers } = await owner.send("/app/write", Object.fromEntries(fields))
  return await owner.open(headers.get("location") as string)
}

slow("a reply is previewed, confirmed and queued, and then shown as sent at its review", async () => {
  expect((await owner.open(reviews)).text).toContain(`reply?review=${REVIEW.id}`)
  const preview = await previewOf("Thank <you>.\r\nIt is back.")
  expect(plainText(preview)).toMatch(/Reply none Thank &lt;you&gt;\. It is back\./)
  expect(scene.standIn.shelf.sent).toEqual([])
  const queued = await confirmOf(preview)
  expect(plainText(queued)).toContain("The reply is queued.")
  expect(plainText(queued)).toContain("Queued")
  await scene.worker.runOnce()
  expect(scene.standIn.shelf.reviews[0]!.reply!.attributes.responseBody).toBe("Thank <you>.\nIt is back.")
  const sent = plainText(await owner.open(reviews))
  expect(sent).toMatch(/Thank &lt;you&gt;\. It is back\. Sent .* The App Store shows it within a day\./)
})

slow("a refused reply is shown with the reason, and a reply with an unknown outcome as unknown", async () => {
  await confirmOf(await previewOf("Thank you."))
  const attributes = { responseBody: "Another.", lastModifiedDate: "2026-01-01T00:00:00Z", state: "PUBLISHED" }
  scene.standIn.shelf.reviews[0]!.reply = { id: "r1", attributes }
  await scene.worker.runOnce()
  expect(plainText(await owner.open(reviews))).toMatch(
    /Thank you\. Refused .* Nothing was sent\..*changed in the console/,
  )
  await scene.service.sql`update job set status = 'unknown', error = null, sent_at = now()
    where workspace_id = ${scene.workspaceId}`
  expect(plainText(await owner.open(reviews))).toMatch(/Thank you\. Unknown .* It may have been sent/)
})

test("without a connection, or if writes are off, the page states what is missing and has no form", async () => {
  expect((await owner.open(reply)).text).toContain('name="response"')
  await setWrites(scene.register, scene.workspaceId, scene.account, { on: false })
  const off = await owner.open(reply)
  expect(off.text).not.toContain('name="response"')
  expect(plainText(off)).toContain("Writes to this account are off")
  await scene.service.sql`update connected_account set sealed = null, state = 'removed' where id = ${scene.account}`
  const removed = plainText(await owner.open(reply))
  expect(removed).toContain("App Store Connect is not connected for writing")
  expect((await owner.open(reply.replace(REVIEW.id, "0"))).text).toContain("This review is not stored here")
})

test("after an empty reply, the form is shown again with the message at its field", async () => {
  const refused = await previewOf("   ")
  expect(refused.status).toBe(400)
  expect(refused.text).toContain("Write a reply of 1 to 5,970 characters.")
})

slow("the links between pages of reviews lead to the last review, and the CSV file has all reviews", async () => {
  const at = (number: number) => new Date(Date.now() - 86_400_000 * (4 + (number % 40)))
  const many = Array.from({ length: 120 }, (_, number) => ({
    id: `p${number}`,
    at: at(number),
    stars: 1 + (number % 5),
    title: `=<Title> ${number}`,
  }))
  await record(scene.service.sql, [reviewed(new Date().toISOString(), many, { storeId: "310633997" })])
  const listedIds: string[] = []
  let next: string | undefined = `${reviews}&sort=lowest`
  while (next !== undefined) {
    const { text }: Page = await owner.open(next)
    listedIds.push(...[...text.matchAll(/<li id="r-([^"]+)"/g)].map(([, id]) => id as string))
    next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&")
  }
  expect(listedIds).toHaveLength(121)
  expect(new Set(listedIds)).toEqual(new Set([REVIEW.id, ...many.map(({ id }) => id)]))
  const file = await owner.open(`${reviews}&rating=1&as=csv`)
  expect([file.headers.get("content-type"), file.headers.get("content-disposition")]).toEqual([
    "text/csv; charset=utf-8; header=present",
    'attachment; filename="reviews-us-ios.csv"',
  ])
  expect(file.text.trim().split("\r\n")).toHaveLength(1 + 24)
  expect(file.text).toContain("'=<Title>")
  const filtered = await owner.open(`${reviews}&rating=5&version=9&q=nothing&sort=best&from=2030-13-01`)
  expect(filtered.text).toContain("No review matches")
})
