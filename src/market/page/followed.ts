import type { Sql } from "../../database/types.ts"
import { genreName } from "../../lib/genre-names.ts"
import { storefrontName } from "../../lib/storefront-names.ts"
import { CHART_GENRES, isStorefront } from "../../lib/storefronts.ts"
import { card, empty } from "../../ui/app/parts.ts"
import { type SettingsSection, type SettingsVisit, sectionAddress } from "../../ui/app/settings.ts"
import { FormProblem } from "../../ui/fields.ts"
import { type Html, html } from "../../ui/html.ts"
import { dayTime } from "../../ui/times.ts"
import { counted } from "../../ui/words.ts"
import { dropGenres, followGenres } from "../followed-storefronts.ts"
import { followForm, type Market, marketButton } from "./frame.ts"

const PATH = "market"

/** The storefronts whose charts this server reads daily, for the operator. Pages of the market have the same forms. */
export function marketSection(sql: Sql): SettingsSection {
  const form = (deed: "follow" | "drop") => ({
    audit: `market ${deed}`,
    async send(visit: SettingsVisit, fields: URLSearchParams) {
      const storefront = fields.get("storefront") ?? ""
      const genre = fields.get("genre") ?? ""
      const genres = genre === "all" ? CHART_GENRES : genre.split(".")
      if (!isStorefront(storefront, "ios")) throw new FormProblem({ storefront: "Choose a storefront from the list." })
      if (!genres.every((id) => CHART_GENRES.includes(id)))
        throw new FormProblem({ genre: "Choose a category from the list." })
      await (deed === "follow" ? followGenres : dropGenres)(sql, { storefront, genres })
      return { to: backIn(visit, fields), done: `${deed}-${storefront}-${genre}` }
    },
  })
  return {
    name: "Market",
    about: "Choose the storefronts whose charts are read every day.",
    path: PATH,
    needs: "server:operate",
    isReversible: true,
    notices: {},
    async show({ context }) {
      const market = await context.ask("get_market")
      return html`${card(
        "Followed storefronts",
        market.followed.length === 0
          ? empty("No storefront is followed", "Charts of followed storefronts, and the apps on them, are read daily.")
          : followedList(context, market),
      )}${card("Follow a storefront", followForm(context, { country: "us", genre: "36" }) || "")}`
    },
    forms: { follow: form("follow"), drop: form("drop") },
  }
}

/** Redirects to the market page that contained the form. */
function backIn({ context }: SettingsVisit, fields: URLSearchParams): string {
  const back = fields.get("back") ?? ""
  return /^\/app\/market(?:[/?]|$)/.test(back) && !/[\\\s]/.test(back) ? back : sectionAddress(PATH, {}) || context.base
}

/** Renders the followed storefronts. Those that were chosen on a page have a button to stop following them. */
export function followedList(context: SettingsVisit["context"], { followed }: Market): Html {
  const items = followed.map(({ country, genres, chosen, since }) => {
    const isWhole = genres.length === CHART_GENRES.length
    const names = isWhole ? "all categories" : genres.map(genreName).join(", ")
    const isFixed = chosen.length < genres.length
    const stop =
      chosen.length > 0 &&
      context.person?.isOperator &&
      marketButton(context, { deed: "drop", country, genres: chosen.join(".") }, "Stop following")
    return html`<li class="line"><div><p><strong>${storefrontName(country)}</strong> · ${names}</p>
<p class="small quiet">${counted(genres.length * 4, "chart")} a day since ${dayTime(since)}${
      isFixed && " · set by MARKET"
    }</p></div>${stop}</li>`
  })
  return html`<ul class="list">${items}</ul>`
}
