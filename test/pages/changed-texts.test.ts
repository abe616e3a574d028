import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Listing } from "../../src/stores/kinds/listing-shape.ts"
import { fieldIn } from "../access/sign-in/browser.ts"
import { freshDatabase } from "../database.ts"
import { listed } from "../measuring/record/listed.ts"
import { record } from "../record.ts"
import { openService, type Service } from "../service.ts"
import { type Sharing, sharing } from "../sharing/share-scene.ts"
import { dayAgo } from "../world/clock.ts"
import { ownerOf } from "./app-scene.ts"

setDefaultTimeout(60_000)

let service: Service
let tea: Sharing

/** Returns three paragraphs. The middle one changes with each edition. */
const described = (middle: string) => `Steep it well.\n\n${middle}\n\nMade in <b>Leeds</b>.`

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  tea = await sharing(service, { name: "Tea", keywords: ["tea"] })
  const read = (days: number, texts: Partial<Listing>) => listed(`${dayAgo(days)}T03:00:00Z`, texts, { id: tea.iosId })
  const readings = [
    read(3, { subtitle: "Steep it right", description: described("Now with oolong.") }),
    read(2, { subtitle: "Steep green tea right", description: described("Now with white tea.") }),
  ]
  await record(service.sql, readings, () => new Date())
})

test("a changed subtitle or description shows only the paragraphs that differ", async () => {
  const { text } = await (await ownerOf(service, tea.writer.workspace)).open(`/app/apps/${tea.app}/page`)
  const part = /<h2>What changed<\/h2>[\s\S]*?<\/section>/.exec(text)![0]
  expect(part).toContain("<strong>Subtitle</strong>")
  expect(part).toContain("<ins>green</ins>")
  expect(part).toContain("<strong>Description</strong>")
  expect(part).toContain("<del>oolong</del>")
  expect(part).not.toContain("Steep it well.")
  expect(part).not.toContain("Leeds")
})

test("a rival's changes show the number of pictures, and a changed description without its text", async () => {
  const rival = "1600000777"
  const read = (days: number, texts: Partial<Listing>) => listed(`${dayAgo(days)}T03:00:00Z`, texts, { id: rival })
  const phone = ["https://example.com/1.png", "https://example.com/2.png"]
  const before = read(3, { description: described("Now with oolong."), screenshots: { phone } })
  const after = read(2, { description: described("Now with mate."), screenshots: { phone: phone.slice(1) } })
  await record(service.sql, [before, after], () => new Date())
  await service.sql`update tracked_app set manual_rivals = ${[`ios:${rival}`]} where id = ${tea.app}`
  const owner = await ownerOf(service, tea.writer.workspace)
  const page = `/app/apps/${tea.app}/rival?rival=${rival}`
  const { text } = await owner.send(page, { form: fieldIn(await owner.open(page), "form") as string })
  const part = /<h2>What changed on its page<\/h2>[\s\S]*?<\/section>/.exec(text)![0]
  expect(part).toMatch(/<strong>Description<\/strong><\/p><p class="quiet">It changed; its words are not told here/)
  expect(part).toMatch(/Before<\/span> 2 pictures[\s\S]*After<\/span> 1 picture</)
  expect(part).not.toContain("mate")
})

test("the API does not return the changed texts of a store page", async () => {
  const key = await service.key(tea.writer.workspace)
  const { text, status } = await service.call(`/v1/apps/${tea.app}/page?country=us`, { key })
  expect([status, text.includes("green tea right"), text.includes("white tea")]).toEqual([200, false, false])
  expect((await service.call(`/v1/page/${tea.app}/changed-texts`, { key })).status).toBe(404)
})
