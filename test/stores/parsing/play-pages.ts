import type { About } from "../../../src/measuring/source.ts"

export const about: About = { seenAt: new Date("2026-07-07T12:00:00Z"), sha256: new Uint8Array(32) }

interface Block {
  key: string
  rpc?: string
  request?: unknown
  data: unknown
}

/** Returns a page in the recorded form: its country, its table of RPCs, and the blocks. */
export function pageOf(blocks: Block[], { rest = "", country = "US" } = {}): string {
  const settings = `<script>window.WIZ_global_data = {"fjF0tb":"${country}","zQmIje":"${country}"};</script>`
  const calls = blocks.flatMap(({ key, rpc, request = ["it's", [1]] }) =>
    rpc ? [`'${key}' : {id:'${rpc}',request:${JSON.stringify(request)}}`] : [],
  )
  const requests = `{${calls.join(",")}}`
  const table = `<script>var AF_initDataKeys = []; var AF_dataServiceRequests = ${requests}; var AF_x = [];</script>`
  const scripts = blocks.map(
    ({ key, data }) =>
      `<script class="${key}" nonce="n">AF_initDataCallback({key: '${key}', hash: ` +
      `'1', data:${scriptJson(data)}, sideChannel: {}});</script>`,
  )
  return (
    "<!doctype " +
    `html><html><head>${settings}${calls.length > 0 ? table : ""}</head><body>${rest}${scripts.join("")}</body></` +
    "html>"
  )
}

/** Returns JSON in the pages' script encoding. */
export function scriptJson(data: unknown): string {
  return JSON.stringify(data).replace(/[<>&=']/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)
}

/** Returns the data of a block of a recorded page. */
export function blockData(page: string, key: string): unknown {
  const start = page.indexOf(`AF_initDataCallback({key: '${key}'`)
  const script = page.slice(start, page.indexOf("</script", start))
  return JSON.parse(script.slice(script.indexOf("data:") + 5, script.lastIndexOf(", sideChannel:")))
}

/** Returns the page with other data in one block. */
export function withData(page: string, key: string, data: unknown): string {
  const start = page.indexOf(`AF_initDataCallback({key: '${key}'`)
  const from = page.indexOf("data:", start) + 5
  const to = page.lastIndexOf(", sideChannel:", page.indexOf("</script", start))
  return page.slice(0, from) + scriptJson(data) + page.slice(to)
}

/** Returns the page with other block numbers, in the table and the scripts. */
export function renumbered(page: string, numberOf: (old: number) => number): string {
  return page.replace(/\bds:(\d+)/g, (_, old) => `ds:${numberOf(Number(old))}`)
}

/** Returns the page with its blocks in reverse order. */
export function reversed(page: string): string {
  const blocks = page.match(/<script[^<>]*>AF_initDataCallback\([^<]*<\/script>/g) ?? []
  return blocks
    .reduce((text, block, place) => text.replace(block, () => `@${place}@`), page)
    .replace(/@(\d+)@/g, (_, place) => blocks[blocks.length - 1 - Number(place)] as string)
}

export interface SearchRow {
  id: string
  name?: string | null
  link?: string
  rating?: number
  label?: string
}

/** Returns a section of search results in the recorded form. */
export function listSection(rows: SearchRow[], { name = "search_results_cluster_apps_range_0_30", heading = "" } = {}) {
  const items = rows.map((row) => [rowOf(row)])
  return sparse({ 3: ["cluster", name ? [[name, 2], null, null, 0] : null], 22: [items, [heading]] })
}

/** Returns a section for the app that the term names. */
export function cardSection({ id, name = id, link = linkOf(id), rating }: SearchRow) {
  const listing = sparse({
    0: [name],
    51: rating && [[String(rating), rating]],
    68: ["Its maker"],
    95: [pictureOf(id)],
  })
  const answer = [null, null, listing, { "12": [[id, 7]] }]
  const head = [[null, null, null, null, [null, null, link]]]
  return sparse({ 3: ["card"], 23: sparse({ 16: answer, 17: [head] }) })
}

/** Returns the data of the search block. */
export function searchData(sections: unknown[]): unknown {
  return [[null, sections, null, [null, "x"], 0, ["y"]], ["z"], null, []]
}

function rowOf({ id, name = id, link = linkOf(id), rating, label }: SearchRow): unknown[] {
  const score = rating === undefined ? [] : [String(rating), rating]
  const links = [null, null, null, null, [null, null, link]]
  return sparse({
    0: [id, 7],
    1: pictureOf(id),
    3: name,
    4: score,
    9: label && [label],
    10: links,
    14: "A maker",
    15: "10+",
  })
}

function pictureOf(id: string): unknown[] {
  return [null, 2, [512, 512], [null, null, `https://play-lh.googleusercontent.com/${id}`]]
}

function linkOf(id: string): string {
  return `/store/apps/details?id=${id}`
}

function sparse(places: Record<number, unknown>): unknown[] {
  const length = Math.max(...Object.keys(places).map(Number)) + 1
  return Array.from({ length }, (_, place) => places[place] ?? null)
}

/** Returns the page with another country's name in its settings. */
export function inCountry(page: string, country: string): string {
  return page.replace(/"(fjF0tb|zQmIje)":"US"/g, (_, name) => `"${name}":"${country}"`)
}

/** Returns the recorded page of panda as the page of another term. */
export function pageForTerm(page: string, term: string): string {
  return page
    .replace('<title id="main-title">panda', () => `<title id="main-title">${term}`)
    .replace('["panda",4,', () => `[${JSON.stringify(term)},4,`)
    .replace('["panda"],4,', () => `[${JSON.stringify(term)}],4,`)
}
