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
    at: described(Time, "When it was done."),
    by: described(
      v.picklist(["service", "other_api", "dashboard", "apple", "other"]),
      "service: a write confirmed here; other_api: another program, an automation rule among them; dashboard: a person at Apple's pages; apple: its support; other: a kind of user that is new. Who it was is not kept.",
    ),
    event: described(v.nullable(v.string()), "CREATE, UPDATE, DELETE or OTHER; null until Apple's history shows it."),
    entity: described(v.string(), "What was changed, in Apple's words or the write's."),
    entityId: v.string(),
    name: described(v.nullable(v.string()), "Its name or text; null = not said."),
    campaign: described(v.nullable(v.string()), "The campaign's id; null = not said."),
    changes: described(
      v.array(
        v.strictObject({
          field: described(v.string(), "In Apple's words."),
          from: described(v.nullable(v.string()), "Null = nothing stood there."),
          to: described(v.nullable(v.string()), "Null = nothing stands there."),
        }),
      ),
      "Empty until Apple's history shows it.",
    ),
    job: described(
      v.nullable(v.strictObject({ id: v.string(), action: v.string(), status: v.string() })),
      "The write of ours that did it (get_job); null = none did.",
    ),
    listed: described(v.boolean(), "Apple's own change history shows it: proof that it was applied."),
  }),
)

export const listAdsCommands = operation({
  id: "list_ads_commands",
  method: "GET",
  path: "/apps/:appId/ads-commands",
  group: "Revenue and ads",
  toolset: "ads",
  summary: "What was changed in the app's campaigns, by whom: writes made here, other programs, people.",
  description:
    "Writes of this service joined with the change history of Apple Ads, each once, the newest first. The history lags; a write without it stands by itself until it comes.",
  effect: "reads",
  scope: "ads:read",
  price: 1,
  faults: ["not_connected", "not_measured", "unsupported_platform", "bad_cursor"],
  input: ofApp({
    limit: v.optional(wholeNumber(1, 200, "Commands on a page."), 50),
    cursor: coded(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(500), v.description("nextCursor of the page before."))),
      "bad_cursor",
    ),
  }),
  narrow: { rows: ["commands"] },
  table: "commands",
  output: v.strictObject({
    sources: v.array(AdsSource),
    commands: v.array(Command),
    nextCursor: described(v.nullable(v.string()), "Asks for the page after this one; null = this is the last."),
  }),
}).run(async ({ app, limit, cursor }, { sql, caller }) => {
  const account = await findAdvertiser(app, "changes", { sql, caller })
  const asOf = account.readAt
  const called = ["list_ads_commands", app.id]
  const after = cursor === undefined ? null : placeOf(called, cursor)
  const scope = { workspaceId: caller.workspaceId, appId: app.id, account: account.id, app: account.outsideId }
  // Read one more than the page size to know whether there is a next page.
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

function command({ at, isListed, key: _, ...said }: AdsCommand): v.InferInput<typeof Command> {
  return { ...said, at: at.toISOString(), listed: isListed }
}

const Place = v.strictTuple([v.pipe(v.string(), v.isoTimestamp()), v.pipe(v.string(), v.maxLength(300))])

/** Throws bad_cursor when the cursor is not from such a call. */
function placeOf(called: unknown, cursor: string): { at: Date; key: string } {
  const place = v.safeParse(Place, placeIn(called, cursor))
  if (!place.success)
    throw new Fault("bad_cursor", {
      field: "cursor",
      detail: "cursor must be the nextCursor of a page about this app.",
    })
  const [at, key] = place.output
  return { at: new Date(at), key }
}
