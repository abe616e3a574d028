/**
 * Where an object has a key for the second time, as "apps[3].name"; null where none does. JSON.parse would take the last
 * and say nothing. The text must be JSON. Takes time with the text's length, however deep it is.
 */
export function doubledKey(json: string): string | null {
  const open: Level[] = []
  for (let at = 0; at < json.length; at++) {
    const level = open.at(-1)
    switch (json[at]) {
      case "{":
        open.push({ keys: new Set(), last: "" })
        break
      case "[":
        open.push({ keys: null, last: 0 })
        break
      case "}":
      case "]":
        open.pop()
        break
      case ",":
        if (level?.keys === null) level.last++
        else if (level) level.isValue = false
        break
      case '"': {
        const end = endOf(json, at)
        if (level?.keys && !level.isValue) {
          const key = JSON.parse(json.slice(at, end + 1)) as string
          level.last = key
          if (level.keys.has(key)) return pathOf(open)
          level.keys.add(key)
          level.isValue = true
        }
        at = end
      }
    }
  }
  return null
}

/** An object with its keys, or a list, that is not closed yet; `last` is where in it. */
type Level = { keys: Set<string>; last: string; isValue?: boolean } | { keys: null; last: number }

/** Where the text ends that begins there: at its closing quote. */
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
