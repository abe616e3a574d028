import { createSealer } from "../../access/sealed.ts"
import { openAccountBodies } from "../../measuring/raw-bodies.ts"
import { createMailer } from "../../outbound/mail/smtp.ts"
import type { SettingsPorts } from "../../pages/settings/sections.ts"
import type { Settings } from "../../settings/settings.ts"
import { accountReach } from "./account-reading.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { openMachine } from "./machine.ts"

/** Connects the settings pages of a running server to the world outside the database. */
export async function openSettingsPorts(settings: Settings): Promise<SettingsPorts> {
  const { secretKeys, allowPrivateTargets, telegramApi, measuring, mail } = settings
  const bodies = openAccountBodies(measuring.raw)
  return {
    sealer: await createSealer(secretKeys),
    outbound: guardedFetch(allowPrivateTargets),
    telegramApi,
    mailer: mail && createMailer(mail),
    reach: accountReach(settings, () => new Date()),
    machine: openMachine(settings),
    forgetBodies: (accountId) => bodies.forget(accountId),
  }
}
