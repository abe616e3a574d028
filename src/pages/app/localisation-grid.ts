import * as v from "valibot"
import { ofApp, operation } from "../../core/operation.ts"
import { LISTING_LOCALES } from "../../lib/locales.ts"
import { described } from "../../lib/schema.ts"
import { Count, Time } from "../../lib/shapes.ts"
import { localisationGrid, SEARCHED_FIELDS } from "../../listings/formulas/localisation-grid.ts"
import { readDeveloper, readKnownTexts } from "../../listings/read/localisation-texts.ts"

const Locale = v.picklist(LISTING_LOCALES)
const Field = v.picklist(SEARCHED_FIELDS)

export const getLocalisationGrid = operation({
  method: "GET",
  id: "get_localisation_grid",
  path: "/page/:appId/localisation-grid",
  group: "Your apps",
  toolset: "page",
  summary: "Which words of which locale count in which tracked storefront of the App Store.",
  effect: "reads",
  scope: "apps:read",
  price: 0,
  faults: [],
  input: ofApp({}),
  output: v.strictObject({
    from: described(v.nullable(v.picklist(["audit", "pages"])), "Null if no page was read."),
    readAt: v.nullable(Time),
    locales: v.array(
      v.strictObject({
        locale: Locale,
        readBy: v.array(v.string()),
        fields: v.array(
          v.strictObject({
            field: Field,
            text: described(v.nullable(v.string()), "Null if unknown."),
            length: v.nullable(Count),
            limit: Count,
          }),
        ),
        words: v.array(
          v.strictObject({
            text: v.string(),
            field: Field,
            waste: described(v.nullable(v.string()), "Null if the word counts."),
            also: v.nullable(Locale),
          }),
        ),
      }),
    ),
    storefronts: v.array(
      v.strictObject({
        country: v.string(),
        words: Count,
        cells: v.array(v.strictObject({ locale: Locale, isDefault: v.boolean(), adds: v.nullable(Count) })),
      }),
    ),
  }),
}).run(async ({ app }, { sql }) => {
  if (app.iosApp === null) return { from: null, readAt: null, locales: [], storefronts: [] }
  const { listings, from, readAt } = await readKnownTexts(sql, app.iosApp, app.countries)
  const grid = localisationGrid(listings, app.countries, {
    name: app.name,
    developer: await readDeveloper(sql, app.iosApp),
  })
  return { from, readAt: readAt?.toISOString() ?? null, ...grid }
})
