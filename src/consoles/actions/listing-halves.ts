import type { SendPort } from "../../jobs/outside.ts"
import type { PlatformChange, PlatformWay } from "../../lib/accounts/platform.ts"
import { Fault } from "../../lib/faults.ts"
import { resourceIn, textOf } from "../writing/console-documents.ts"
import { type FieldName, fieldsOf, type Half, type Texts } from "./listing-fields.ts"
import type { ListingQuestion, SeenListing } from "./listing-target.ts"
import { sameText } from "./same-text.ts"

/** One of the two requests of an edit. */
interface HalfWrite {
  half: Half
  /** Id of the localization. Null if it has to be created. */
  localization: string | null
  /** Id of the version, or of the app's information. */
  owner: string
  names: FieldName[]
}

const TYPES = {
  info: { type: "appInfoLocalizations", owner: "appInfo", ownerType: "appInfos" },
  version: { type: "appStoreVersionLocalizations", owner: "appStoreVersion", ownerType: "appStoreVersions" },
} as const

/**
 * Returns the requests that change something: first the app's information, which has stricter rules, then the version.
 */
export function halfWritesOf({ fields, open }: ListingQuestion, seen: SeenListing): HalfWrite[] {
  return (["info", "version"] as const).flatMap((half) => {
    const here = seen[half]
    if (!here) return []
    const changed = fieldsOf(half, fields).filter((name) => !sameText(seen.texts[name] ?? null, fields[name] ?? null))
    const isAdded = open && here.localization === null
    if (changed.length === 0 && !isAdded) return []
    return [{ half, localization: here.localization, owner: here.id, names: changed }]
  })
}

/**
 * Sends the requests one after the other. If the second is refused, restores the texts that the first changed and
 * rethrows, so that nothing has changed. If the outcome of a request is uncertain, ends the write immediately and
 * restores nothing.
 */
export async function sendHalves(
  way: PlatformWay,
  question: ListingQuestion,
  seen: SeenListing,
  port: SendPort,
): Promise<void> {
  const standing: { write: HalfWrite; localization: string }[] = []
  for (const write of halfWritesOf(question, seen)) {
    try {
      standing.push({ write, localization: await sendHalf(way, write, question, seen, port) })
    } catch (error) {
      if (error instanceof Fault) for (const done of standing) await putBack(way, done, question, seen, port)
      throw error
    }
  }
}

async function sendHalf(
  way: PlatformWay,
  write: HalfWrite,
  question: ListingQuestion,
  seen: SeenListing,
  port: SendPort,
): Promise<string> {
  const { half, localization, names } = write
  const { fields, locale } = question
  const what = localization === null ? `add ${locale} (${half})` : `set ${names.join(", ")}`
  const step = { what, entity: TYPES[half].type, id: localization, change: changeOf(names, seen.texts, fields) }
  return await port.step(step, async () => {
    const resource = resourceIn(await way.send(requestOf(write, question), port.signal))
    assertShows(resource, names, fields)
    return resource.id
  })
}

/**
 * Restores the texts that the first request changed. Throws an error other than a Fault unless the restore certainly
 * succeeded.
 */
async function putBack(
  way: PlatformWay,
  { write, localization }: { write: HalfWrite; localization: string },
  { locale, fields }: ListingQuestion,
  seen: SeenListing,
  port: SendPort,
): Promise<void> {
  const { half, names } = write
  const { type } = TYPES[half]
  const path = `/v1/${type}/${localization}`
  const isAdded = write.localization === null
  const step = {
    what: isAdded ? `remove ${locale} again (${half})` : `restore ${names.join(", ")}`,
    entity: type,
    id: localization,
    change: changeOf(names, fields, seen.texts),
  }
  const change: PlatformChange = isAdded
    ? { method: "DELETE", path, missing: gone }
    : { method: "PATCH", path, body: bodyOf(type, localization, textsOf(names, seen.texts)), missing: gone }
  try {
    await port.step(step, async () => {
      const answer = await way.send(change, port.signal)
      if (!isAdded) assertShows(resourceIn(answer), names, seen.texts)
    })
  } catch (error) {
    throw error instanceof Fault ? new Error(`the first change could not be restored: ${error.code}`) : error
  }
}

function requestOf(
  { half, localization, owner, names }: HalfWrite,
  { locale, fields }: ListingQuestion,
): PlatformChange {
  const { type, owner: name, ownerType } = TYPES[half]
  const attributes = textsOf(names, fields)
  if (localization !== null)
    return {
      method: "PATCH",
      path: `/v1/${type}/${localization}`,
      body: bodyOf(type, localization, attributes),
      missing: gone,
    }
  const relationships = { [name]: { data: { type: ownerType, id: owner } } }
  const body = { data: { type, attributes: { locale, ...attributes }, relationships } }
  return { method: "POST", path: `/v1/${type}`, body, missing: gone }
}

function bodyOf(type: string, id: string, attributes: Texts) {
  return { data: { type, id, attributes } }
}

function gone(): Fault {
  return new Fault("no_editable_version", { detail: "The part to edit no longer exists. Preview the write again." })
}

function textsOf(names: readonly FieldName[], texts: Texts): Texts {
  return Object.fromEntries(names.map((name) => [name, texts[name] ?? null]))
}

function changeOf(names: readonly FieldName[], from: Texts, to: Texts) {
  return Object.fromEntries(names.map((name) => [name, { from: from[name] ?? null, to: to[name] ?? null }]))
}

function assertShows(resource: Parameters<typeof textOf>[0], names: readonly FieldName[], texts: Texts): void {
  const other = names.find((name) => !sameText(textOf(resource, name), texts[name] ?? null))
  if (other !== undefined) throw new Error(`the console accepted the change but returned another ${other}`)
}
