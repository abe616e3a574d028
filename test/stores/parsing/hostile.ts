import { islandsOf, put } from "./islands.ts"
import type { Parsed } from "./parsed.ts"

/** A hostile body that could block a reader or fill its memory, in any size. */
export interface HostileForm {
  name: string
  /** Approximate number of characters. */
  body(size: number): string
}

/** Units to repeat: starts of patterns and anything that a parser gives meaning to. */
const UNITS: Record<string, string> = {
  "scripts left open": "<script>",
  "scripts of blocks left open": "<script>AF_initDataCallback({key: 'ds:4', hash: '1', data:",
  "scripts of blocks": "<script>AF_initDataCallback({key: 'ds:4', hash: '1', data:[0], sideChannel: {}});</script>",
  "scripts of nothing": "<script></script>",
  "scripts without an end of their tag": "<script ",
  "names of the data": '<script id="serialized-server-data',
  "linked data left open": '<script type="application/ld+json">',
  "linked data": '<script type="application/ld+json">{}</script>',
  "tables left open": "AF_dataServiceRequests = {",
  "rows of a table": "'ds:4' : {id:'lGYRle'},",
  "canonical links": ' <link rel="canonical" ',
  "titles left open": "<title>",
  "tags left open": "<",
  "ends of tags": ">",
  "ends of nothing": "</",
  elements: "<a>",
  "empty elements": "<a/>",
  "elements within elements": "<dict><key>a</key>",
  attributes: ' a="b"',
  entries: "<entry></entry>",
  instructions: "<?xml ",
  entities: "&amp;",
  "numbered entities": "&#65;",
  "entities left open": "&",
  "ends of literal text": "]]>",
  "white space": " ",
  "line ends": "\n",
  returns: "\r",
  quotes: '"',
  apostrophes: "'",
  backslashes: "\\",
  "escaped quotes": '\\"',
  "arrays within arrays": "[",
  "objects within objects": '{"a":',
  "empty arrays": "[],",
  "empty objects": "{},",
  numbers: "1,",
  digits: "9",
  "empty texts": '"",',
  letters: "a",
  words: "ab ",
  accents: "e\u0301",
  marks: "\u0301\u0316",
  "signs of four bytes": "\ud83d\ude00",
  "nothing characters": "\0",
  "beginnings of a proof": "unusual traffi",
  "beginnings of a refusal": "access to this page has been ",
  addresses: "https://apps.apple.com/us/app/",
  commas: ",",
}

/** Units that have a meaning only inside other text: the text before, the repeated unit, the text after. */
const WITHIN: Record<string, [before: string, unit: string, after: string]> = {
  "a table of escaped quotes": ['<script>AF_dataServiceRequests = {"', '\\"', "</script>"],
  "a table of texts": ["<script>AF_dataServiceRequests = {", '"a",', "</script>"],
  "a table of requests": ["<script>AF_dataServiceRequests = {", "'ds:4' : {id:'lGYRle',request:[", "</script>"],
  "a table of a request": ["<script>AF_dataServiceRequests = {'ds:4' : {id:'lGYRle',request:", "[", "</script>"],
  "countries of a page": ["<script>WIZ_global_data = {", '"fjF0tb":"US",', "</script>"],
  "a table of rows": ["<script>AF_dataServiceRequests = {", "'ds:4' : {id:'lGYRle'},", "</script>"],
  "a table of a long name": ["<script>AF_dataServiceRequests = {'ds:4' : {id:'", "a", "</script>"],
  "a block of arrays": [
    "<script>AF_initDataCallback({key: 'ds:4', hash: '1', data:",
    "[",
    ", sideChannel: {}});</script>",
  ],
  "a block of texts": [
    "<script>AF_initDataCallback({key: 'ds:4', hash: '1', data:[",
    '"a",',
    "0], sideChannel: {}});</script>",
  ],
  "embedded arrays": ['<script type="application/json" id="serialized-server-data">', "[", "</script>"],
  "embedded empty objects": ['<script type="application/json" id="serialized-server-data">[', "{},", "0]</script>"],
  "embedded pages": [
    '<script type="application/json" id="serialized-server-data">[',
    '{"data":{"shelfMapping":{}}},',
    "0]</script>",
  ],
  "embedded shelves": [
    '<script type="application/json" id="serialized-server-data">[{"data":{"shelves":[',
    '{"contentType":"searchResult","items":[]},',
    "0]}}]</script>",
  ],
  "a list of empty arrays": ["[", "[],", "0]"],
  "a list of empty objects": ["[", "{},", "0]"],
  "a list of texts": ["[", '"a",', "0]"],
  "an object of one name": ["{", '"a":1,', '"b":1}'],
  results: ['{"resultCount":1,"results":[', "{},", "0]}"],
  "entries of a feed": ['{"feed":{"entry":[', "{},", "0]}}"],
  "an answer of batchexecute": [")]}'\n[", '["wrb.fr","UsvDTd","[]"],', "0]"],
  "an answer of arrays": [')]}\'\n[["wrb.fr","UsvDTd","', "[", '"]]'],
  "a list of hints": [
    '<plist version="1.0"><dict><key>hints</key><array>',
    "<string>a</string>",
    "</array></dict></plist>",
  ],
  "a hint of entities": [
    '<plist version="1.0"><dict><key>hints</key><array><string>',
    "&amp;",
    "</string></array></dict></plist>",
  ],
  "a hint of marks": [
    '<plist version="1.0"><dict><key>hints</key><array><string>a',
    "\u0301\u0316",
    "</string></array></dict></plist>",
  ],
  "a list of keys": ['<plist version="1.0"><dict>', "<key>a</key><true/>", "</dict></plist>"],
  "lists within lists": ['<plist version="1.0">', "<array>", "</plist>"],
  "a feed of elements": ["<feed>", "<a/>", "</feed>"],
  "a feed of entities": ["<feed><id>", "&#65;", "</id></feed>"],
  "a feed of returns": ["<feed><id>", "\r", "</id></feed>"],
  "a feed of attributes": ["<feed", ' a="b"', "></feed>"],
  "a feed of elements within elements": ["<feed>", "<a>", "</feed>"],
  "a feed of entries": ["<feed>", "<entry><id>1</id></entry>", "</feed>"],
  "white space before a page": ["", " ", "<html>"],
  "white space before an object": ["", "\n", "{}"],
  "an instruction of white space": ["<?xml", " ", "<feed>"],
  "a tag of white space": ["<plist", " ", "<dict>"],
  "a link of white space": ['<link rel="canonical"', " ", ">"],
  "a link of links": ['<link rel="canonical" ', ' href="https://apps.apple.com/', ">"],
}

const times = (unit: string, size: number) => unit.repeat(Math.max(1, Math.floor(size / unit.length)))

/** Bodies that consist of one repeated unit. */
export const FLOODS: readonly HostileForm[] = [
  ...Object.entries(UNITS).map(([name, unit]) => ({ name: `only ${name}`, body: (size: number) => times(unit, size) })),
  ...Object.entries(WITHIN).map(([name, [before, unit, after]]) => ({
    name,
    body: (size: number) => before + times(unit, size) + after,
  })),
]

/** Bodies of repeated lines. */
export const LINES: readonly HostileForm[] = [
  "a.b,c,DIRECT\n",
  "#\n",
  "a=b\n",
  "MANAGERDOMAIN=a.b\n",
  "a.b;",
  "a.b,c,DIRECT;\r",
  `${"a.".repeat(120)}b,c,DIRECT\n`,
]
  .map((line) => ({ name: `lines of ${JSON.stringify(line.slice(0, 20))}`, body: (size: number) => times(line, size) }))
  .concat({ name: "records that differ", body: (size) => numbered((at) => `a${at}.b,c${at},DIRECT\n`, size) })
  .concat({ name: "values that differ", body: (size) => numbered((at) => `MANAGERDOMAIN=a${at}.b\n`, size) })

function numbered(line: (at: number) => string, size: number): string {
  return Array.from({ length: Math.ceil(size / line(999_999).length) }, (_, at) => line(at)).join("")
}

/** Returns valid bodies with a flood before, within or after. */
export function intrusions(body: string, places: readonly number[]): HostileForm[] {
  return Object.entries(UNITS).flatMap(([name, unit]) =>
    places.map((place) => ({
      name: `${name} at ${place}`,
      body: (size: number) => body.slice(0, place) + times(unit, size) + body.slice(place),
    })),
  )
}

/** Returns valid bodies in which one text of the JSON is very long. */
export function longTexts(body: string, as: Parsed["as"], units = Object.keys(UNITS)): HostileForm[] {
  return islandsOf(body, as).flatMap((island, which) =>
    textPaths(island.value).flatMap((path) =>
      units.map((name) => ({
        name: `${name} as island ${which} ${path.join(".")}`,
        // The suffix makes a backtracking pattern try everything again.
        body: (size: number) => put(body, island, withText(island.value, path, `${times(UNITS[name]!, size)} \\1 "!`)),
      })),
    ),
  )
}

/** Returns one path of each kind. */
export function textPaths(value: unknown): string[][] {
  const found = new Map<string, string[]>()
  const open: { node: unknown; path: string[]; kind: string }[] = [{ node: value, path: [], kind: "" }]
  for (const { node, path, kind } of open) {
    if (typeof node === "string" && !found.has(kind)) found.set(kind, path)
    if (typeof node !== "object" || node === null) continue
    for (const [key, child] of Object.entries(node)) {
      const alike = Array.isArray(node) && node.every((item) => typeof item === typeof node[0])
      open.push({ node: child, path: [...path, key], kind: `${kind}.${alike ? "#" : key}` })
    }
  }
  return [...found.values()]
}

export function withText(value: unknown, [next, ...rest]: string[], text: string): unknown {
  if (next === undefined) return text
  const child = withText((value as Record<string, unknown>)[next], rest, text)
  return Array.isArray(value) ? value.with(Number(next), child) : { ...(value as object), [next]: child }
}
