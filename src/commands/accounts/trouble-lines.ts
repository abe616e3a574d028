import type { AccountRow } from "../../accounts/register.ts"
import { printable, table } from "../cli/show.ts"

/** Which questions to an account failed, why, and when they are asked again; and what was read only in part. */
export function troubleLines(troubles: AccountRow["troubles"]): string[] {
  return [
    ...table(
      ["", "NOT READ", "WHY", "ASKED AGAIN"],
      troubles
        .filter(({ isFailed }) => isFailed)
        .map(({ what, why, nextAt }) => ["", printable(what), printable(why), minute(nextAt)]),
    ),
    ...table(
      ["", "READ IN PART", "WHAT IS MISSING"],
      troubles.filter(({ isFailed }) => !isFailed).map(({ what, why }) => ["", printable(what), printable(why)]),
    ),
  ]
}

function minute(at: string | null): string {
  return at === null ? "never" : `${at.slice(0, 10)} ${at.slice(11, 16)}Z`
}
