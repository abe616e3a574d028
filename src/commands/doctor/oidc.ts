import { checkOidcProvider } from "../../access/oidc/provider.ts"
import type { Invocation } from "../cli/command.ts"
import { guardedFetch } from "../process/guarded-fetch.ts"
import { type Finding, ok, problem } from "./finding.ts"

const THING = "openid provider"

/** Checks whether the OpenID provider for sign-in answers, and whether its issuer is the one in the settings. */
export async function checkOidc({ settings }: Pick<Invocation, "settings">): Promise<Finding[]> {
  const { oidc, allowPrivateTargets } = settings
  if (!oidc) return []
  try {
    await checkOidcProvider(oidc, guardedFetch(allowPrivateTargets))
    return [ok(THING, `${oidc.name} answers at ${oidc.issuer}`)]
  } catch (error) {
    const fix = "set OIDC_ISSUER to the issuer in the provider's discovery document, and check that it runs"
    return [problem(THING, `${oidc.issuer}: ${(error as Error).message}`, fix)]
  }
}
