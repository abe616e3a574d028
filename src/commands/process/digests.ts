import { randomUUID } from "node:crypto"
import type { Ask } from "../../alerts/digest/read-digest.ts"
import { createDigests, type Digests } from "../../alerts/digest/worker.ts"
import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import type { App } from "../../app.ts"
import { catalog } from "../../catalog.ts"
import type { Operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import type { Log } from "../../lib/log.ts"
import { createMailer, type SmtpServer } from "../../outbound/mail/smtp.ts"
import { pageOperations } from "../../pages/app/operations.ts"
import { SOURCES } from "../../sources.ts"

interface DigestPorts {
  sql: Sql
  log: Log
  invoke: App["invoke"]
  publicUrl: string
}

/** Creates the worker that mails digests. */
export function openDigests(mail: SmtpServer, { sql, log, invoke, publicUrl }: DigestPorts): Digests {
  return createDigests({ sql, log, mailer: createMailer(mail), publicUrl, askAs: (keyId) => askAs(invoke, keyId) })
}

const BY_ID = new Map<string, Operation>(
  [...catalog, ...pageOperations(SOURCES).all].map((operation) => [operation.id, operation]),
)

/** Maximum number of tries of a call, one try per second. A plan allows few calls per second, and a digest can wait. */
const MAX_TRIES = 10

/** Runs operations with the rights of a person's grant and free of charge, like the pages that the person opens. */
export function askAs(invoke: App["invoke"], keyId: number): Ask {
  return async <Id extends OperationId>(id: Id, input: InputOf<Id> = {}) => {
    const found = BY_ID.get(id)
    if (!found) throw new Fault("unknown_endpoint")
    const operation = { ...found, price: 0 }
    const call = { surface: "pages", credentials: { grant: keyId }, keyInUrl: false, address: null } as const
    for (let tries = 1; ; tries++) {
      const requestId = randomUUID()
      const reply = await invoke({ ...call, requestId, target: async () => ({ operation, input }) })
      if (!reply.fault) return reply.answer as AnswerOf<Id>
      if (reply.fault.code !== "rate_limited" || tries >= MAX_TRIES) throw reply.fault
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}
