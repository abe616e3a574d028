import type { Fault } from "../../lib/faults.ts"

/** A JSON-RPC error with its HTTP status. */
export class RpcError extends Error {
  readonly code: number
  readonly status: number
  readonly data: unknown

  constructor(code: number, status: number, message: string, data?: unknown) {
    super(message)
    this.name = "RpcError"
    this.code = code
    this.status = status
    this.data = data
  }
}

export const parseError = () => new RpcError(-32700, 400, "The body is not JSON in UTF-8, or is nested too deep.")

export const invalidRequest = (message: string) => new RpcError(-32600, 400, message)

/** The modern revision requires 404. Earlier ones answer with 200. */
export const methodNotFound = (modern: boolean) => new RpcError(-32601, modern ? 404 : 200, "Unknown method.")

export const invalidParams = (message: string) => new RpcError(-32602, 200, message)

/** A refusal before any method is read. */
export const refused = (status: number, message: string, data?: unknown) => new RpcError(-32000, status, message, data)

/** Converts a fault to an error, with the fault's body as `data`. */
export function errorOf(fault: Fault, docsBase: string): RpcError {
  const body = fault.body(docsBase)
  return fault.status === 401
    ? new RpcError(-32001, 401, `${body.message} ${SIGN_IN}`, body)
    : refused(fault.status, body.message, body)
}

const SIGN_IN =
  "To sign in, let a client that speaks OAuth 2.1 follow the www-authenticate header, " +
  "or set it up to send an API key with every request, as Authorization: Bearer <key> or as x-api-key: <key>. " +
  "The command appmeter key create makes one."
