import type { Command, ExitCode, Invocation } from "./cli/command.ts"
import { show, table } from "./cli/show.ts"
import { checkBackups } from "./doctor/backups.ts"
import { checkDatabase } from "./doctor/database.ts"
import { rebuildDerived } from "./doctor/derived.ts"
import { type DoctorDatabase, openDoctorDatabase } from "./doctor/doctor-database.ts"
import type { Finding } from "./doctor/finding.ts"
import { checkFolder } from "./doctor/folder.ts"
import { checkLimits } from "./doctor/limits.ts"
import { checkMail } from "./doctor/mail.ts"
import { checkMarket } from "./doctor/market.ts"
import { checkMonths } from "./doctor/months.ts"
import { checkOidc } from "./doctor/oidc.ts"
import { checkProgram } from "./doctor/program.ts"
import { checkScreenshots } from "./doctor/screenshots.ts"
import { checkSecrets } from "./doctor/secrets.ts"
import { checkSettings } from "./doctor/settings.ts"
import { checkSignIn } from "./doctor/sign-in.ts"
import { checkSources } from "./doctor/sources.ts"
import { checkWriter } from "./doctor/writer.ts"

export const doctor: Command = {
  name: "doctor",
  summary: "Check the installation and explain how to fix problems.",
  details: "Changes nothing unless --rebuild is given. Exit code 1 if there is a problem.",
  examples: [
    ["doctor", "with or without a running server; changes nothing"],
    ["doctor --rebuild", "recompute current values from the readings and correct differences"],
    ["doctor --json | jq '.findings[] | select(.state != \"ok\")'", "only warnings and problems"],
  ],
  options: {
    rebuild: {
      meaning:
        "Also recompute the current values of keywords, charts, reviews, ratings, reports and app names, " +
        "and correct differences.",
    },
  },
  // doctor reports warnings about settings as findings
  logs: true,
  async run(invocation): Promise<ExitCode> {
    const findings: Finding[] = []
    const reached = openDoctorDatabase(invocation)
    try {
      for (const check of CHECKS) findings.push(...(await check(invocation, reached)))
    } finally {
      await reached.close()
    }
    const healthy = findings.every(({ state }) => state !== "problem")
    show(invocation, { healthy, findings }, () => lines(findings))
    return healthy ? 0 : 1
  },
}

/** The checks in the order of the output. No check throws. */
const CHECKS: ((invocation: Invocation, reached: DoctorDatabase) => Finding[] | Promise<Finding[]>)[] = [
  checkProgram,
  checkSettings,
  checkFolder,
  checkBackups,
  checkDatabase,
  rebuildDerived,
  checkSecrets,
  checkMonths,
  checkMarket,
  checkLimits,
  checkSources,
  checkWriter,
  checkScreenshots,
  checkSignIn,
  checkOidc,
  checkMail,
]

function lines(findings: readonly Finding[]): string[] {
  const rows = findings.map(({ state, thing, says, fix }) => [state, thing, fix ? `${says}; ${fix}` : says])
  return table(["STATE", "CHECK", "RESULT"], rows)
}
