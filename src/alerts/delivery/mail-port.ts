import { noteRefusedAddress, readMailRecipients } from "../../access/people/mail-addresses.ts"
import type { Sql } from "../../database/types.ts"
import type { Mailer } from "../../outbound/mail/smtp.ts"
import { makeUnsubscribeUrl } from "../digest/unsubscribe.ts"

/** A member who gets alerts by mail. */
export interface AlertReader {
  address: string
  workspace: string
  /** Whether the member sees all apps of the workspace. */
  hasAllApps: boolean
  /** Whether the member may see bids and budgets of ads. */
  seesAds: boolean
  unsubscribeUrl: string
}

/** How channels of kind email send. */
export interface MailPort {
  mailer: Mailer
  publicUrl: string
  /** Null if the person is no longer a member, or has no confirmed address that accepts mail. */
  readerOf(personId: number, channelId: string): Promise<AlertReader | null>
  /** Notes that the mail server refused the address of a person for good. */
  noteRefused(personId: number, address: string, why: string): Promise<void>
}

/** Reads the member of a channel anew for each mail, so that a lost right or address takes effect at once. */
export function openMailPort(sql: Sql, { mailer, publicUrl }: Pick<MailPort, "mailer" | "publicUrl">): MailPort {
  return {
    mailer,
    publicUrl,
    async readerOf(personId, channelId) {
      const [channel] = await sql<{ workspaceId: number }[]>`
        select workspace_id as "workspaceId"
        from channel
        where id = ${channelId} and person_id = ${personId}`
      if (!channel) return null
      const { workspaceId } = channel
      const [recipient] = await readMailRecipients(sql, [{ personId, workspaceId }])
      if (!recipient) return null
      const { address, workspace, appList, scopes } = recipient
      return {
        address,
        workspace,
        hasAllApps: appList === null,
        seesAds: scopes.includes("ads:read"),
        unsubscribeUrl: await makeUnsubscribeUrl(sql, publicUrl, { personId, workspaceId, channelId }),
      }
    },
    noteRefused: (personId, address, why) => noteRefusedAddress(sql, personId, address, why),
  }
}
