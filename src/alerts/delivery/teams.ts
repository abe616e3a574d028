import { AccessProblem } from "../../access/problem.ts"
import { addressOf } from "./address.ts"
import type { ChannelKind } from "./channel-kind.ts"
import { cut } from "./cut.ts"
import { jsonOf, post, sentBy, unsentBy } from "./post.ts"

/** Teams accepts 28 KB per message. This length is readable, and stays below that limit with any characters. */
const LONGEST = 4_000

/**
 * A workflow of Microsoft Teams that starts when a webhook request is received. The message is an Adaptive Card with
 * one run of text, which Teams shows without Markdown.
 */
export const teams: ChannelKind<{ url: string }> = {
  title: "Microsoft Teams",
  button: "Add Teams channel",
  fields: [
    {
      name: "url",
      label: "Address of the workflow",
      hint: "In Teams: the channel's Workflows, “Send webhook alerts to a channel”, then copy the address.",
      noun: "the address",
      isSecret: true,
    },
  ],
  summary: "Send alerts to Microsoft Teams through a workflow.",
  details:
    "The address of the workflow is a secret, so it is read from a file or stdin. Connectors of Office 365 " +
    "(webhook.office.com) are retired: create a workflow instead.",
  examples: [
    ["- < teams.txt", "the address from stdin"],
    ["/run/secrets/teams", "from a file"],
  ],
  limit: "4,000 characters, which is less than 28 KB",
  ends: "the workflow is off or deleted, or its address was replaced",
  gapMs: 1_000,
  isGrouped: true,
  check({ url }) {
    const address = addressOf(url)
    if (RETIRED.test(address.hostname))
      throw new AccessProblem(
        "Office 365 connectors are retired. In Teams, open the channel's Workflows, add " +
          "“Send webhook alerts to a channel” and enter the address of that workflow",
        "url",
      )
    if (address.protocol !== "https:" || !HOSTS.test(address.hostname) || !address.searchParams.get("sig"))
      throw new AccessProblem(
        "the address of a Teams workflow is on powerplatform.com or logic.azure.com and contains sig=; copy all of it",
        "url",
      )
    return { shown: `${address.origin}/…`, secret: { url: address.href } }
  },
  async send({ url }, { text }, port) {
    try {
      const answer = await post(url, JSON.stringify(cardOf(cut(text, LONGEST))), port)
      const { error } = jsonOf<{ error?: { code?: unknown } | null }>(answer.bytes)
      const why = answer.status >= 400 ? GONE[String(error?.code)] : undefined
      if (why) return { result: "refused", failure: `status ${answer.status}: ${why}` }
      return sentBy(answer, port.now())
    } catch (error) {
      return unsentBy(error)
    }
  },
}

const RETIRED = /(^|\.)(webhook\.office\.com|outlook\.office(365)?\.com)$/
const HOSTS = /\.(logic\.azure\.com|powerplatform\.com)$/

const OFF = "the workflow is off or was deleted"
const REPLACED = "the address of the workflow is no longer valid"

/** Codes of Azure Logic Apps, which runs workflows. */
const GONE: Record<string, string> = {
  WorkflowTriggerIsNotEnabled: OFF,
  WorkflowDisabled: OFF,
  WorkflowNotFound: OFF,
  AuthorizationFailed: REPLACED,
  DirectApiAuthorizationRequired: REPLACED,
  DirectApiInvalidAuthorizationScheme: REPLACED,
}

/** Returns a message with one Adaptive Card. Only a TextRun shows its text as it is. */
function cardOf(text: string): object {
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.2",
    body: [{ type: "RichTextBlock", inlines: [{ type: "TextRun", text: text.replaceAll("{{", "{\u200b{") }] }],
  }
  const attachment = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }
  return { type: "message", attachments: [attachment] }
}
