import { beforeAll, describe, expect, test } from "bun:test"
import { NO_PROOF, REVIEW_PARTS } from "../../src/alerts/digest/parts.ts"
import { catalog } from "../../src/catalog.ts"
import type { Toolset } from "../../src/core/operation.ts"
import type { Sql } from "../../src/database/types.ts"
import { prompts } from "../../src/http/assistants/prompts.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"
import { modern, post, request } from "./tools-messages.ts"

let sql: Sql
let service: Service
let workspace: number
let key: string
let kettle: string
let teapot: string

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  workspace = await service.workspace()
  key = await service.key(workspace)
  kettle = await tracked("Kettle Timer", "1437843273", ["us", "de"], ["tea timer", "tea", "kettle"])
  teapot = await tracked("Teapot", "1437843274", ["fr"], ["thé"])
})

function tracked(name: string, iosId: string, countries: string[], keywords: string[]) {
  return trackOwn(sql, { workspaceId: workspace, iosId, name, countries, keywords })
}

/** Returns the result, or the error code. */
async function send(method: string, params: object = {}, options: { key?: string; query?: string } = {}) {
  const { body } = await post(service, request(method, params), { key, ...options })
  return body.result ?? body.error.code
}

async function sendModern(method: string, params: Record<string, unknown> = {}, header: Record<string, string> = {}) {
  const { message, headers } = modern(method, params, header)
  return (await post(service, message, { key, headers })).body
}

const spent = async () => (await service.call("/v1/account", { key })).body.credits.used

describe("prompts", () => {
  test("each prompt is listed with its arguments, and its text names the app and the storefront", async () => {
    const { prompts: listed } = await send("prompts/list")
    expect(listed.map(({ name }: { name: string }) => name)).toEqual([
      "weekly_review",
      "why_did_i_drop",
      "find_keywords",
      "answer_reviews",
    ])
    for (const { name, arguments: params } of listed) {
      expect(params[0]).toMatchObject({ name: "appId", required: true })
      const { messages } = await send("prompts/get", { name, arguments: { appId: kettle, country: "de" } })
      expect(messages).toMatchObject([{ role: "user", content: { type: "text" } }])
      for (const text of [kettle, ", storefront de"]) expect(messages[0].content.text).toContain(text)
      expect(messages[0].content.text).toContain("never treat it as zero")
    }
  })

  test("every tool in a prompt exists, in one of the prompt's toolsets", () => {
    const toolsets = new Map<string, Toolset>(catalog.map(({ id, toolset }) => [id, toolset]))
    for (const { text, toolsets: leadsTo } of prompts) {
      const named = text({ appId: "app", term: "tea" }).match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
      expect(named.length).toBeGreaterThan(1)
      for (const tool of named) expect([tool, leadsTo.includes(toolsets.get(tool) as Toolset)]).toEqual([tool, true])
    }
  })

  test("the text of the weekly review names the operations and headings of the mailed summary", () => {
    const { text } = prompts.find(({ name }) => name === "weekly_review")!
    const written = text({ appId: "app" }).replaceAll(/\s+/g, " ")
    const { money: _, ...parts } = REVIEW_PARTS
    for (const { title, operation } of Object.values(parts)) expect(written).toContain(`${title}: ${operation}`)
    expect(written).toContain("What moved, Possible causes, Reviews, What to do")
    expect(written).toContain(NO_PROOF)
  })

  test("a prompt whose tools are outside of the chosen toolsets is not offered", async () => {
    const query = "?tools=reviews,account"
    const { prompts: listed } = await send("prompts/list", {}, { query })
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(["answer_reviews"])
    expect(await send("prompts/get", { name: "weekly_review", arguments: { appId: kettle } }, { query })).toBe(-32602)
  })

  test("a missing, unknown or overlong prompt argument is -32602 with its name", async () => {
    const refused = async (name: string, args: unknown) =>
      (await post(service, request("prompts/get", { name, arguments: args }), { key })).body.error
    expect(await refused("weekly_review", {})).toMatchObject({
      code: -32602,
      message: expect.stringContaining("appId"),
    })
    expect((await refused("weekly_review", { appId: kettle, trem: "x" })).message).toContain("appId, country")
    expect((await refused("weekly_review", { appId: "x".repeat(501) })).message).toContain("500 characters")
    expect((await refused("weekly_review", { appId: 7 })).code).toBe(-32602)
    expect((await refused("nonsense", {})).message).toContain("weekly_review")
  })
})

describe("resources", () => {
  test("the resources are the guide and the apps of the caller's workspace", async () => {
    const { resources } = await send("resources/list")
    expect(resources.map(({ uri, title }: { uri: string; title: string }) => [uri, title])).toEqual([
      ["appmeter://guide", "How to work with Appmeter"],
      [`appmeter://apps/${kettle}`, "Kettle Timer"],
      [`appmeter://apps/${teapot}`, "Teapot"],
    ])
    const stranger = await service.key(await service.workspace())
    expect((await send("resources/list", {}, { key: stranger })).resources.length).toBe(1)
  })

  test("listing resources is free, and reading an app costs the same as get_app", async () => {
    const before = await spent()
    await send("resources/list")
    await send("resources/templates/list")
    await send("resources/read", { uri: "appmeter://guide" })
    expect(await spent()).toBe(before)
    const { contents, _meta } = await send("resources/read", { uri: `appmeter://apps/${kettle}` })
    const answer = await service.call(`/v1/apps/${kettle}`, { key })
    expect(contents).toEqual([
      { uri: `appmeter://apps/${kettle}`, mimeType: "application/json", text: expect.any(String) },
    ])
    expect(JSON.parse(contents[0].text)).toEqual(answer.body)
    expect([_meta.credits.cost, await spent()]).toEqual([1, before + 2])
  })

  test("the guide names every tool", async () => {
    const { contents } = await send("resources/read", { uri: "appmeter://guide" })
    for (const { id } of catalog) expect(contents[0].text).toContain(`- ${id}: `)
  })

  test("an unknown resource address is a free error with the revision's code", async () => {
    const before = await spent()
    for (const uri of [
      "appmeter://apps/app_none",
      "appmeter://apps/",
      "appmeter://apps/%zz",
      "file:///etc/passwd",
      "",
    ]) {
      expect([uri, await send("resources/read", { uri })]).toEqual([uri, -32002])
      const { error } = await sendModern("resources/read", { uri }, { "mcp-name": uri })
      expect(error).toMatchObject({ code: -32602, data: { uri } })
    }
    expect(await send("resources/read", { uri: 7 })).toBe(-32602)
    expect(await spent()).toBe(before)
  })

  test("revision 2026-07-28 requires the resource address in a header too", async () => {
    const uri = "appmeter://guide"
    expect((await sendModern("resources/read", { uri }, { "mcp-name": "appmeter://other" })).error.code).toBe(-32020)
    expect((await sendModern("resources/read", { uri }, { "mcp-name": uri })).result).toMatchObject({
      resultType: "complete",
      cacheScope: "private",
    })
  })

  test("the guide is the only resource if the toolsets or the key's rights do not include apps", async () => {
    const uris = ({ resources }: { resources: { uri: string }[] }) => resources.map(({ uri }) => uri)
    expect(uris(await send("resources/list", {}, { query: "?tools=reviews" }))).toEqual(["appmeter://guide"])
    const uri = `appmeter://apps/${kettle}`
    expect(await send("resources/read", { uri }, { query: "?tools=reviews" })).toBe(-32002)
    const reviewer = await service.key(workspace, { scopes: ["reviews:read"] })
    expect(uris(await send("resources/list", {}, { key: reviewer }))).toEqual(["appmeter://guide"])
    const { error } = (await post(service, request("resources/read", { uri }), { key: reviewer })).body
    expect(error.data).toMatchObject({ error: "scope_required" })
  })

  test("the resources of a limited key are its apps, and those of a test key the sandbox's apps", async () => {
    const narrow = await service.key(workspace, { appList: [teapot] })
    const { resources } = await send("resources/list", {}, { key: narrow })
    expect(resources.map(({ name }: { name: string }) => name)).toEqual(["guide", teapot])
    const testing = await service.key(workspace, { kind: "test" })
    const sandbox = await service.call("/v1/sandbox/apps")
    const offered = (await send("resources/list", {}, { key: testing })).resources.slice(1)
    expect(offered.map(({ name }: { name: string }) => name)).toEqual(
      sandbox.body.apps.map(({ id }: { id: string }) => id),
    )
  })
})

describe("completion", () => {
  const completed = async (argument: object, ref: object = REVIEW, more: object = {}) =>
    (await send("completion/complete", { ref, argument, ...more })).completion?.values
  const REVIEW = { type: "ref/prompt", name: "weekly_review" }
  const DROP = { type: "ref/prompt", name: "why_did_i_drop" }
  const APP = { type: "ref/resource", uri: "appmeter://apps/{appId}" }

  test("an app is completed by its id and by its name", async () => {
    expect(await completed({ name: "appId", value: "" })).toEqual([kettle, teapot])
    expect(await completed({ name: "appId", value: kettle.slice(0, 8) })).toContain(kettle)
    expect(await completed({ name: "appId", value: "teap" })).toEqual([teapot])
    expect(await completed({ name: "appId", value: "timer" }, APP)).toEqual([kettle])
    expect(await completed({ name: "appId", value: "nothing" })).toEqual([])
  })

  test("terms and storefronts are completed from the chosen app", async () => {
    const context = { arguments: { appId: kettle } }
    expect(await completed({ name: "term", value: "te" }, DROP, { context })).toEqual(["tea timer", "tea"])
    expect(await completed({ name: "country", value: "" }, DROP, { context })).toEqual(["us", "de"])
    expect(await completed({ name: "term", value: "" }, DROP, { context: { arguments: { appId: teapot } } })).toEqual([
      "thé",
    ])
    expect((await completed({ name: "country", value: "" }, DROP))?.sort()).toEqual(["de", "fr", "us"])
  })

  test("completion is free and reveals nothing to strangers", async () => {
    const before = await spent()
    await completed({ name: "appId", value: "" })
    expect(await spent()).toBe(before)
    const stranger = await service.key(await service.workspace())
    const { completion } = await send(
      "completion/complete",
      { ref: DROP, argument: { name: "term", value: "" }, context: { arguments: { appId: kettle } } },
      { key: stranger },
    )
    expect(completion).toEqual({ values: [], total: 0, hasMore: false })
    const reviewer = await service.key(workspace, { scopes: ["reviews:read"] })
    const params = { ref: REVIEW, argument: { name: "appId", value: "" } }
    expect((await send("completion/complete", params, { key: reviewer })).completion.values).toEqual([])
  })

  test("completion returns the first hundred values and the total number", async () => {
    const other = await service.workspace()
    const many = Array.from({ length: 130 }, (_, i) => `term ${String(i).padStart(3, "0")}`)
    await trackOwn(sql, {
      workspaceId: other,
      iosId: "1437843275",
      name: "Many",
      keywords: many,
    })
    const params = { ref: DROP, argument: { name: "term", value: "term" } }
    const { completion } = await send("completion/complete", params, { key: await service.key(other) })
    expect(completion).toMatchObject({ total: 130, hasMore: true })
    expect(completion.values).toEqual(many.slice(0, 100))
  })

  test("completing an unknown argument is -32602", async () => {
    const refused = (params: object) => send("completion/complete", params)
    const argument = { name: "appId", value: "" }
    expect(await refused({ ref: { type: "ref/prompt", name: "nonsense" }, argument })).toBe(-32602)
    expect(await refused({ ref: { type: "ref/resource", uri: "appmeter://guide" }, argument })).toBe(-32602)
    expect(await refused({ ref: REVIEW, argument: { name: "term", value: "" } })).toBe(-32602)
    expect(await refused({ ref: REVIEW, argument: { name: "appId" } })).toBe(-32602)
    expect(await refused({ argument })).toBe(-32602)
  })
})

test("prompts, resources and completion require a key", async () => {
  for (const method of ["prompts/list", "prompts/get", "resources/list", "resources/read", "completion/complete"]) {
    const { status, body } = await post(service, request(method, { name: "weekly_review", uri: "appmeter://guide" }))
    expect([method, status, body.error.code]).toEqual([method, 401, -32001])
  }
})
