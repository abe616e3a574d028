import { beforeAll, describe, expect, test } from "bun:test"
import { gzipSync } from "node:zlib"
import { actions, catalog } from "../../src/catalog.ts"
import { fieldRows } from "../../src/docs/answer-fields.ts"
import { referencePages } from "../../src/docs/reference.ts"
import { faultsOf } from "../../src/http/openapi/responses.ts"
import { prepareSandbox } from "../../src/http/sandbox.ts"
import { FAULT_CODES, type FaultCode, UNIVERSAL_FAULTS } from "../../src/lib/faults.ts"
import { escapeHtml } from "../../src/ui/html.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

const { samples } = prepareSandbox(catalogWithSamples, fixturesWithSamples(), PUBLIC_URL)
const parts = { publicUrl: PUBLIC_URL, samples, actions, faultsOf }
const pages = new Map([...referencePages(catalogWithSamples, parts)].map(([address, make]) => [address, make()]))
const start = pages.get("/docs") as string
const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(start.slice(start.indexOf("<body>"))) ?? []

let service: Service

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})

describe("the reference", () => {
  test("the reference shows every operation with method, path, price and rights", () => {
    for (const { id, method, path, summary } of catalogWithSamples) {
      const section = sectionOf(id)
      expect(section).toContain(`>${method}</span> <code>${path.replaceAll(/:(\w+)/g, "{$1}")}</code>`)
      expect(section).toContain(escapeHtml(summary))
    }
    expect(sectionOf("whoami")).toContain("free of charge · no scope needed · every plan")
    expect(sectionOf("explorer_sample")).toContain("5 to 50 credits (5 a row) · scope hive:spy · every plan · Explorer")
    expect(sectionOf("studio_sample")).toContain("1 credit · scope ai:read · studio plan or above")
    expect(sectionOf("write_sample")).toContain("2 credits · scope of the action")
    for (const page of pages.values()) expect(page).not.toContain("undefined")
  })

  test("every page has a title of its own, and every operation a section on exactly one page", () => {
    const titles = [...pages.values()].map((page) => /<title>([^<]*)<\/title>/.exec(page)?.[1])
    expect(new Set(titles).size).toBe(pages.size)
    expect(titles).toEqual(expect.arrayContaining(["API reference · Appmeter", "Keywords: API reference · Appmeter"]))
    for (const { id, toolset } of catalogWithSamples) {
      const holders = [...pages].filter(([, page]) => page.includes(`<section id="${id}">`))
      expect([id, holders.map(([address]) => address)]).toEqual([id, [`/docs/${toolset}`]])
    }
  })

  test("every anchor of the former single page leads to the page that now contains its section", () => {
    const { ids } = readMarkup(start.replace(script, ""))
    const former = [
      "start",
      "any-call",
      "account",
      "your-apps",
      "revenue-and-ads",
      "hive",
      "writes",
      "actions",
      "tools",
    ]
    for (const id of [...former, ...catalog.map(({ id }) => id), ...actions.map(({ name }) => name)])
      expect(ids).toContain(id)
    for (const { id, toolset } of catalogWithSamples)
      expect(start).toContain(`<li id="${id}"><a href="/docs/${toolset}#${id}">`)
    for (const { name } of actions) expect(start).toContain(`<li id="${name}"><a href="/docs/writes#${name}">`)
  })

  test("every parameter and every answer field has an anchor, and every required parameter an example", () => {
    for (const { id, input, output } of catalogWithSamples) {
      const section = sectionOf(id)
      for (const [name, entry] of Object.entries(input.entries)) {
        const [, line = ""] = section.split(`<li id="${id}.in.${name}"><a href="#${id}.in.${name}">`)
        const [item = ""] = line.split("</li>")
        expect([id, name, item]).toEqual([id, name, expect.stringContaining(`<code>${name}</code>`)])
        const isRequired = entry.type !== "optional" && entry.type !== "nullish"
        expect([id, name, item.includes(" · example: <code>")]).toEqual([id, name, isRequired])
      }
      for (const { path } of fieldRows(output))
        expect(section).toContain(`<tr id="${id}.out.${path.replaceAll("[]", "")}">`)
    }
  })

  test("the outcomes of an operation list each of its codes, and 202 only if its work can continue", () => {
    for (const operation of catalogWithSamples) {
      const [, outcomes = ""] = /<p>Answers 200(.*)<\/p>/.exec(sectionOf(operation.id)) ?? []
      const named = [...outcomes.matchAll(/errors#(\w+)/g)].map(([, code]) => code as FaultCode)
      const all = [...named, ...UNIVERSAL_FAULTS].filter((code) => faultsOf(operation).includes(code))
      expect(all.sort()).toEqual(faultsOf(operation).toSorted())
      expect(named.filter((code) => (UNIVERSAL_FAULTS as readonly string[]).includes(code))).toEqual([])
      expect(outcomes.includes("202")).toBe(operation.pending === true)
    }
    const [, ofAny = ""] = /id="any-call"([\s\S]*?)<\/ul>/.exec(start) ?? []
    for (const code of UNIVERSAL_FAULTS) expect(ofAny).toContain(`/docs/errors#${code}"`)
    expect(sectionOf("hive_sample")).toContain('404 <a href="/docs/errors#not_measured"')
  })

  test("the reference shows every parameter and a sample answer of every operation", () => {
    for (const { id, input, path } of catalogWithSamples) {
      const section = sectionOf(id)
      const items = [
        ...section.matchAll(/<li id="[^"]*"><a [^>]*><code>(\w+)<\/code><\/a>\s<span class="quiet">([^<]*)/g),
      ]
      expect(items.map(([, name]) => name)).toEqual(Object.keys(input.entries))
      for (const [, name, facts] of items)
        expect(facts?.includes("in the path")).toBe(path.split("/").includes(`:${name}`))
      const [first] = Object.keys(samples.get(id)?.answer ?? {})
      expect(section).toMatch(
        new RegExp(`<summary>Sample answer</summary>\\s*<div class="code"><pre[^>]*>\\{\\s*"${first}":`),
      )
    }
  })

  test("without script, the form of a GET returns the sample answer, and a POST has no form", async () => {
    for (const { id, method, path } of catalog) {
      const [, form] = /<form action="([^"]*)"/.exec(sectionOf(id)) ?? []
      expect([id, form !== undefined]).toEqual([id, method === "GET"])
      if (form === undefined) continue
      const query = new URLSearchParams()
      for (const [, name = "", rest = "", options = ""] of sectionOf(id).matchAll(
        /<(?:input|select) name="(\w+)"([^>]*)>(<option.*?<\/select>)?/g,
      ))
        query.append(name, (/ value="([^"]*)"/.exec(rest) ?? /<option selected>([^<]*)</.exec(options))?.[1] ?? "")
      const { status, body } = await service.call(`${form}?${query}`)
      expect([id, status, body]).toEqual([id, 200, samples.get(id)?.answer])
      expect(sectionOf(id).match(/ readonly>/g)?.length ?? 0).toBe(path.split(":").length - 1)
    }
  })

  test("the table of contents lists every page, and the sections of the current page", () => {
    for (const [address, page] of pages) {
      const [, nav = ""] = /<nav class="contents"([\s\S]*?)<\/nav>/.exec(page) ?? []
      const chapters = [...nav.matchAll(/<a class="chapter" href="([^"]*)"/g)].map(([, href]) => href)
      expect(chapters).toEqual([...pages.keys()])
      expect(nav).toContain(`href="${address}" aria-current="page"`)
      const linked = [...nav.matchAll(/<li><a href="#([\w-]+)">/g)].map(([, id]) => id)
      const sections = [...page.matchAll(/<section id="(\w+)">/g)].map(([, id]) => id)
      expect(linked).toEqual(address === "/docs" ? ["any-call"] : sections)
    }
    expect(pages.get("/docs/keywords")).toContain(">GET /<wbr>apps/<wbr>{appId}/<wbr>keywords</a>")
  })

  test("the policy of the reference allows only its own script, style and origin", async () => {
    const { headers, text } = await service.call("/docs")
    const digests = (page: string, tag: string) =>
      [...page.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, "g"))].map(
        ([, inner = ""]) => `'sha256-${new Bun.CryptoHasher("sha256").update(inner).digest("base64")}'`,
      )
    expect(headers.get("content-security-policy")?.split("; ")).toEqual([
      "default-src 'none'",
      `style-src ${digests(text, "style").join(" ")}`,
      `script-src ${digests(text, "script").join(" ")}`,
      "connect-src 'self'",
      "img-src data:",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
    const errors = await service.call("/docs/errors")
    expect(errors.text.match(/<script/g)).toHaveLength(1)
    const errorsPolicy = errors.headers.get("content-security-policy")
    expect(errorsPolicy).toContain("form-action 'self'")
    expect(errorsPolicy).toContain(`; script-src ${digests(errors.text, "script")[0]}; `)
    expect(errorsPolicy).not.toMatch(/connect-src|unsafe/)
    expect(text.match(/<script/g)).toHaveLength(2)
    expect(text).not.toMatch(/ (?:style|on[a-z]+|src)="/)
  })

  test("every page of the reference has at most 50 KB, compressed as for a browser", () => {
    const large = [...pages].map(([address, page]) => ({ address, bytes: gzipSync(page).length }))
    expect(large.filter(({ bytes }) => bytes > 50 * 1_024)).toEqual([])
  })

  slow("every shown command of a GET works as pasted", async () => {
    for (const { id, method } of catalog) {
      if (method !== "GET") continue
      const words = shellWords(lineOf(id))
      expect([words.length, words[0]]).toEqual([2, "curl"])
      const url = new URL(words[1] as string)
      const { status, body } = await service.call(`${url.pathname}${url.search}`)
      expect([id, status, body]).toEqual([id, 200, samples.get(id)?.answer])
    }
  })

  test("a POST is shown with a key, because the sandbox does not answer it", () => {
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

  slow("the reference is well-formed, and every link leads to an existing page", async () => {
    const anchors = new Map<string, string[]>([["/docs/errors", FAULT_CODES]])
    const linked = new Set<string>()
    for (const [address, page] of pages) {
      const { unbalanced, bare, ids, hrefs } = readMarkup(page.replace(script, ""))
      expect([address, unbalanced, bare]).toEqual([address, [], []])
      expect(new Set(ids).size).toBe(ids.length)
      anchors.set(address, ids)
      for (const href of hrefs) if (!href.startsWith("data:")) linked.add(href.startsWith("#") ? address + href : href)
    }
    expect([...linked]).toEqual(expect.arrayContaining(["/v1/openapi.json", "/docs/errors", "/llms.txt"]))
    for (const href of linked) {
      const [address = "", anchor] = href.split("#")
      if (anchor !== undefined) expect([href, anchors.get(address)?.includes(anchor)]).toEqual([href, true])
      else if (!pages.has(address))
        expect([href, (await service.call(href)).status]).toEqual([href, href === "/app" ? 303 : 200])
    }
  })
})

function sectionOf(id: string): string {
  const page = [...pages.values()].find((text) => text.includes(`<section id="${id}">`))
  return page?.split(`<section id="${id}">`)[1]?.split("</section>")[0] as string
}

function lineOf(id: string): string {
  return unescaped(/<pre>(.*)<\/pre>/.exec(sectionOf(id))?.[1] as string)
}

function unescaped(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
}

/** Splits a command into words as a shell does, without expansions. */
function shellWords(line: string): string[] {
  const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${line}`], { env: { APPMETER_KEY: "$APPMETER_KEY" } })
  return stdout.toString().trimEnd().split("\n")
}

describe("calls in other languages", () => {
  // all calls run in one process, each in its own scope, because seventy starts would take most of the time
  const runners = {
    JavaScript: [
      process.execPath,
      "-e",
      `const Line = (async () => {}).constructor
      for (const line of await Bun.stdin.json()) await new Line(line)()`,
    ],
    Python: ["python3", "-c", "import json, sys\nfor line in json.load(sys.stdin): exec(line, {})"],
  } as const

  slow.each(Object.keys(runners) as (keyof typeof runners)[])(
    "%s sends the same requests as curl",
    async (language) => {
      const [program, ...options] = runners[language]
      // Python calls are skipped if Python is not installed
      if (Bun.which(program) === null) return
      const requests: { path: string; key: string | null; body: unknown }[] = []
      const server = Bun.serve({
        port: 0,
        async fetch(request) {
          const { pathname, search } = new URL(request.url)
          const body = request.method === "POST" ? await request.json() : null
          requests.push({ path: pathname + search, key: request.headers.get("authorization"), body })
          return Response.json({ said: true })
        },
      })
      const lines = catalog.map(({ id }) => {
        const [, opened = ""] = sectionOf(id).split(`<summary>${language}</summary>`)
        const [, body = ""] = /<pre>([\s\S]*?)<\/pre>/.exec(opened) ?? []
        return unescaped(body).replaceAll(PUBLIC_URL, server.url.origin)
      })
      const env = { ...process.env, APPMETER_KEY: "svc_live_mine" }
      const stdin = new Blob([JSON.stringify(lines)])
      const child = Bun.spawn([program, ...options], { env, stdin, stderr: "pipe" })
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      expect([await child.exited, err]).toEqual([0, ""])
      expect(out.match(/said/g)).toHaveLength(catalog.length)
      expect(requests).toHaveLength(catalog.length)
      for (const [at, { id }] of catalog.entries()) {
        const words = shellWords(lineOf(id))
        const post = words.includes("-d")
        expect(requests[at]).toEqual({
          path: (words.at(-1) as string).replace(PUBLIC_URL, ""),
          key: post ? "Bearer svc_live_mine" : null,
          body: post ? JSON.parse(words.at(-2) as string) : null,
        })
      }
      await server.stop(true)
    },
  )
})
