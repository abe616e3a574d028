import type { AnswerOf } from "../../answers.ts"
import { NOT_THERE } from "../../core/read-on-request.ts"
import { Fault } from "../../lib/faults.ts"
import { readStoreLink, whyNoApp } from "../../lib/store-pages.ts"
import { CommandProblem, type Invocation, WrongUse } from "../cli/command.ts"
import { printable } from "../cli/show.ts"
import type { AskOwner } from "../process/owner.ts"
import { operationNamed } from "../reading/ask.ts"

/** The app to track. Without a name it gets the store's name. */
export interface ResolvedApp {
  iosId?: string | undefined
  androidPkg?: string | undefined
  name?: string | undefined
  /** The storefront in the app's link. */
  country?: string | undefined
}

type Candidate = AnswerOf<"hive_resolve_app">["apps"][number]

const CANDIDATES = 5

/**
 * Looks the app up in its stores, so that a mistyped id is not tracked. Throws WrongUse with possible matches,
 * CommandProblem if no store can be read.
 */
export async function resolveApp(invocation: Invocation, ask: AskOwner): Promise<ResolvedApp> {
  const { text, texts, has, positionals, terminal } = invocation
  const [word] = positionals
  const linked = storefrontOf(word)
  const country = texts("country")?.[0]?.toLowerCase() ?? linked ?? "us"
  const [iosId, androidPkg] = [text("ios"), text("android")]
  if (iosId === undefined && androidPkg === undefined)
    return { ...(await appNamed(ask, word, country)), country: linked }
  const links = [
    ...(iosId === undefined ? [] : [[iosId, `https://apps.apple.com/${country}/app/id${iosId}`] as const]),
    ...(androidPkg === undefined
      ? []
      : [[androidPkg, `https://play.google.com/store/apps/details?id=${androidPkg}`] as const]),
  ]
  for (const [id, link] of has("force") ? [] : links)
    if (!(await isKnown(ask, { id, link, country })))
      terminal.say(`appmeter: the store could not be reached, so the id ${id} was not checked`)
  return { iosId, androidPkg, name: word }
}

/**
 * Returns true if the store has the app, false if the store cannot be read now. Throws WrongUse if the store has no
 * such app.
 */
async function isKnown(
  ask: AskOwner,
  { id, link, country }: { id: string; link: string; country: string },
): Promise<boolean> {
  try {
    const { apps } = (await ask(await operationNamed("hive_resolve_app"), {
      q: link,
      country,
    })) as AnswerOf<"hive_resolve_app">
    return apps.some(({ source }) => source !== null)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.code !== "not_measured") return false
    throw new WrongUse(`the store has no app ${id} in ${country}; add --force to track it anyway`)
  }
}

function storefrontOf(word: string | undefined): string | undefined {
  const link = readStoreLink(word ?? "")
  return link !== null && "id" in link ? (link.storefront ?? undefined) : undefined
}

async function appNamed(ask: AskOwner, word: string | undefined, country: string): Promise<ResolvedApp> {
  if (word === undefined)
    throw new WrongUse("the app is missing; give its store link, its name, --ios ID or --android PACKAGE")
  const why = whyNoApp(word)
  if (why !== null) throw new WrongUse(why)
  const candidates = await resolved(ask, word, country)
  const byForm = candidates.find(({ matchedBy }) => ["link", "id", "package"].includes(matchedBy))
  const called = candidates.filter(({ matchedBy }) => matchedBy === "name")
  const meant = byForm ?? (called.length === 1 ? called[0] : undefined)
  if (meant) return meant.platform === "ios" ? { iosId: meant.id } : { androidPkg: meant.id }
  if (candidates.length === 0)
    throw new WrongUse(`no app was found for ${JSON.stringify(word.slice(0, 60))}; give its store link or --ios ID`)
  throw new WrongUse(`several apps match; choose one: ${candidates.map(optionOf).join("; ")}`)
}

async function resolved(ask: AskOwner, q: string, country: string): Promise<Candidate[]> {
  try {
    const { apps } = (await ask(await operationNamed("hive_resolve_app"), {
      q,
      country,
      limit: CANDIDATES,
    })) as AnswerOf<"hive_resolve_app">
    return apps
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const why = error.extra.detail ?? error.message
    if (why === NOT_THERE)
      throw new WrongUse(
        `no app was found at ${JSON.stringify(q.slice(0, 60))} in ${country}; check the link or give another --country`,
      )
    throw new CommandProblem(`no store could be searched for ${JSON.stringify(q.slice(0, 60))}; give --ios ID. ${why}`)
  }
}

function optionOf({ platform, id, name, publisher }: Candidate): string {
  const by = publisher === null ? "" : ` by ${printable(publisher)}`
  return `--${platform} ${id} is ${printable(name ?? "unnamed")}${by}`
}
