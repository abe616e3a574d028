import { AccessProblem } from "../../access/problem.ts"
import { addressOf, hintOf } from "./address.ts"
import type { ChannelKind } from "./channel-kind.ts"
import { cutBytes } from "./cut.ts"
import { jsonOf, post, sentBy, unsentBy } from "./post.ts"

/** Maximum bytes of a message. The server turns a longer message into an attached file. */
const LONGEST = 4_096

/** The quota of a day is filled a little at a time or at midnight UTC, depending on the server. */
const DAY_QUOTA_MS = 3_600_000

/**
 * A topic of ntfy.sh or of a server of one's own. Messages are plain text with fixed headers, so names written by
 * others can add no header, action or Markdown. The id of the message is its sequence id: servers from 2.16 on replace
 * a notification that is sent again.
 */
export const ntfy: ChannelKind<{ url: string; token?: string }> = {
  title: "ntfy",
  button: "Add ntfy topic",
  fields: [
    {
      name: "url",
      label: "Address of the topic",
      hint: "Such as https://ntfy.sh/ and a name that is hard to guess: anyone who knows it can read the topic.",
      noun: "the address",
    },
    {
      name: "token",
      label: "Access token",
      hint: "Only if the topic is protected. It begins with tk_.",
      noun: "the access token",
      isSecret: true,
      isOptional: true,
      option: { name: "token", value: "FILE", meaning: "the access token of a protected topic" },
    },
  ],
  summary: "Send alerts to a topic of ntfy.sh or of your own ntfy server.",
  details: "Anyone who knows the name of an unprotected topic can read it, so the list does not show it.",
  examples: [
    ["https://ntfy.sh/tea-timer-q7Xk2", "an unprotected topic"],
    ["https://ntfy.example.com/ranks --token-file /run/secrets/ntfy", "a protected topic on your server"],
  ],
  limit: "4,096 bytes",
  ends: "401 or 403: the topic needs another token",
  gapMs: 1_000,
  isGrouped: true,
  check({ url, token = "" }) {
    const address = addressOf(url)
    if (address.search !== "")
      throw new AccessProblem("the address of a topic ends with its name; leave out the part from ? on", "url")
    if (!/\/[\w-]{1,64}$/.test(address.pathname))
      throw new AccessProblem(
        "the address must end with the topic: 1 to 64 letters, digits, - or _, as in https://ntfy.sh/tea-timer-q7Xk2",
        "url",
      )
    if (token !== "" && !/^tk_\w{1,60}$/.test(token))
      throw new AccessProblem("an access token begins with tk_ and has letters and digits", "token")
    return { shown: hintOf(address), secret: { url: address.href, ...(token !== "" && { token }) } }
  },
  async send({ url, token }, { id, type, text }, port) {
    const headers = {
      "content-type": "text/plain; charset=utf-8",
      title: "Appmeter",
      tags: type.replace(/^.*\./, ""),
      "x-sequence-id": id,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    try {
      const answer = await post(url, cutBytes(text, LONGEST), port, headers)
      if (answer.status === 401 || answer.status === 403)
        return { result: "refused", failure: `status ${answer.status}: ${refusalOf(token)}` }
      const sent = sentBy(answer, port.now())
      const { code } = jsonOf<{ code?: unknown }>(answer.bytes)
      if (sent.result === "throttled" && code === 42_908)
        return { waitMs: DAY_QUOTA_MS, ...sent, failure: "status 429: the server's daily limit of messages is reached" }
      if (sent.result === "failed" && code === 40_010)
        return { ...sent, failure: `${sent.failure}: the server does not allow this name of a topic` }
      return sent
    } catch (error) {
      return unsentBy(error)
    }
  },
}

function refusalOf(token: string | undefined): string {
  return token === undefined
    ? "the topic is protected: add the channel again with an access token"
    : "the access token may not write to this topic"
}
