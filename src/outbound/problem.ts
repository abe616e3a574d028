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

export type OutboundCode = keyof typeof SENTENCES

/**
 * Why a site gave no answer. The message is the code's own sentence and there is no cause: an address that a name
 * resolved to, or anything that a server said, must not reach whoever named the site.
 */
export class OutboundProblem extends Error {
  override name = "OutboundProblem"
  readonly code: OutboundCode

  constructor(code: OutboundCode) {
    super(SENTENCES[code])
    this.code = code
  }
}
