import * as v from "valibot"
import { ofApp, operation } from "../../../core/operation.ts"
import { ADS_ACTIONS } from "../../../lib/accounts/ads-actions.ts"
import { cursorOf, placeIn } from "../../../lib/cursor.ts"
import { Fault } from "../../../lib/faults.ts"
import { wholeNumber } from "../../../lib/fields.ts"
import { coded, described, named } from "../../../lib/schema.ts"
import { Time } from "../../../tracking/shapes.ts"
import { type AdsCommand, readCommands } from "../../ads/read/commands.ts"
import { AdsSource, adsSource, findAdvertiser, unread } from "./ads-shapes.ts"

const Command = named(
  "AdsCommand",
  v.strictObject({
    at: described(Time, "Time of the change."),
    by: described(
      v.picklist(["service", "other_api", "dashboard", "apple", "other"]),
      "service: a write confirmed here; other_api: another program, including automation rules; dashboard: a " +
        "person in Apple's web interface; apple: Apple support; other: an unknown type of user. The identity is not " +
        "stored.",
    ),
    event: described(
      v.nullable(v.string()),
      "CREATE, UPDATE, DELETE or OTHER. Null until Apple's history lists the change.",
    ),
    entity: described(v.string(), "Type of the changed object, in the terms of Apple or the write."),
    entityId: v.string(),
    name: described(v.nullable(v.string()), "Name or text of the object. Null if unknown."),
    campaign: described(v.nullable(v.string()), "Id of the campaign. Null if unknown."),
    changes: described(
      v.array(
        v.strictObject({
          field: described(v.string(), "Name of the field, in Apple's terms."),
          from: described(v.nullable(v.string()), "Earlier value. Null if empty."),
          to: described(v.nullable(v.string()), "New value. Null if empty."),
        }),
      ),
      "Changed fields. Empty until Apple's history lists the change.",
    ),
    job: described(
      v.nullable(v.strictObject({ id: v.string(), action: v.string(), status: v.string() })),
      "Job of the write (see get_job). Null if the change was not made by this service.",
    ),
    listed: described(v.boolean(), "True if Apple's change history lists it, which proves that it was applied."),
  }),
)

export const listAdsCommands = operation({
  id: "list_ads_commands",
  method: "GET",
  path: "/apps/:appId/ads-commands",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "Lists changes to the app's campaigns by this service, other programs and people.",
  description:
    "Merges writes of this service with the change history of Apple Ads, without duplicates, newest first. The " +
    "history lags; until it lists a write, the write appears alone.",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform", "bad_cursor"],
  input: ofApp({
    limit: v.optional(wholeNumber(1, 200, "Maximum number of commands per page."), 50),
    cursor: coded(
      v.optional(
        v.pipe(v.string(), v.minLength(1), v.maxLength(500), v.description("nextCursor of the previous page.")),
      ),
      "bad_cursor",
    ),
  }),
  narrow: { rows: ["commands"] },
  table: "commands",
  output: v.strictObject({
    sources: v.array(AdsSource),
    commands: v.array(Command),
    nextCursor: described(v.nullable(v.string()), "Cursor of the next page. Null if this is the last page."),
  }),
}).run(async ({ app, limit, cursor }, { sql, caller }) => {
  const account = await findAdvertiser(app, "changes", { sql, caller })
  const asOf = account.readAt
  const called = ["list_ads_commands", app.id]
  const after = cursor === undefined ? null : placeOf(called, cursor)
  const scope = { workspaceId: caller.workspaceId, appId: app.id, account: account.id, app: account.outsideId }
  // One more than the page size is read, to know whether there is a next page.
  const found = await readCommands(sql, { ...scope, limit: limit + 1, after }, ADS_ACTIONS)
  if (asOf === null && found.length === 0 && after === null) throw unread(account, ["changes"], "its change history")
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    sources: [adsSource(account, ["changes"], asOf)],
    commands: page.map(command),
    nextCursor: last && found.length > limit ? cursorOf(called, [last.at.toISOString(), last.key]) : null,
  }
})

function command({ at, isListed, key: _, ...rest }: AdsCommand): v.InferInput<typeof Command> {
  return { ...rest, at: at.toISOString(), listed: isListed }
}

const Place = v.strictTuple([v.pipe(v.string(), v.isoTimestamp()), v.pipe(v.string(), v.maxLength(300))])

/** Returns the place in the list. Throws bad_cursor when the cursor is not from a call for this app. */
function placeOf(called: unknown, cursor: string): { at: Date; key: string } {
  const place = v.safeParse(Place, placeIn(called, cursor))
  if (!place.success)
    throw new Fault("bad_cursor", {
      field: "cursor",
      detail: "cursor must be the nextCursor of a previous page for this app.",
    })
  const [at, key] = place.output
  return { at: new Date(at), key }
}
