import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { giveTryBack, type SecretTry, takeTry } from "../tries.ts"
import { takeCode } from "./code.ts"
import { isPassphraseOf } from "./passphrase.ts"
import type { Person } from "./person.ts"
import { markProved } from "./session.ts"

/** Name of the form field in which a signed-in person proves again who they are. */
export const PROOF_FIELD = "proof"

/** Why a proof was refused. */
export type ProofProblem = "wrong" | { waitSeconds: number }

export interface ProofParts {
  sql: Sql
  gate: Pick<Gate, "run">
}

/**
 * Checks the passphrase of a signed-in person, or a code of theirs if they have none, and records it in the session.
 * Null if it is right. Counts as a try at the passphrase, as on the sign-in page.
 */
export async function prove(
  { sql, gate }: ProofParts,
  person: Person,
  typed: string,
  address: string | null,
): Promise<ProofProblem | null> {
  const secret = person.hasPassphrase ? secretOf(person.personId) : null
  const tried: SecretTry = { scope: "sign-in", address, secret }
  const waitSeconds = await gate.run(() => takeTry(sql, tried))
  if (waitSeconds !== null) return { waitSeconds }
  if (!(await isRight({ sql, gate }, person, typed))) return "wrong"
  await gate.run(async () => {
    await giveTryBack(sql, tried)
    await markProved(sql, person.id)
  })
  return null
}

/** The name under which tries at a person's passphrase are counted. */
export function secretOf(personId: number): string {
  return `person ${personId}`
}

async function isRight({ sql, gate }: ProofParts, person: Person, typed: string): Promise<boolean> {
  if (person.hasPassphrase) return await isPassphraseOf(sql, person.personId, typed)
  const holder = await gate.run(() => sql.begin((tx) => takeCode(tx, typed)))
  return holder?.personId === person.personId
}
