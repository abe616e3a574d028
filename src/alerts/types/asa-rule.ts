import * as v from "valibot"
import { AdsChanges } from "../ads-changes.ts"
import { alertType } from "../alert-type.ts"
import { quoted } from "../wording.ts"

/**
 * Another program, such as an ad tool with rules, changed a campaign (see ads-rules.ts). Apple's history does not
 * contain which program or why.
 */
export const asaRule = alertType({
  name: "asa_rule",
  options: [],
  appStoreOnly: true,
  ofAds: true,
  hasMoney: true,
  facts: v.strictObject({
    ads: AdsChanges,
    /** Apple's ids of all changes, so that a change is never reported twice. */
    ids: v.array(v.string()),
  }),
  example: {
    ads: {
      account: "ac_0123456789abcdef01",
      campaign: "444555666",
      campaignName: "Tea, Germany",
      count: 2,
      from: "2025-11-20T06:00:00.000Z",
      shown: [
        { event: "UPDATE", entity: "Keyword", name: "tea timer", field: "bid", from: "1.20", to: "0.80" },
        { event: "CREATE", entity: "Keyword", name: "green tea", field: null, from: null, to: null },
      ],
    },
    ids: ["Keyword.81.0eee6ae3", "Keyword.82.0eee6ae3"],
  },
  sentence({ ads: { campaign, campaignName, count, shown } }) {
    const what = shown.map(changeOf).join("; ")
    const more = count > shown.length ? `; and ${count - shown.length} more` : ""
    return (
      `Another program, such as an ad tool, changed your Apple Ads campaign ${quoted(campaignName ?? campaign)}: ` +
      `${what}${more}`
    )
  },
  fields: ({ ads }) => ({ ads }),
})

function changeOf({ event, entity, name, field, from, to }: AdsChanges["shown"][number]): string {
  const what = `${entity}${name === null ? "" : ` ${quoted(name)}`}`
  if (event === "CREATE") return `${what} added`
  if (event === "DELETE") return `${what} deleted`
  if (field === null) return `${what} changed`
  return `${field} of ${what} ${from === null ? "set" : `from ${from}`}${to === null ? "" : ` to ${to}`}`
}
