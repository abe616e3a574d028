const SENTENCES = {
  bad_address: "it must be an http or https address without a user name, on an allowed port",
  blocked: "its host is not on the public network",
  no_such_host: "there is no such host",
  unreachable: "no server answers there",
  tls: "no secure connection could be made",
  timeout: "it took too long",
  too_large: "the response is too large",
  bad_redirect: "it redirects to an address that is not allowed",
  bad_answer: "the response cannot be read",
  stopped: "the caller cancelled it",
} as const

type OutboundCode = keyof typeof SENTENCES

/** Neither message nor cause contains a server's response or a resolved address, because callers must not see them. */
export class OutboundProblem extends Error {
  override name = "OutboundProblem"
  readonly code: OutboundCode
  /** True if the server may have received at least part of the request. False: it has certainly received nothing. */
  readonly isSent: boolean

  constructor(code: OutboundCode, { isSent = false } = {}) {
    super(SENTENCES[code])
    this.code = code
    this.isSent = isSent
  }
}
