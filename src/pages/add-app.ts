import type { AnswerOf } from "../answers.ts"
import { Fault } from "../lib/faults.ts"
import { type Platform, readStoreLink, whyNoApp } from "../lib/store-pages.ts"
import { storefrontName } from "../lib/storefront-names.ts"
import { ALL_STOREFRONTS } from "../lib/storefronts.ts"
import { address, appAddress, hereOf, isFault, type Page, type PageContext } from "../ui/app/context.ts"
import { type Face, readFaces } from "../ui/app/faces.ts"
import { appIcon } from "../ui/app/frame.ts"
import { card, empty } from "../ui/app/parts.ts"
import { hiddenFields, keywordFields, mayNotEdit, writeForm } from "../ui/app/write/form.ts"
import { checkFields, type FormState, selectField, textField } from "../ui/fields.ts"
import { type Html, html } from "../ui/html.ts"
import { counted, STORES } from "../ui/words.ts"

type Found = AnswerOf<"hive_resolve_app">["apps"][number]

/** The page that adds an app: a person first finds it by name, link or id, then chooses storefronts and keywords. */
export async function addAppPage(context: PageContext): Promise<Page> {
  const page = (body: Html): Page => ({ title: "Add an app", at: "", body })
  if (context.isSample)
    return page(
      html`<section class="card">${empty("The sample cannot be changed", "Sign in to add your own app.")}</section>`,
    )
  if (context.editFields.length === 0) return page(html`<section class="card">${mayNotEdit()}</section>`)
  const chosen = context.query.get("app")
  if (chosen !== null) return page(await detailsPart(context, chosen))
  const query = context.query.get("q")?.trim() ?? ""
  return page(
    html`<section class="card">${searchForm(context)}${query !== "" && (await resultsPart(context, query))}</section>`,
  )
}

/** Returns the storefront to search: that of a store link, else the chosen one, else the United States. */
function countryIn({ query }: PageContext): string {
  const link = readStoreLink(query.get("q") ?? "")
  const chosen = query.get("country")
  if (link !== null && "id" in link && link.storefront !== null) return link.storefront
  return chosen !== null && ALL_STOREFRONTS.includes(chosen) ? chosen : "us"
}

/** A search form for a name, a link or an id. False if the visitor may not add apps. */
export function searchForm(context: PageContext): Html | false {
  if (context.editFields.length === 0) return false
  const form: FormState = { id: "find", values: null, errors: {} }
  const forApp = context.query.get("for")
  return html`<form class="filters" method="get" action="${context.base}/add" role="search">${
    forApp !== null && hiddenFields([["for", forApp]])
  }${textField(form, {
    name: "q",
    label: "Name of the app, link to its store page, or its id",
    type: "search",
    value: context.query.get("q") ?? "",
    placeholder: "Tide Times",
    maxLength: 500,
    isRequired: true,
    isWide: true,
  })}${selectField(form, {
    name: "country",
    label: "Storefront",
    value: countryIn(context),
    options: storefrontOptions(),
  })}<div class="send"><button class="main" type="submit">Find app</button></div></form>
`
}

const storefrontOptions = () =>
  ALL_STOREFRONTS.map((code) => [code, storefrontName(code)] as const).toSorted(([, a], [, b]) => (a < b ? -1 : 1))

/** Lists the apps that the store found, or explains why there are none. */
async function resultsPart(context: PageContext, query: string): Promise<Html> {
  const why = whyNoApp(query)
  if (why !== null) return empty("This is not the page of an app", why)
  const country = countryIn(context)
  const [answer, tracked] = await Promise.all([findApps(context, query, country), context.ask("list_app_heads")])
  if (isFault(answer) && answer.status === 503)
    return empty("The store does not answer now", "Please try again in a moment, or paste the link of its store page.")
  if (isFault(answer)) {
    const { detail } = answer.extra as { detail?: string }
    return empty(
      `No app was found in ${storefrontName(country)}`,
      detail ?? "Check the spelling, or try the link of its store page.",
    )
  }
  const { apps, why: whyNotAsked } = answer as AnswerOf<"hive_resolve_app">
  if (apps.length === 0)
    return empty(
      `No app was found for “${query}” in ${storefrontName(country)}`,
      whyNotAsked ?? "Check the spelling, try another storefront, or paste the link of its store page.",
    )
  const appIds = new Map(
    tracked.apps.flatMap(
      ({ id, iosId, androidPkg }) =>
        [
          [iosId, id],
          [androidPkg, id],
        ] as const,
    ),
  )
  const faces = await readFaces(context, apps.map(codeOf), country)
  const items = apps.map((app) =>
    foundItem(context, app, { country, appId: appIds.get(app.id), face: faces.get(codeOf(app)) }),
  )
  const note = whyNotAsked && html`<p class="inside quiet">The App Store could not be searched now. ${whyNotAsked}</p>`
  return html`${note}<ul class="list">${items}</ul>`
}

/**
 * Returns the store's results or the fault. With the fault, the page still shows what was typed if the store is slow.
 */
async function findApps(
  context: PageContext,
  q: string,
  country: string,
): Promise<AnswerOf<"hive_resolve_app"> | Fault> {
  try {
    return await context.ask("find_store_apps", { q, country })
  } catch (error) {
    if (error instanceof Fault && error.status !== 401 && error.status !== 429) return error
    throw error
  }
}

const codeOf = ({ platform, id }: Pick<Found, "platform" | "id">) => `${platform}:${id}`

interface FoundPlace {
  country: string
  /** The workspace's app. Undefined if the found app is not tracked. */
  appId: string | undefined
  face: Face | undefined
}

function foundItem(context: PageContext, app: Found, { country, appId, face }: FoundPlace): Html {
  const { id, name, publisher, platform, ratings } = app
  const forApp = context.query.get("for")
  const facts = [
    publisher && html`<bdi>${publisher}</bdi>`,
    STORES[platform],
    storefrontName(country),
    ratings !== null && counted(ratings, "rating"),
  ].filter(Boolean)
  const place = address(`${context.base}/add`, { app: `${platform}:${id}`, country, q: context.query.get("q") })
  const action =
    forApp !== null
      ? rivalButton(context, `${platform}:${id}`, forApp)
      : appId === undefined
        ? html`<a class="button" href="${place}">Choose</a>`
        : html`<a href="${appAddress(context, { id: appId })}">Tracked already</a>`
  return html`<li class="line"><div class="subject">${appIcon(context, { name, icon: face?.icon ?? null })}<div>
<p><strong><bdi>${name}</bdi></strong></p>
<p class="small quiet">${facts.map((fact, at) => html`${at > 0 && " · "}${fact}`)}</p></div></div>${action}</li>
`
}

/**
 * A button that adds the found app as a rival of one of the workspace's apps. It opens a preview, because this page
 * does not have the state of that app.
 */
function rivalButton(context: PageContext, rival: string, appId: string): Html | false {
  return writeForm(context, {
    action: "add_rivals",
    id: `add-${rival}`,
    back: appAddress(context, { id: appId }, "rivals"),
    fixed: { appId, rivals: rival },
    button: "Add as rival",
    look: "row",
  })
}

/** Storefronts that are offered as checkboxes. Others must be typed. */
const COMMON = ["us", "gb", "de", "fr", "es", "it", "jp", "kr", "br", "ca", "au", "in"]

/** The second step: the found app, its storefronts and its keywords. */
async function detailsPart(context: PageContext, code: string): Promise<Html> {
  const [, platform, id] = /^(ios|android):([\w.]{1,255})$/.exec(code) ?? []
  const search = html`<a href="${address(`${context.base}/add`, { q: context.query.get("q") })}">Find another app</a>`
  if (platform === undefined || id === undefined)
    return html`<section class="card">
${searchForm(context)}${empty("No such app", "Find it by its name, link or id.")}</section>`
  const country = countryIn(context)
  const link = platform === "ios" ? `id${id}` : id
  const answer = await findApps(context, link, country)
  const app = isFault(answer)
    ? undefined
    : (answer as AnswerOf<"hive_resolve_app">).apps.find((found) => found.id === id)
  const icon = (await readFaces(context, [code], country)).get(code)?.icon ?? null
  const other = platform === "ios" ? STORES.android : STORES.ios
  const options = {
    action: "add_app",
    back: hereOf(context),
    fixed: { app: link },
    button: "Preview",
    tone: "main",
    hasFile: true,
  } as const
  const form = writeForm(
    context,
    options,
    (state) => html`${checkFields(state, {
      name: "countries",
      label: "Storefronts",
      options: [...new Set([country, ...COMMON])].map((one) => [one, storefrontName(one)]),
      chosen: [country],
    })}${textField(state, { name: "more", label: "More storefronts", placeholder: "Sweden, mx", isWide: true })}
${keywordFields(state)}${textField(state, {
  name: "other",
  label: `The same app on ${other} (optional)`,
  placeholder: "Link or id",
  isWide: true,
})}`,
  )
  return card(
    app?.name ?? id,
    html`${foundHead(app, {
      platform: platform as Platform,
      id,
      country,
      icon: appIcon(context, { name: app?.name ?? id, icon }),
    })}${form}`,
    search,
  )
}

function foundHead(
  app: Found | undefined,
  { platform, id, country, icon }: { platform: Platform; id: string; country: string; icon: Html },
): Html {
  const publisher = app?.publisher ? html`<bdi>${app.publisher}</bdi> · ` : ""
  const unknown = !app?.source && html`<p class="small">The store has not confirmed this app yet.</p>`
  return html`<div class="inside"><div class="subject">${icon}<div>
<p class="small quiet">${publisher}${STORES[platform]} <span class="hash">${id}</span> · ${storefrontName(country)}</p>
${unknown}</div></div></div>`
}
