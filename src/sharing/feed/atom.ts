import { xmlText } from "./xml.ts"

export interface AtomEntry {
  /** Permanent and the same for all copies: a tag URI. */
  id: string
  title: string
  published: Date
  updated: Date
  /** Plain text. */
  content: string
  /** A category by which feed readers can filter entries. */
  category: string
}

interface AtomFeed {
  id: string
  title: string
  /** The address of the feed itself. */
  self: string
  /** The time of the feed if it has no entry. */
  createdAt: Date
  entries: readonly AtomEntry[]
}

/**
 * Returns an Atom feed (RFC 4287). Its time is that of its latest entry, so the text changes only if an entry does. All
 * texts have the type "text", so markup in them is shown literally.
 */
export function atomFeed({ id, title, self, createdAt, entries }: AtomFeed): string {
  const times = entries.map(({ updated }) => updated.getTime())
  const latest = times.length === 0 ? createdAt : new Date(Math.max(...times))
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
${element("id", id)}
${element("title", title)}
${element("updated", latest.toISOString())}
<link rel="self" type="application/atom+xml" href="${xmlText(self)}"/>
<author><name>Appmeter</name></author>
<generator>Appmeter</generator>
${entries.map(entryPart).join("")}</feed>
`
}

function entryPart({ id, title, published, updated, content, category }: AtomEntry): string {
  return `<entry>
${element("id", id)}
${element("title", title)}
${element("published", published.toISOString())}
${element("updated", updated.toISOString())}
<category term="${xmlText(category)}"/>
<content type="text">${xmlText(content)}</content>
</entry>
`
}

function element(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>`
}

/**
 * Returns a tag URI (RFC 4151) for an item on this server. It changes only if the host of PUBLIC_URL changes. `path`
 * may contain only characters of URIs.
 */
export function tagOf(publicUrl: string, path: string): string {
  const host = new URL(publicUrl).hostname.replaceAll(/[^a-z0-9.-]+/gi, "-").replaceAll(/^-|-$/g, "")
  return `tag:${host},2026:${path}`
}
