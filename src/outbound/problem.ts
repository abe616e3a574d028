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

/** Neither message nor cause tell what a server said or what a name resolved to: that must not reach the asker. */
export class OutboundProblem extends Error {
  override name = "OutboundProblem"
  readonly code: OutboundCode
  /** Whether the other side may have got the request, or some of it: false = it certainly has not. */
  readonly isSent: boolean

  constructor(code: OutboundCode, { isSent = false } = {}) {
    super(SENTENCES[code])
    this.code = code
    this.isSent = isSent
  }
}
