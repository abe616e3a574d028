/**
 * Returns the path of the first duplicate key, such as "apps[3].name"; null if there is none. JSON.parse silently takes
 * the last one. Linear in the length of the text.
 */
export function doubledKey(json: string): string | null {
  const open: Level[] = []
  for (let at = 0; at < json.length; at++) {
    const level = open.at(-1)
    switch (json[at]) {
      case "{":
        open.push({ first: null, otherKeys: null, last: "", isValue: false })
        break
      case "[":
        open.push({ last: 0 })
        break
      case "}":
      case "]":
        open.pop()
        break
      case ",":
        if (level && isList(level)) level.last++
        else if (level) level.isValue = false
        break
      case '"': {
        const end = endOf(json, at)
        if (level && !isList(level) && !level.isValue && !isNew(level, JSON.parse(json.slice(at, end + 1))))
          return pathOf(open)
        at = end
      }
    }
  }
  return null
}

type Level = OpenObject | OpenList

interface OpenObject {
  first: string | null
  /** Created for the second key, because most deeply nested objects have only one. */
  otherKeys: Set<string> | null
  last: string
  /** True after a key and before the next comma. */
  isValue: boolean
}

interface OpenList {
  last: number
}

function isList(level: Level): level is OpenList {
  return typeof level.last === "number"
}

function isNew(level: OpenObject, key: string): boolean {
  level.last = key
  level.isValue = true
  if (level.first === key || level.otherKeys?.has(key)) return false
  if (level.first === null) {
    level.first = key
    return true
  }
  level.otherKeys ??= new Set()
  level.otherKeys.add(key)
  return true
}

/** Returns the index of the closing quote of a string. */
function endOf(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    if (json[at] === "\\") at++
    else if (json[at] === '"') return at
  }
}

function pathOf(open: readonly Level[]): string {
  return open
    .map(({ last }) => (typeof last === "number" ? `[${last}]` : `.${last}`))
    .join("")
    .replace(/^\./, "")
}
