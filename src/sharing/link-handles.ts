import { Buffer } from "node:buffer"
import type { Sql } from "../database/types.ts"
import { valueAt } from "../lib/objects.ts"
import { LINK_KINDS, type LinkFilter, type PublicLink, readOpenLinks } from "./open-links.ts"

/**
 * An open link and its handle, which is unique among the open links of its kind. A handle gives no access to the link.
 */
export type Link = { handle: string } & PublicLink

/** Reads open links, each with a handle that is unique among them. */
export async function readLinks(sql: Sql, filter: LinkFilter): Promise<Link[]> {
  const links = await readOpenLinks(sql, filter)
  const handles = new Map(LINK_KINDS.flatMap((kind) => handlesOf(kind, links)))
  return links.map((link) => ({ handle: valueAt(handles, link), ...link }))
}

/** Minimum digits of a handle. A collision needs about ten thousand links in a workspace. */
export const HANDLE_DIGITS = 8

/**
 * Returns handles: the first 8 digits of the hash, or as many as are needed to make the handle unique among links of
 * its kind.
 */
function handlesOf(kind: PublicLink["kind"], links: readonly PublicLink[]): [PublicLink, string][] {
  const sorted = links.filter((link) => link.kind === kind).sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
  return sorted.map((link, i) => {
    const alike = [sorted[i - 1], sorted[i + 1]].map((other) => digitsAlike(link.sha256, other?.sha256))
    return [link, `${kind}_${link.sha256.slice(0, Math.max(HANDLE_DIGITS, ...alike.map((count) => count + 1)))}`]
  })
}

function digitsAlike(hash: string, other = ""): number {
  let count = 0
  while (count < other.length && hash[count] === other[count]) count++
  return count
}

/** Returns the range of hashes that begin with these hex digits. */
export function hashesFrom(digits: string): Pick<LinkFilter, "from" | "to"> {
  const hashWith = (digit: string) => Buffer.from(digits.padEnd(64, digit), "hex")
  return { from: hashWith("0"), to: hashWith("f") }
}

/** Describes the content of a link in a few words. */
export function contentOf(link: PublicLink): string {
  if (link.kind === "share") return link.hasPassword ? "a page with a password" : "a page"
  if (link.kind === "feed") {
    const { dataset, format, platform, country, columns } = link
    const place = platform === null ? "" : ` of ${country} on ${platform}`
    return `${dataset}${place}, ${format}${columns === null ? "" : ` (${columns.join(", ")})`}`
  }
  return `${link.rows} ${link.rows === 1 ? "row" : "rows"} of ${link.dataset}, ${link.format}`
}
