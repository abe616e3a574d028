import type { Gate } from "../../database/gate.ts"
import { AccessProblem } from "../problem.ts"
import { giveTryBack, type SecretTry, takeTry } from "../tries.ts"
import { takeCode } from "./code.ts"
import { isPassphraseOf } from "./passphrase.ts"
import { type FactorParts, takeFactorCode } from "./second-factor.ts"
import { markProved, type Session } from "./session.ts"

/** Name of the form field in which a signed-in person proves again who they are. */
export const PROOF_FIELD = "proof"

/** Name of the form field with a code of their second factor, if they have one. */
export const PROOF_CODE_FIELD = "proofCode"

/** Why a proof was refused. */
export type ProofProblem = "wrong" | "wrong code" | "unreadable factor" | { waitSeconds: number }

export interface Proof {
  /** The passphrase, or a sign-in code from the machine if the person has none. */
  typed: string
  /** The code of the second factor. */
  code: string
  address: string | null
}

interface ProofParts extends FactorParts {
  gate: Pick<Gate, "run">
}

/**
 * Checks the passphrase of a signed-in person, or a sign-in code if they have no passphrase, and their second factor if
 * they have one. Records the proof in the session. Null if everything is correct. Counts as tries, as on the sign-in
 * page.
 */
export async function prove(
  parts: ProofParts,
  person: Session,
  { typed, code, address }: Proof,
): Promise<ProofProblem | null> {
  const { sql, gate } = parts
  const secret = person.hasPassphrase ? secretOf(person.personId) : null
  const tried: SecretTry = { scope: "sign-in", address, secret }
  const waitSeconds = await gate.run(() => takeTry(sql, tried))
  if (waitSeconds !== null) return { waitSeconds }
  if (!(await isRight(parts, person, typed))) return "wrong"
  await gate.run(() => giveTryBack(sql, tried))
  const problem = person.hasSecondFactor ? await proveSecondFactor(parts, person.personId, code, address) : null
  if (problem === null) await gate.run(() => markProved(sql, person.id))
  return problem
}

/** Checks and uses up a code of a person's second factor. Null if it is correct. Counts as a try. */
export async function proveSecondFactor(
  parts: ProofParts,
  personId: number,
  code: string,
  address: string | null,
): Promise<ProofProblem | null> {
  const { sql, gate } = parts
  const tried: SecretTry = { scope: "sign-in", address, secret: `second factor of ${personId}` }
  const waitSeconds = await gate.run(() => takeTry(sql, tried))
  if (waitSeconds !== null) return { waitSeconds }
  try {
    if (!(await gate.run(() => takeFactorCode(parts, personId, code)))) return "wrong code"
  } catch (error) {
    if (error instanceof AccessProblem) return "unreadable factor"
    throw error
  }
  await gate.run(() => giveTryBack(sql, tried))
  return null
}

/** The name under which tries at a person's passphrase are counted. */
export function secretOf(personId: number): string {
  return `person ${personId}`
}

async function isRight({ sql, gate }: ProofParts, person: Session, typed: string): Promise<boolean> {
  if (person.hasPassphrase) return await isPassphraseOf(sql, person.personId, typed)
  const holder = await gate.run(() => sql.begin((tx) => takeCode(tx, typed)))
  return holder?.personId === person.personId
}
