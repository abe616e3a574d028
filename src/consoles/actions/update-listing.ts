import * as v from "valibot"
import { action, CONSOLE_FAULTS } from "../../core/action.ts"
import type { OutsideWrite, Port, ProofFinding, SentWrite } from "../../jobs/outside.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId } from "../../lib/fields.ts"
import { LISTING_LOCALES } from "../../lib/locales.ts"
import { described, named } from "../../lib/schema.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { findWriter } from "../writing/writers.ts"
import { FIELD_NAMES, type FieldName, Fields, NEEDED_FOR_REVIEW, ShownTexts, type Texts } from "./listing-fields.ts"
import { halfWritesOf, sendHalves } from "./listing-halves.ts"
import { isOf, readListing, readTexts, type SeenListing } from "./listing-target.ts"
import { sameText } from "./same-text.ts"

const Args = v.strictObject({
  appId: AppId,
  locale: v.pipe(v.picklist(LISTING_LOCALES), v.description("Locale as the console names it: en-US, de-DE, zh-Hans.")),
  fields: Fields,
  open: v.optional(
    v.pipe(
      v.boolean(),
      v.description("True adds the locale if the version does not have it. A name is then required."),
    ),
    false,
  ),
})

type Arguments = v.InferOutput<typeof Args> & { fields: Texts }

export const updateListing = action({
  name: "update_listing",
  summary: "Changes texts of an app's App Store listing in one locale.",
  description:
    "Requires a connected seller's console with writes enabled (account writes on), and an iOS version in Prepare " +
    "for Submission or rejected. Name, subtitle and privacy policy are sent first, the other fields second; if " +
    "the second part is rejected, the first is reverted.",
  scope: "listing:write",
  plan: "studio",
  credits: 5,
  destructive: true,
  args: Args,
  example: { appId: "app_4fD0Zs81hQbK", locale: "en-US", fields: { subtitle: "Tides, moon and sun" } },
  state: named(
    "ListingTexts",
    v.strictObject({
      isOpen: described(v.boolean(), "Whether the listing has the locale in every part that the write changes."),
      texts: described(ShownTexts, "Texts of the changed fields. A text is null if it is empty."),
    }),
  ),
  result: v.strictObject({ locale: v.string(), changed: v.array(v.string()) }),
  faults: [...CONSOLE_FAULTS, "no_editable_version", "locale_not_found"],
  refine(args) {
    const { fields, open } = args as Arguments
    if (open && fields.name === undefined)
      throw new Fault("invalid_arguments", {
        field: "fields",
        detail: "A new locale needs a name. Set fields.name.",
      })
    return args
  },
  target: ({ appId, locale }) => `listing ${appId} ${locale}`,
  account: ({ writer }) => writer.id,
  async look({ appId }, { sql, caller, lock }) {
    const app = await findApp(sql, caller, appId)
    if (app.iosApp === null) throw new Fault("ios_only")
    const writer = await findWriter(sql, "app-store-connect", { workspaceId: caller.workspaceId, appId }, { lock })
    return { writer, name: app.name }
  },
  diff({ name }, args, seen) {
    const { appId, locale, fields, open } = args as Arguments
    const listing = seen as SeenListing
    const writes = halfWritesOf({ locale, fields, open }, listing)
    const changed = writes.flatMap(({ names }) => names)
    const isOpen = listing.version.localization !== null && listing.info?.localization !== null
    const after = Object.fromEntries(
      Object.entries(listing.texts).map(([field, text]) => [
        field,
        changed.includes(field as FieldName) ? (fields[field as FieldName] ?? null) : text,
      ]),
    )
    const verb = isOpen ? "Change" : "Add"
    return {
      summary: `${verb} the ${locale} listing of ${JSON.stringify(name)}: ${changed.join(", ") || "nothing"}.`,
      target: { kind: "listing", id: appId, name: `${name}, ${locale}` },
      before: { isOpen, texts: listing.texts },
      after: { isOpen: isOpen || open, texts: after },
      notes: notesOf(changed, fields),
    }
  },
  outside: {
    read,
    send,
    proof: { look, absentAt: [10, 60], absence: () => new Fault("asc_unavailable") },
  } as OutsideWrite,
})

function notesOf(changed: readonly FieldName[], fields: Texts): string[] {
  const reviewed = changed.filter((name) => isOf("info", name) && name !== "privacyPolicyUrl")
  const emptied = changed.filter((name) => fields[name] === null && NEEDED_FOR_REVIEW.includes(name))
  return [
    ...(reviewed.length > 0 ? [`Reviewed with the next version: ${reviewed.join(", ")}.`] : []),
    ...(emptied.length > 0 ? [`Without ${emptied.join(", ")} the console accepts no version for review.`] : []),
  ]
}

async function read(args: Arguments, { platforms, workspaceId, signal }: Port): Promise<SeenListing> {
  const way = await platforms.open("app-store-connect", { workspaceId, appId: args.appId })
  return await readListing(way, args, signal)
}

async function send(args: Arguments, port: Parameters<OutsideWrite["send"]>[1], seen: SeenListing) {
  const way = await port.platforms.open("app-store-connect", { workspaceId: port.workspaceId, appId: args.appId })
  const changed = halfWritesOf(args, seen).flatMap(({ names }) => names)
  await sendHalves(way, args, seen, port)
  return { locale: args.locale, changed }
}

/**
 * If only some of the changes were made, the outcome stays unknown. The text then lists the fields that are as
 * requested and the fields that are not.
 */
async function look(args: Arguments, port: Port, { before }: SentWrite): Promise<ProofFinding> {
  const seen = before as SeenListing
  const way = await port.platforms.open("app-store-connect", { workspaceId: port.workspaceId, appId: args.appId })
  const now = await readTexts(way, seen, args, port.signal)
  if (!now) return { verdict: "unclear", text: "The version no longer exists." }
  const writes = halfWritesOf(args, seen)
  const names = FIELD_NAMES.filter((name) => writes.some((write) => write.names.includes(name)))
  const stands = names.filter((name) => sameText(now.texts[name] ?? null, args.fields[name] ?? null))
  const added = writes.filter(({ half, localization }) => localization === null && now.localizations[half] !== null)
  const isAdded = added.length === writes.filter(({ localization }) => localization === null).length
  if (stands.length === names.length && isAdded)
    return { verdict: "applied", text: "All texts are as requested.", result: { locale: args.locale, changed: names } }
  const asBefore = names.every((name) => sameText(now.texts[name] ?? null, seen.texts[name] ?? null))
  if (asBefore && added.length === 0) return { verdict: "absent", text: "All texts are as before." }
  const missing = names.filter((name) => !stands.includes(name))
  return {
    verdict: "unclear",
    text: `As requested: ${stands.join(", ") || "none"}. Not as requested: ${missing.join(", ") || "none"}.`,
  }
}
