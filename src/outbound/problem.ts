const SENTENCES = {
  bad_address: "it is no address that may be asked: http or https, without a user, on a port that is allowed",
  blocked: "its host is not on the public network",
  no_such_host: "there is no such host",
  unreachable: "nobody answers there",
  tls: "no safe connection could be made",
  timeout: "it took too long",
  too_large: "the answer is too large",
  bad_redirect: "it sends on to where it may not",
  bad_answer: "the answer cannot be read",
  stopped: "the caller ended it",
} as const

type OutboundCode = keyof typeof SENTENCES

/**
 * Neither message nor cause contain what a server answered or what a name resolved to, because callers must not see it.
 */
export class OutboundProblem extends Error {
  override name = "OutboundProblem"
  readonly code: OutboundCode
  /** Whether the server may have received at least part of the request. False: it certainly has not. */
  readonly isSent: boolean

  constructor(code: OutboundCode, { isSent = false } = {}) {
    super(SENTENCES[code])
    this.code = code
    this.isSent = isSent
  }
}
