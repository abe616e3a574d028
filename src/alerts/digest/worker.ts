import { noteRefusedAddress } from "../../access/people/mail-addresses.ts"
import type { Sql } from "../../database/types.ts"
import { firstOf, recurring } from "../../jobs/timers.ts"
import { Fault } from "../../lib/faults.ts"
import type { Log } from "../../lib/log.ts"
import type { RecurringWork } from "../../lib/time.ts"
import type { Mailer } from "../../outbound/mail/smtp.ts"
import { writeLetter } from "../../ui/mail/letter.ts"
import {
  type Claim,
  claimDigest,
  endInterrupted,
  endSkipped,
  markSending,
  readSubscribers,
  type Subscriber,
  settleDigest,
} from "./claims.ts"
import { digestLetter } from "./digest-letter.ts"
import { duePeriod, type Period } from "./period.ts"
import { type Ask, readDigest } from "./read-digest.ts"
import { makeUnsubscribeUrl, type Subscription } from "./unsubscribe.ts"

interface DigestOptions {
  sql: Sql
  log: Log
  mailer: Mailer
  publicUrl: string
  /** Returns operations with the rights of a grant. */
  askAs: (keyId: number) => Ask
  now?: () => Date
}

export interface Digests extends RecurringWork {
  /** Sends the digests that are due. Returns how many mails were accepted. */
  runOnce(): Promise<number>
}

const MINUTE_MS = 60_000
const FIRST: Subscription = { personId: 0, workspaceId: 0 }

/** The subscription ended, or the person lost the right to it, between reading and sending. */
class Ended extends Error {}

/**
 * Sends digests when they are due. Any number of processes may run it: each person gets one mail per period. A mail
 * whose outcome is unknown is not sent again.
 */
export function createDigests(options: DigestOptions): Digests {
  const { sql, log, now = () => new Date() } = options
  const stopping = new AbortController()
  const runOnce = async () => {
    await endInterrupted(sql)
    let sentCount = 0
    for (let after: Subscription | null = FIRST; after !== null && !stopping.signal.aborted; ) {
      const { subscribers, next }: Awaited<ReturnType<typeof readSubscribers>> = await readSubscribers(sql, after)
      for (const subscriber of subscribers) {
        if (stopping.signal.aborted) break
        const period = duePeriod(subscriber, now())
        if (!period || period.at < subscriber.since) continue
        const claim = await claimDigest(sql, subscriber, period)
        if (claim && (await sendDigest(options, { subscriber, period, claim, now: now() }))) sentCount++
      }
      after = next
    }
    return sentCount
  }
  const look = recurring(MINUTE_MS, runOnce, firstOf(log, "digest_worker_failed"))
  return {
    start: look.start,
    async stop() {
      stopping.abort()
      await look.stop()
    },
    runOnce,
  }
}

interface Due {
  subscriber: Subscriber
  period: Period
  claim: Claim
  now: Date
}

async function sendDigest({ sql, log, mailer, publicUrl, askAs }: DigestOptions, due: Due): Promise<boolean> {
  const { subscriber, period, claim, now } = due
  const { every, workspace, address, personId, keyId } = subscriber
  let isBegun = false
  try {
    const digest = await readDigest(askAs(keyId), every, period)
    if (!digest) {
      await endSkipped(sql, claim, "nothing was measured")
      return false
    }
    const unsubscribeUrl = await makeUnsubscribeUrl(sql, publicUrl, subscriber)
    const letter = digestLetter(digest, { every, ...period, workspace, publicUrl, unsubscribeUrl })
    const mail = { id: claim.id, to: address, subject: letter.subject, at: now, unsubscribeUrl, ...writeLetter(letter) }
    const begin = async () => {
      if (!(await markSending(sql, claim, subscriber))) throw new Ended()
      isBegun = true
    }
    const sent = await mailer.send(mail, { begin })
    await settleDigest(sql, claim, sent)
    if (sent.result === "refused") await noteRefusedAddress(sql, personId, address, sent.failure)
    if (sent.result !== "delivered") log("warn", "digest_failed", { reason: sent.failure })
    return sent.result === "delivered"
  } catch (error) {
    if (error instanceof Ended) await endSkipped(sql, claim, "the digest was ended meanwhile")
    else if (error instanceof Fault && error.status < 500) await endSkipped(sql, claim, error.message)
    else log("warn", "digest_failed", { reason: (error as Error).message })
    // a mail whose result could not be stored stays in sending, and becomes unknown
    if (!isBegun) await settleDigest(sql, claim, { result: "failed", failure: "the digest could not be read" })
    return false
  }
}
