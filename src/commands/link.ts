import type { Sql } from "../database/types.ts"
import { contentOf, HANDLE_DIGITS as DIGITS, hashesFrom, type Link, readLinks } from "../sharing/link-handles.ts"
import { type PublicLink, withdrawLink } from "../sharing/open-links.ts"
import { linkDigest } from "../sharing/token.ts"
import { type Command, CommandProblem, firstArgument, type Invocation, WrongUse } from "./cli/command.ts"
import { printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"

export const linkList: Command = {
  name: "link list",
  summary: "List a workspace's open public links: shared pages, exports, feeds.",
  examples: [["link list", "handle, kind, app, expiry and content of each link"]],
  options: { workspace: { value: "NAME", meaning: "The workspace. Optional if there is only one." } },
  async run(invocation) {
    const links = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      return await readLinks(sql, { workspaceId: id, ...hashesFrom("") })
    })
    showLinks(invocation, { links: links.map(shown) }, links)
    return 0
  },
}

export const linkWithdraw: Command = {
  name: "link withdraw",
  changes: true,
  summary: "Withdraw a public link and delete the data behind it.",
  examples: [
    ["link withdraw share_3f9a1c02 --force", "by its handle, without a confirmation"],
    ["link withdraw https://ranks.example.com/exports/2mVb…", "by its whole address"],
  ],
  positionals: ["link"],
  options: {
    workspace: {
      value: "NAME",
      meaning: "The workspace. Optional if there is only one, or with the whole address.",
    },
    force: { meaning: "Skip the confirmation." },
  },
  async run(invocation) {
    const named = nameOf(firstArgument(invocation).trim())
    const link = await useDatabase(invocation, async (sql) => {
      const link = await findLink(sql, named, invocation.text("workspace"))
      if (!invocation.has("force"))
        await invocation.terminal.confirm(
          `Withdrawing ${link.handle} (${contentOf(link)} of ${appOf(link)}) cannot be undone.`,
        )
      const withdrawn = await withdrawLink(sql, link)
      // the link was withdrawn or expired while the user was asked for confirmation
      if (!withdrawn) throw new CommandProblem(`${link.handle} is not open any more: it was withdrawn or has expired`)
      return link
    })
    showLinks(invocation, { withdrawn: shown(link) }, [link])
    return 0
  },
}

const appOf = ({ appName, appId }: Link) => printable(appName ?? appId)

type Kind = PublicLink["kind"]
/** A link as typed: a kind and the start of the hash, or the whole hash of a token, whose kind is unknown (null). */
type LinkName = { kind: Kind; digits: string } | { kind: null; digits: string }

function nameOf(typed: string): LinkName {
  // checked before the token, because a handle of 37 digits has the form of a token
  const [, kind, digits = ""] = /^(share|export|feed)_([0-9a-f]+)$/i.exec(typed) ?? []
  if (kind && digits.length >= DIGITS && digits.length <= 64)
    return { kind: kind.toLowerCase() as Kind, digits: digits.toLowerCase() }
  const token = /(?:^|\/(?:share|exports|feeds)\/)([\w-]{43})(?![\w-])/.exec(typed)?.[1]
  if (!token)
    throw new WrongUse(
      `give the handle of the link, with at least ${DIGITS} digits, or its whole address; see: appmeter link list`,
    )
  return { kind: null, digits: linkDigest(token).toString("hex") }
}

/** Returns the link. A token is looked up in all workspaces, because its holder may not know the workspace. */
async function findLink(sql: Sql, named: LinkName, workspace: string | undefined): Promise<Link> {
  const everywhere = named.kind === null && workspace === undefined
  const workspaceId = everywhere ? null : (await chooseWorkspace(sql, workspace)).id
  const found = await readLinks(sql, { workspaceId, ...hashesFrom(named.digits) })
  const meant = found.filter(({ kind }) => named.kind === null || kind === named.kind)
  const [link, ...otherLinks] = meant
  if (!link) throw new CommandProblem(noSuch(named, everywhere))
  if (otherLinks.length === 0) return link
  const handles = meant.slice(0, 10).map(({ handle }) => handle)
  throw new WrongUse(`${named.kind}_${named.digits} matches several links; give more digits: ${handles.join(", ")}`)
}

/** The message does not contain the token, because it may be valid on another instance. */
function noSuch({ kind, digits }: LinkName, everywhere: boolean): string {
  if (kind !== null) return `the workspace has no open link "${kind}_${digits}"; see: appmeter link list`
  const nobody = everywhere ? "no workspace has an" : "the workspace has no"
  return `${nobody} open link with this address: it expired, was withdrawn, or belongs to another instance`
}

function shown({ sha256: _, ...link }: Link): Omit<Link, "sha256"> {
  return link
}

function showLinks(invocation: Invocation, value: object, links: Link[]): void {
  const minute = (at: Date) => at.toISOString().slice(0, 16)
  show(invocation, value, () =>
    table(
      ["HANDLE", "KIND", "WORKSPACE", "APP", "NAME", "CREATED", "EXPIRES", "CONTENT"],
      links.map((link) => [
        link.handle,
        link.kind,
        printable(link.workspace),
        link.appId,
        link.appName && printable(link.appName),
        minute(link.createdAt),
        link.expiresAt && minute(link.expiresAt),
        contentOf(link),
      ]),
      "no open links; create one with: appmeter share, appmeter export or appmeter feed create",
    ),
  )
}
