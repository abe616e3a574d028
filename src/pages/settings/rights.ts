import type { Owner } from "../../access/sign-in/owner.ts"
import { isOnlyWorkspace } from "../../access/workspaces.ts"
import type { Sql } from "../../database/types.ts"
import type { SettingsSection } from "../../ui/app/settings.ts"

type SettingsRight = "allowed" | "operator_only"

/**
 * Decides whether the signed-in person may open a section and send its forms. This is the only place that does, for
 * every page and form of /app/settings. The owner of the only workspace is the operator, because nobody else signs in
 * to the server.
 */
export async function settingsRight(
  sql: Sql,
  { workspaceId }: Pick<Owner, "workspaceId">,
  { audience }: Pick<SettingsSection, "audience">,
): Promise<SettingsRight> {
  if (audience === "owner") return "allowed"
  return (await isOnlyWorkspace(sql, workspaceId)) ? "allowed" : "operator_only"
}
