import type { Sql } from "../../database/types.ts"
import {
  type CountryAnswers,
  type CountryEffect,
  effectOf,
  noteCountry,
  readCountries,
} from "../../measuring/countries.ts"
import type { MeasuringSettings } from "../../settings/settings.ts"
import { namedCountry } from "../../stores/play/calls.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

/** Describes how Google Play answers requests for a country. */
export const EFFECTS: Record<CountryEffect, string> = {
  followed: "pages are of the requested country",
  ignored: "pages are always of the same country, whatever is requested",
  mixed: "pages are sometimes of the requested country and sometimes of another",
  unknown: "only one country was requested, so it is unknown whether the request or the address decides",
}

/**
 * Checks whether Google Play answers for EGRESS_COUNTRY from this address. Requests its page without a country, for
 * that country and for another one, and stores which countries the pages name, as measuring does. With `asks` false,
 * uses only stored answers.
 */
export async function checkCountry(
  sql: Sql,
  settings: MeasuringSettings,
  { asks }: { asks: boolean },
): Promise<Finding> {
  const here = asks ? await learn(sql, settings) : undefined
  const answers = (await readCountries(sql, settings.egress)).filter(({ upstream }) => upstream === HOST)
  return findingOf(settings.egressCountry, here, answers)
}

const HOST = "play.google.com"
const WITHIN_MS = 5_000

/** Returns the country of a page requested without a country. Undefined if the page names none or cannot be read. */
async function learn(sql: Sql, { addresses, egress, egressCountry }: MeasuringSettings): Promise<string | undefined> {
  const url = `${addresses.get(HOST) ?? `https://${HOST}`}/store/apps?hl=en`
  const here = await readPage(url)
  const another = [egressCountry, here].includes("us") ? "de" : "us"
  const requested = [...new Set([egressCountry ?? another, another])]
  const pages = await Promise.all(requested.map((country) => readPage(`${url}&gl=${country.toUpperCase()}`)))
  for (const [place, answered] of pages.entries()) {
    if (answered !== undefined)
      await noteCountry(sql, { upstream: HOST, egress }, { asked: requested[place] as string, answered }, new Date())
  }
  return here
}

/** Undefined after any failure: another check reports whether the host is reachable. */
async function readPage(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS), redirect: "manual" })
    return namedCountry(await answer.text())
  } catch {
    return undefined
  }
}

const THING = "EGRESS_COUNTRY"

function findingOf(
  configuredCountry: string | undefined,
  here: string | undefined,
  answers: readonly CountryAnswers[],
): Finding {
  const learnt = answers.length > 0 ? `; ${EFFECTS[effectOf(answers)]}` : ""
  if (configuredCountry === undefined) return unset(here, learnt)
  const requested = answers.filter((one) => one.asked === configuredCountry).toSorted((a, b) => +b.lastAt - +a.lastAt)
  const [latest] = requested
  if (!latest) return ok(THING, `${configuredCountry}; no page of Google Play has shown its country yet`)
  const requestedCode = configuredCountry.toUpperCase()
  const named = `requests for ${requestedCode} return pages of ${latest.answered.toUpperCase()}${learnt}`
  if (latest.answered === configuredCountry) return ok(THING, `${configuredCountry}; ${named}`)
  return problem(
    THING,
    `${configuredCountry}, but ${named}. Nothing on Google Play is measured`,
    `set EGRESS_COUNTRY=${latest.answered}, or read from an address in ${requestedCode}`,
  )
}

function unset(here: string | undefined, learnt: string): Finding {
  const [seen, country] = here
    ? [`; pages read from this address are of ${here.toUpperCase()}${learnt}`, here]
    : ["", "de"]
  const why = "set EGRESS_COUNTRY to the two-letter code of the country to read Google Play for"
  return warning(
    THING,
    `not set although Android apps are tracked, so only reviews are read from Google Play${seen}`,
    `${why}, for example EGRESS_COUNTRY=${country}`,
  )
}
