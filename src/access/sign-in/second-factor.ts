import { createHmac, hash, randomBytes } from "node:crypto"
import { Secret, TOTP } from "otpauth/bare"
import type { Db, Sql } from "../../database/types.ts"
import { AccessProblem } from "../problem.ts"
import type { Place, Sealer } from "../sealed.ts"
import { letters, plainLetters } from "./letters.ts"
import { endSessions } from "./session.ts"

/** The issuer that authenticator apps show. */
const ISSUER = "Appmeter"

const RECOVERY_CODES = 10
/** 67 bits, so that the stored hashes cannot be guessed even without the limit on tries. */
const RECOVERY_LENGTH = 16

/** Clocks of phones may be this many steps of 30 seconds early or late. */
const WINDOW = 1

export interface FactorParts {
  sql: Sql
  /** Encrypts the secrets. Undefined if nothing can be encrypted: only recovery codes are accepted then. */
  sealer: Sealer | undefined
}

/** A second factor that a person set up. */
interface SecondFactor {
  /** Null until it is confirmed with a code. Until then the sign-in does not ask for it. */
  confirmedAt: Date | null
  recoveryCodesLeft: number
}

/** Returns a person's second factor. Null if the person never began to set one up. */
export async function readSecondFactor(sql: Db, personId: number): Promise<SecondFactor | null> {
  const [row] = await sql<SecondFactor[]>`
    select confirmed_at as "confirmedAt", cardinality(recovery) as "recoveryCodesLeft"
    from second_factor
    where person_id = ${personId}`
  return row ?? null
}

/** Whether the sign-in asks the person for a second factor. */
export async function hasSecondFactor(sql: Db, personId: number): Promise<boolean> {
  return (await readSecondFactor(sql, personId))?.confirmedAt instanceof Date
}

/** Creates a new secret, which is valid after `confirmSecondFactor`. Throws AccessProblem. */
export async function beginSecondFactor({ sql, sealer }: FactorParts, personId: number): Promise<void> {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(20)).buffer }).base32
  const sealed = await sealerOf(sealer).seal(secret, placeOf(personId))
  const { count } = await sql`
    insert into second_factor as f (person_id, sealed)
    values (${personId}, ${sealed})
    on conflict (person_id) do update
    set sealed = excluded.sealed
    where f.confirmed_at is null`
  if (count === 0) throw new AccessProblem("the second factor is on already")
}

/** Sets up an authenticator app: the otpauth address, which a QR code shows, and the secret for typing. */
export interface FactorSetup {
  address: string
  secret: string
}

/** Returns the setup of a second factor. Null unless the person has begun one and has not confirmed it. */
export async function readFactorSetup(
  parts: FactorParts,
  { personId, person }: { personId: number; person: string },
): Promise<FactorSetup | null> {
  const stored = await readStored(parts.sql, personId)
  if (!stored || stored.isConfirmed) return null
  try {
    const totp = await openTotp(parts, personId, stored.sealed, person)
    return { address: totp.toString(), secret: totp.secret.base32 }
  } catch (error) {
    // the secret was encrypted with a key that is no longer available, so the setup begins again
    if (error instanceof AccessProblem) return null
    throw error
  }
}

/**
 * Turns the second factor on and returns its recovery codes, which are not stored. Null if the code is wrong. Ends the
 * person's other sessions, which were begun without it.
 */
export async function confirmSecondFactor(
  parts: FactorParts,
  { personId, id: sessionId }: { personId: number; id: number },
  typed: string,
): Promise<string[] | null> {
  const stored = await readStored(parts.sql, personId)
  const step = stored && !stored.isConfirmed ? await stepOf(parts, personId, stored, typed) : null
  if (!stored || step === null) return null
  const codes = Array.from({ length: RECOVERY_CODES }, () => letters(RECOVERY_LENGTH, randomBytes))
  const isOn = await parts.sql.begin(async (tx) => {
    const { count } = await tx`
      update second_factor
      set confirmed_at = now(), last_step = ${step}, recovery = ${codes.map((code) => digestOf(personId, code))}
      where person_id = ${personId} and sealed = ${stored.sealed} and confirmed_at is null`
    if (count > 0) await endSessions(tx, personId, sessionId)
    return count > 0
  })
  return isOn ? codes.map((code) => code.replaceAll(/.{4}(?=.)/g, "$&-")) : null
}

/** Uses up a code of the app, or a recovery code. False if it is wrong or was used. */
export async function takeFactorCode(parts: FactorParts, personId: number, typed: string): Promise<boolean> {
  const { sql } = parts
  const code = plainLetters(typed)
  if (code.length === RECOVERY_LENGTH) {
    const digest = digestOf(personId, code)
    const { count } = await sql`
      update second_factor
      set recovery = array_remove(recovery, ${digest})
      where person_id = ${personId} and confirmed_at is not null and ${digest} = any(recovery)`
    return count > 0
  }
  const stored = await readStored(sql, personId)
  const step = stored?.isConfirmed ? await stepOf(parts, personId, stored, typed) : null
  if (step === null) return false
  const { count } = await sql`
    update second_factor
    set last_step = ${step}
    where person_id = ${personId} and confirmed_at is not null and last_step < ${step}`
  return count > 0
}

/** Turns the second factor off. False if the person has none. */
export async function removeSecondFactor(sql: Db, personId: number): Promise<boolean> {
  const { count } = await sql`
    delete from second_factor
    where person_id = ${personId}`
  return count > 0
}

interface StoredFactor {
  sealed: string
  isConfirmed: boolean
  /** The time of the database, whose clock all processes share. */
  now: Date
}

async function readStored(sql: Db, personId: number): Promise<StoredFactor | null> {
  const [row] = await sql<StoredFactor[]>`
    select sealed, confirmed_at is not null as "isConfirmed", now()
    from second_factor
    where person_id = ${personId}`
  return row ?? null
}

/** Returns the time step of the code that was entered. Null if the code is wrong or expired. */
async function stepOf(parts: FactorParts, personId: number, { sealed, now }: StoredFactor, typed: string) {
  const token = typed.replaceAll(/\s/g, "")
  if (!/^\d{6}$/.test(token)) return null
  const totp = await openTotp(parts, personId, sealed)
  const timestamp = now.getTime()
  const delta = totp.validate({ token, timestamp, window: WINDOW })
  return delta === null ? null : totp.counter({ timestamp }) + delta
}

async function openTotp({ sealer }: FactorParts, personId: number, sealed: string, label = ""): Promise<TOTP> {
  const secret = Secret.fromBase32(await sealerOf(sealer).open(sealed, placeOf(personId)))
  const hmac = (_: string, key: Uint8Array, message: Uint8Array) => createHmac("sha1", key).update(message).digest()
  return new TOTP({ issuer: ISSUER, label, secret, hmac })
}

function sealerOf(sealer: Sealer | undefined): Sealer {
  if (!sealer) throw new AccessProblem("this process cannot open encrypted secrets")
  return sealer
}

function placeOf(personId: number): Place {
  return { table: "second_factor", row: String(personId) }
}

function digestOf(personId: number, code: string): string {
  return hash("sha256", `recovery code of ${personId} ${code}`)
}
