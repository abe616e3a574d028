import { countSealed, type SealedCount } from "../../access/reseal.ts"
import { createSealer, SecretKeys } from "../../access/sealed.ts"
import { createGate } from "../../database/gate.ts"
import { BASELINE, readLandedSteps } from "../../database/migrate.ts"
import type { Invocation } from "../cli/command.ts"
import { type Finding, ok, problem, warning } from "./finding.ts"
import type { DoctorDatabase } from "./reached.ts"

const THING = "secrets"

/** Whether what is sealed in the database can be opened, and whether an earlier key is needed still. */
export async function checkSecrets(
  { settings }: Pick<Invocation, "settings">,
  reached: DoctorDatabase,
): Promise<Finding[]> {
  const { secretKeys } = settings
  const counts = await createGate({ deadlineMs: PATIENCE_MS })
    .run(() => countStored(reached, secretKeys))
    .catch(() => null) // what is wrong with the database is said of the database
  if (!counts) return []
  const { newest, earlier, unreadable } = counts
  if (unreadable > 0) {
    const [says, fix] = secretKeys
      ? ["were sealed with a key that is not given", "put that key into SECRET_KEY_PREVIOUS"]
      : ["are sealed, and SECRET_KEY is not set", "set SECRET_KEY to the key that sealed them"]
    return [problem(THING, `${unreadable} ${says}: their channels tell nothing`, fix)]
  }
  if (earlier > 0) return [warning(THING, `${earlier} are sealed with an earlier key`, "run: appmeter secrets reseal")]
  if (secretKeys && SecretKeys.hasEarlier(secretKeys))
    return [warning(THING, "none needs SECRET_KEY_PREVIOUS", "remove it once every process has the newest SECRET_KEY")]
  return [ok(THING, newest === 0 ? "none is stored" : `${newest}, all sealed with SECRET_KEY`)]
}

const PATIENCE_MS = 10_000

/** Null where no table of this program's stands yet. */
async function countStored(reached: DoctorDatabase, keys: SecretKeys | null): Promise<SealedCount | null> {
  const database = await reached.database()
  if (!database || !(await readLandedSteps(database.sql)).some(({ name }) => name === BASELINE)) return null
  return await countSealed(database.sql, await createSealer(keys))
}
