import { DEVELOPER, dayBefore, IOS_RIVALS, KETTLE, TEA, TERMS } from "./readings.ts"

export interface Operation {
  id: string
  method: string
  path: string
  parameters: Parameter[]
  hasBody: boolean
  /** An example of the body. */
  example?: unknown
  hasTable: boolean
}

export interface Parameter {
  name: string
  in: string
  required: boolean
  schema: Schema
}

export interface Schema {
  type?: string | string[]
  enum?: unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  format?: string
  items?: Schema
}

/** Returns the value that a call sends for a parameter unless the call is about this parameter. */
export function typical(
  { id, path }: Operation,
  { name, schema }: Parameter,
  { app, now }: { app: string; now: Date },
): string {
  if (name === "appId") return path.startsWith("/apps/{appId}") ? `@{${app}}` : TEA.id
  if (name === "id") return id === "fetch" ? `app:@{${app}}` : TEA.id
  if (name === "app") return TEA.id
  return goodValues({ id, path } as Operation, { name, schema } as Parameter, now)[0] ?? "1"
}

export function goodValues({ id }: Pick<Operation, "id">, { name, schema }: Parameter, now: Date): string[] {
  const named: Record<string, string[]> = {
    appId: [],
    app: [TEA.id, KETTLE.id, TEA.pkg, `https://apps.apple.com/us/app/x/id${TEA.id}`, "888888888"],
    term: [TERMS.present[0]!, "  Green  TEA ", TERMS.absent[0]!],
    seed: [TERMS.present[1]!, TERMS.unmeasured[0]!],
    q: ["tea timer", "zzz nothing", TEA.id, "update"],
    ids: [`${TEA.id},${KETTLE.id}`, `${TEA.id},888888888`, [TEA.id, ...IOS_RIVALS.slice(0, 4)].join(",")],
    country: ["us", "GB", "jp"],
    cc: ["us", "GB", "jp"],
    rivalId: [IOS_RIVALS[2]!],
    publisherId: [DEVELOPER, "710634001", "999999999"],
    genre: id === "get_search_popularity" ? ["FOOD_DRINK", "GAMES"] : ["36", "6023", "6014"],
    locale: ["de-DE", "fr-FR", "de_DE"],
    reviewId: ["11000520", "11000521", "nothere"],
    note: ["be brief"],
    version: ["4.2", "9.9"],
    rating: ["1", "4,5"],
    terms: ["green tea,brew", "nothing"],
    compare: ["gb,de"],
    tz: ["Europe/Berlin", "America/Los_Angeles", "UTC"],
    campaign: ["444555666", "1"],
    product: ["6702026751", "TEA01.pro.year", "nothing"],
    text: ["tea", "zzz"],
    publisher: [DEVELOPER, "Example Ltd"],
    jobId: ["job_nothere000000"],
    cursor: [],
    day: [dayBefore(now, 10), dayBefore(now, 1), dayBefore(now, 0)],
    from: [dayBefore(now, 12), dayBefore(now, 400)],
    to: [dayBefore(now, 3), dayBefore(now, -5)],
    window: ["3", "7", "14"],
  }
  const listed = named[name] ?? []
  if (schema.enum) return schema.enum.map(String)
  if (listed.length > 0 || name === "cursor") return listed
  if (schema.items?.enum) {
    const all = schema.items.enum.map(String)
    return [all[0]!, all.slice(0, 3).join(","), all.join(",")]
  }
  if (schema.type === "boolean") return ["true", "false"]
  if (schema.type === "integer" || schema.type === "number")
    return [...new Set([schema.minimum ?? 0, Math.min(7, schema.maximum ?? 7), schema.maximum ?? 1_000_000])].map(
      String,
    )
  return []
}

export function badValues({ name, in: place, schema }: Parameter): string[] {
  const long = "a".repeat(Math.min(schema.maxLength ?? 2_000, 2_000) + 1)
  const empty = place === "path" ? [] : [""]
  if (schema.enum) return [...empty, "bogus"]
  if (schema.type === "integer" || schema.type === "number")
    return [...empty, String((schema.minimum ?? 0) - 1), String((schema.maximum ?? 1e12) + 1), "1.5", "abc"]
  if (schema.type === "boolean") return [...empty, "maybe", "1"]
  if (schema.format === "date") return [...empty, "2026-02-30", "yesterday"]
  if (schema.type === "array") return [...empty, "bogus%", "a,a", `${"x,".repeat(450)}x`]
  if (/^(country|cc)$/.test(name)) return [...empty, "uk", "zz", "usa", "1"]
  return [...empty, long, "bad\u0000", "../x"]
}

export function typed(value: string, schema: Schema): unknown {
  if (schema.type === "integer" || schema.type === "number") return Number(value)
  if (schema.type === "boolean") return value === "true"
  if (schema.type === "array") return value.split(",").map((item) => typed(item, schema.items ?? {}))
  return value
}
