import { beforeAll, describe, expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import { escapeHtml } from "../../src/pages/html.ts"
import { referencePage } from "../../src/pages/reference.ts"
import { prepareSandbox } from "../../src/surfaces/sandbox.ts"
import { freshDatabase } from "../database.ts"
import { type House, openHouse, PUBLIC_URL } from "../house.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { readMarkup } from "./markup.ts"

const { samples } = prepareSandbox(catalogWithSamples, fixturesWithSamples(), PUBLIC_URL)
const page = referencePage(catalogWithSamples, { publicUrl: PUBLIC_URL, samples, actions })

let house: House

beforeAll(async () => {
  house = openHouse({ sql: await freshDatabase() })
})

describe("the reference", () => {
  test("shows every operation with method, path, price and rights", () => {
    for (const { id, method, path, summary } of catalogWithSamples) {
      const section = sectionOf(id)
      expect(section).toContain(`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}</code>`)
      expect(section).toContain(escapeHtml(summary))
    }
    expect(sectionOf("whoami")).toContain("free of charge · no scope needed · every plan")
    expect(sectionOf("explorer_sample")).toContain("5 to 50 credits (5 a row) · scope hive:spy · every plan · Explorer")
    expect(sectionOf("studio_sample")).toContain("1 credit · scope ai:read · studio plan or above")
    expect(sectionOf("write_sample")).toContain("2 credits · scope of the action")
    expect(page).not.toContain("undefined")
  })

  test("every line of a GET works as pasted", async () => {
    for (const { id, method } of catalog) {
      if (method !== "GET") continue
      const words = shellWords(lineOf(id))
      expect([words.length, words[0]]).toEqual([2, "curl"])
      const url = new URL(words[1] as string)
      const { status, body } = await house.call(`${url.pathname}${url.search}`)
      expect([id, status, body]).toEqual([id, 200, samples.get(id)?.answer])
    }
  })

  test("a POST, which the sandbox does not answer, has a line for a key", () => {
    expect(shellWords(lineOf("write_sample"))).toEqual([
      "curl",
      "-H",
      "authorization: Bearer $APPMETER_KEY",
      "-H",
      "content-type: application/json",
      "-d",
      '{"scope":"track"}',
      "http://127.0.0.1:8787/v1/samples",
    ])
  })

  test("the markup is whole, and every link leads to a page that is there", async () => {
    const markup = readMarkup(page)
    expect([markup.unbalanced, markup.bare]).toEqual([[], []])
    expect(new Set(markup.ids).size).toBe(markup.ids.length)
    expect(markup.tags.has("script")).toBe(false)
    expect(markup.hrefs).toEqual(expect.arrayContaining(["/v1/openapi.json", "/docs/errors"]))
    for (const href of markup.hrefs) {
      if (href.startsWith("#")) expect(markup.ids).toContain(href.slice(1))
      else expect((await house.call(href)).status).toBe(200)
    }
  })
})

function sectionOf(id: string): string {
  return page.split(`<section id="${id}">`)[1]?.split("</section>")[0] as string
}

function lineOf(id: string): string {
  const line = /<pre>(.*)<\/pre>/.exec(sectionOf(id))?.[1] as string
  return line.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&")
}

/** What a shell makes of a line without expansions. */
function shellWords(line: string): string[] {
  const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${line}`], { env: { APPMETER_KEY: "$APPMETER_KEY" } })
  return stdout.toString().trimEnd().split("\n")
}
