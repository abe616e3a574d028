import { pick, type Random } from "./mutations.ts"

type Container = unknown[] | Record<string, unknown>

/** Paths in a value by kind of place (the rows of a list are one kind), some of each kind. */
export type Places = string[][][]

export function placesIn(value: unknown): Places {
  const kinds = new Map<string, string[][]>()
  const look = (node: unknown, kind: string, path: string[]) => {
    const container = opened(node)
    if (!container) return
    const alike =
      Array.isArray(container) && container.every((item) => typeof item !== "object" || !Array.isArray(item))
    for (const [key, child] of Object.entries(container)) {
      const childKind = `${kind}.${alike ? "#" : key}`
      const paths = kinds.get(childKind) ?? []
      if (paths.length < 12) paths.push([...path, key])
      kinds.set(childKind, paths)
      look(child, childKind, [...path, key])
    }
  }
  look(value, "", [])
  return [...kinds.values()]
}

/**
 * Returns the value with one edit, mostly at one of the places. The input is not modified; unchanged parts are shared.
 */
export function editedValue(value: unknown, places: Places, random: Random, editNames: string[]): unknown {
  const isInside = places.length > 0 && random() < 0.85
  return editedAlong(value, isInside ? pick(random, pick(random, places)) : [], random, editNames, "")
}

function editedAlong(
  value: unknown,
  [next, ...rest]: string[],
  random: Random,
  editNames: string[],
  path: string,
): unknown {
  const container = opened(value)
  const keys = container ? Object.keys(container) : []
  if (!container || keys.length === 0) return editedOf(value, random, editNames, path)
  const led = next !== undefined && Object.hasOwn(container, next)
  const key = led ? next : pick(random, keys)
  const child = (container as Record<string, unknown>)[key]
  const deeper = led ? rest.length > 0 : random() < 0.8
  const changed =
    deeper && opened(child)
      ? withChild(container, key, editedAlong(child, rest, random, editNames, `${path}.${key}`))
      : editedAt(container, key, random, editNames, `${path}.${key}`)
  return typeof value === "string" ? JSON.stringify(changed) : changed
}

/** Returns an array or object, also from a text that contains one as JSON. */
function opened(value: unknown): Container | undefined {
  if (typeof value === "object" && value !== null) return value as Container
  if (typeof value !== "string" || !/^[[{]/.test(value)) return undefined
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function withChild(container: Container, key: string, child: unknown): Container {
  return Array.isArray(container) ? container.with(Number(key), child) : { ...container, [key]: child }
}

/** Returns the container with the child at a key removed, renamed, moved or changed. */
function editedAt(container: Container, key: string, random: Random, editNames: string[], path: string): Container {
  const sibling = pick(random, Object.keys(container))
  const fields = container as Record<string, unknown>
  switch (Math.floor(random() * 9)) {
    case 0:
      editNames.push(`${path} removed`)
      return withoutChild(container, key)
    case 1:
      editNames.push(`${path} renamed`)
      if (Array.isArray(container)) return [...container.toSpliced(Number(key), 1), fields[key]]
      return {
        ...withoutChild(container, key),
        [pick(random, [`${key}s`, `_${key}`, key.toUpperCase(), sibling])]: fields[key],
      }
    case 2:
      editNames.push(`${path} replaced by ${sibling}`)
      return withChild(container, key, fields[sibling])
    case 3:
      editNames.push(`${path} swapped with ${sibling}`)
      return withChild(withChild(container, key, fields[sibling]), sibling, fields[key])
    case 4:
      editNames.push(`${path} beside odd keys`)
      return Array.isArray(container)
        ? [null, ...container]
        : { ...container, toString: 1, length: -1, constructor: null }
    default:
      return withChild(container, key, editedOf(fields[key], random, editNames, path))
  }
}

function withoutChild(container: Container, key: string): Container {
  if (Array.isArray(container)) return container.toSpliced(Number(key), 1)
  const { [key]: _, ...rest } = container
  return rest
}

const ODD = [null, true, false, 0, -1, 1.5, 1e21, "", " ", "0", "1e3", "null", [], {}, [[]], [null], "__proto__"]

/** Returns another value, usually of the same type. */
function editedOf(value: unknown, random: Random, editNames: string[], path: string): unknown {
  const drawn = random()
  if (drawn < 0.3) {
    const odd = pick(random, ODD)
    editNames.push(`${path} = ${JSON.stringify(odd)}`)
    return odd
  }
  if (drawn < 0.4) {
    editNames.push(`${path} wrapped`)
    return pick(random, [[value], [[value]], { value }, { data: [value] }, { 0: value }])
  }
  editNames.push(`${path} changed`)
  if (typeof value === "string") return editedString(value, random)
  if (typeof value === "number")
    return pick(random, [String(value), -value, value + 0.5, value * 1_000, value * 1e9, 0])
  if (Array.isArray(value)) return editedArray(value, random)
  if (typeof value === "object" && value !== null) return pick(random, [{}, Object.values(value), Object.keys(value)])
  return pick(random, ODD)
}

function editedString(value: string, random: Random): unknown {
  const cut = Math.floor(random() * value.length)
  return pick(random, [
    value.slice(0, cut),
    value.slice(cut),
    value + value,
    value.toUpperCase(),
    value.split("").reverse().join(""),
    `${value}\0`,
    `${value.slice(0, cut)}\ud83d${value.slice(cut)}`,
    ` ${value} `,
    `${value}::1`,
    `-${value}`,
    `0${value}`,
    `${value}</script>`,
    `&quot;${value}&amp;`,
    value.repeat(60),
    value.replace(/\d/g, "٣"),
    value.replace(/[a-z]/g, "{"),
    Number(value),
    [value],
    value.split(""),
    `${value}.5`,
    value.replace(/^https?:/, "javascript:"),
  ])
}

function editedArray(value: unknown[], random: Random): unknown {
  const half = Math.floor(value.length / 2)
  return pick(random, [
    [],
    value.slice(0, half),
    value.slice(half),
    [...value, ...value],
    value.toReversed(),
    [value],
    [...value, null],
    value.toSorted(() => random() - 0.5),
    Array.from({ length: 300 }, () => value[0]),
    Object.fromEntries(value.entries()),
    value.flatMap((item) => [item, item]),
    JSON.stringify(value),
    value.length,
    { ...value, length: value.length },
  ])
}
