import { countSealed, type SealedCount } from "../../access/reseal.ts"
import { createSealer, SecretKeys } from "../../access/sealed.ts"
import { createGate } from "../../database/gate.ts"
import { BASELINE, readLandedSteps } from "../../database/migrate.ts"
import type { Invocation } from "../cli/command.ts"
import type { DoctorDatabase } from "./doctor-database.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"

const THING = "secrets"

/** Checks whether stored secrets can be decrypted, and whether an earlier key is still needed. */
export async function checkSecrets(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  const { secretKeys } = settings
  const counts = await createGate({ deadlineMs: PATIENCE_MS })
    .run(() => countStored(reached, secretKeys))
    .catch(() => null) // the finding "database" reports problems of the database
  if (!counts) return []
  const { newest, earlier, unreadable } = counts
  if (unreadable > 0) {
    const [says, fix] = secretKeys
      ? ["stored secrets are encrypted with an unknown key", "add that key to SECRET_KEY_PREVIOUS"]
      : ["stored secrets are encrypted, but SECRET_KEY is not set", "set SECRET_KEY to the key that encrypted them"]
    return [
      problem(THING, `${unreadable} ${says}, so the channels, accounts and second factors that need them fail`, fix),
    ]
  }
  if (earlier > 0)
    return [
      warning(THING, `${earlier} stored secrets are encrypted with an earlier key`, "run: appmeter secrets reseal"),
    ]
  if (secretKeys && SecretKeys.hasEarlier(secretKeys))
    return [
      warning(
        THING,
        "no stored secret needs SECRET_KEY_PREVIOUS",
        "remove it once every process has the newest SECRET_KEY",
      ),
    ]
  return [ok(THING, newest === 0 ? "none is stored" : `${newest}, all encrypted with SECRET_KEY`)]
}

const PATIENCE_MS = 10_000

/** Counts the stored secrets by the key that encrypted them. Null before the first migration. */
async function countStored(reached: DoctorDatabase, keys: SecretKeys | null): Promise<SealedCount | null> {
  const database = await reached.database()
  if (!database || !(await readLandedSteps(database.sql)).some(({ name }) => name === BASELINE)) return null
  return await countSealed(database.sql, await createSealer(keys))
}
