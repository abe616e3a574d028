import { checkIds, checkProvenance, checkTime, hold, isText } from "./invariants.ts"
import { APP_ADS_STATES, APP_ADS_VARIABLES, type AppAdsObservation, type AppAdsRecord } from "./types.ts"

// Some files of networks name thousands of resellers.
const MOST_RECORDS = 100_000
const MOST_VALUES = 1_000

/** Throws ObservationProblem unless every invariant of a look for an app-ads.txt holds. */
export function checkAppAds(look: AppAdsObservation, now: Date): void {
  const { source, platform, id, domain, state, records, variables } = look
  hold(source === "app-ads-txt", "bad_source", "the source must be app-ads-txt")
  hold(platform === "ios" || platform === "android", "bad_platform", "the platform must be ios or android")
  checkIds(platform, [id], "apps")
  checkTime(look.seenAt, now)
  hold(APP_ADS_STATES.includes(state), "bad_kind", `the state must be one of ${APP_ADS_STATES.join(", ")}`)
  hold((domain === null) === (state === "no_site"), "bad_text", "a domain is named unless there is no site")
  hold(domain === null || isHost(domain), "bad_text", "a domain must be a host's name, in lower case")
  hold(records.length > 0 === (state === "records"), "bad_kind", "records stand in the state records, and in no other")
  hold(records.length <= MOST_RECORDS, "too_many_results", `there are more than ${MOST_RECORDS} records`)
  records.forEach(checkRecord)
  for (const [name, values] of Object.entries(variables)) checkVariable(name, values)
  checkProvenance(look)
}

function isHost(domain: string): boolean {
  return domain.length <= 253 && URL.parse(`https://${domain}/`)?.hostname === domain
}

function checkRecord({ system, publisherId, relation, certId }: AppAdsRecord): void {
  const named = isText(system, 253) && isText(publisherId, 256) && (certId === undefined || isText(certId, 64))
  hold(named, "bad_text", "a record must name an ad system and the developer's id there")
  hold(relation === "DIRECT" || relation === "RESELLER", "bad_kind", "a relation must be DIRECT or RESELLER")
}

function checkVariable(name: string, values: readonly string[]): void {
  hold((APP_ADS_VARIABLES as readonly string[]).includes(name), "bad_kind", "a variable is not one that is read")
  hold(values.length <= MOST_VALUES, "too_many_results", `a variable has more than ${MOST_VALUES} values`)
  for (const value of values) hold(isText(value, 256), "bad_text", "a value must have 1 to 256 characters")
}
