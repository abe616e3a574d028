import type { Sealer } from "../../access/sealed.ts"
import type { People } from "../../access/sign-in/person.ts"
import { channelsSection } from "../../alerts/page/channels.ts"
import { mailSection } from "../../alerts/page/mail.ts"
import { rulesSection } from "../../alerts/page/rules.ts"
import type { AccountReach } from "../../consoles/account-kind.ts"
import { accountsSection } from "../../consoles/page/accounts.ts"
import type { Sql } from "../../database/types.ts"
import { marketSection } from "../../market/page/followed.ts"
import type { Mailer } from "../../outbound/mail/smtp.ts"
import type { SafeFetch } from "../../outbound/safe-fetch.ts"
import { sharingSection } from "../../sharing/page/links.ts"
import type { SettingsSection } from "../../ui/app/settings.ts"
import { dataSection } from "./data.ts"
import { healthSection } from "./health.ts"
import { keysSection } from "./keys.ts"
import type { Machine } from "./machine.ts"
import { peopleSection } from "./people.ts"
import { profileSection } from "./profile.ts"
import { usageSection } from "./usage.ts"
import { workspaceSection } from "./workspace.ts"

/** Services and files that the settings use outside the database. */
export interface SettingsPorts {
  /** Encrypts secrets. Without SECRET_KEY it throws an error that explains how to create one. */
  sealer: Sealer
  /** Sends requests to addresses that people entered. */
  outbound: SafeFetch
  /** The base URL of Telegram's bot API. Undefined for Telegram's own. */
  telegramApi: string | undefined
  /** Sends mail. Null without SMTP_URL. */
  mailer: Mailer | null
  /** How to reach the hosts of connected accounts. */
  reach: AccountReach
  /** Deletes the stored responses of an account. */
  forgetBodies(accountId: string): Promise<void>
  machine: Machine
}

interface SectionParts {
  sql: Sql
  people: People
  /** Omit if nothing outside may be reached. The sections that need it are then missing. */
  ports?: SettingsPorts | undefined
  /** The name of the OpenID provider that signs people in. Null without one. */
  provider: string | null
}

/** The pages of /app/settings in the order of their tabs. */
export function settingsSections({ sql, people, ports, provider }: SectionParts): SettingsSection[] {
  const outside = ports && [channelsSection({ sql, ...ports }), rulesSection(), accountsSection({ sql, ...ports })]
  const sections: SettingsSection[] = [
    profileSection({ sql, people, sealer: ports?.sealer, provider }),
    ...(ports ? [mailSection({ sql, mailer: ports.mailer })] : []),
    peopleSection(sql),
    keysSection(sql),
    ...(outside ?? []),
    sharingSection(sql),
    marketSection(sql),
    usageSection(),
  ]
  if (ports) sections.push(dataSection(ports.machine), healthSection(ports.machine))
  return [workspaceSection(sections), ...sections]
}
