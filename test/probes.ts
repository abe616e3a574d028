/** A parameter as test/contract/operations.json describes it. */
export interface ContractParameter {
  name: string
  in: "path" | "query" | "body"
  type: string
  required: boolean
  code: string
  default?: unknown
  /** "empty = …": what an empty text means. */
  defaultNote?: string
  min?: number
  max?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  enum?: string[]
  keys?: string[]
  reportsOver?: number
}

interface Probes {
  good: unknown[]
  bad: unknown[]
  absent: "refused" | { default: unknown }
}

/** Returns values around every limit in the contract, each with its expected result. */
export function probes(parameter: ContractParameter): Probes {
  const found: Probes = {
    good: [],
    // no type in the contract accepts both
    bad: parameter.type === "object" ? ["text"] : [{ nested: true }],
    absent: parameter.required ? "refused" : { default: parameter.default },
  }
  for (const add of [ofType, ofNumber, ofText, ofList, ofChoice]) add(parameter, found)
  return found
}

function ofType({ type, defaultNote, enum: offered }: ContractParameter, { good, bad }: Probes): void {
  const [ofAny, never] = BY_TYPE[type] ?? [[], []]
  // a store that this call does not support
  const isOffered = (value: unknown) => type !== "platform" || !offered || offered.includes(value as string)
  const [right, wrong] = [ofAny.filter(isOffered), [...never, ...ofAny.filter((value) => !isOffered(value))]]
  const mayBeEmpty = defaultNote?.startsWith("empty =") ?? false
  good.push(...right, ...(mayBeEmpty ? [""] : []))
  bad.push(...wrong.filter((value) => !(mayBeEmpty && value === "")))
}

const BY_TYPE: Record<string, [good: unknown[], bad: unknown[]]> = {
  string: [[], [42, true]],
  country: [
    ["us", "US", "de", "tr"],
    ["zz", "usa", "u", "", 1],
  ],
  platform: [
    ["ios", "android"],
    ["windows", "IOS", ""],
  ],
  timezone: [
    ["UTC", "Europe/Istanbul"],
    ["Mars/Olympus", ""],
  ],
  date: [["2025-02-28"], ["2025-02-30", "28.2.2025", 20_250_228]],
  number: [[], ["many", Number.NaN]],
  integer: [[], ["many", 1.5]],
  boolean: [
    [true, false],
    ["yes", 1],
  ],
  "string[]": [[], [[42]]],
  object: [[{}], [[1], []]],
}

function ofNumber({ min, max }: ContractParameter, { good, bad }: Probes): void {
  for (const bound of [min, max]) if (bound !== undefined) good.push(bound)
  if (min !== undefined) bad.push(min - 1)
  if (max !== undefined) bad.push(max + 1)
}

/** Lengths are counted in code points. */
function ofText({ minLength, maxLength, reportsOver }: ContractParameter, { good, bad }: Probes): void {
  if (minLength !== undefined) bad.push("x".repeat(minLength - 1))
  if (maxLength !== undefined) {
    good.push("x".repeat(maxLength), "😀".repeat(maxLength))
    bad.push("x".repeat(maxLength + 1))
  }
  if (reportsOver !== undefined) good.push("x".repeat(reportsOver + 1))
}

function ofList({ minItems, maxItems, uniqueItems, ...rest }: ContractParameter, { bad }: Probes): void {
  const items = (count: number) => Array.from({ length: count }, (_, i) => rest.enum?.[i] ?? `item${i}`)
  if (minItems !== undefined) bad.push(items(minItems - 1))
  if (maxItems !== undefined) bad.push(items(maxItems + 1))
  if (uniqueItems) bad.push([...items(1), ...items(1)])
}

function ofChoice({ type, enum: choices, keys }: ContractParameter, { good, bad }: Probes): void {
  const spelled = (choice: string) => (type === "string[]" ? [choice] : choice)
  good.push(...[...(choices ?? []), ...(keys ?? [])].map(spelled))
  if (choices) bad.push(spelled("no such choice"))
}
