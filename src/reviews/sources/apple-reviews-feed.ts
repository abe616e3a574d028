import { at, list, parseJson } from "../../measuring/parsing/json.ts"
import { parseXml, type XmlElement } from "../../measuring/parsing/xml.ts"
import { ReadFailure } from "../../measuring/source.ts"

/** A parsed feed of reviews in either form. */
export interface ReviewsFeed {
  /** The feed's own URL, which names the question that it answers. */
  id: unknown
  /** The URL of the last page. Empty if there is none. */
  last: unknown
  entries: FeedEntry[]
}

/** An entry is a review. In earlier feeds the first entry is the app itself. */
export interface FeedEntry {
  id: unknown
  stars: unknown
  title: unknown
  text: unknown
  version: unknown
  updated: unknown
  /** The app's name. A review has none. */
  appName: unknown
}

/** Parses the XML form: Atom with Apple's own elements (recorded from 2020 to 2026). Throws ReadFailure (`changed`). */
export function feedOfXml(body: string): ReviewsFeed {
  const feed = parseXml(body, "the feed", { lenient: true })
  if (feed.name !== "feed") throw changed("the XML is not a feed")
  checkParts(feed.children.map(({ name }) => name))
  const last = named(feed, "link").filter(({ attributes }) => attributes.rel === "last")
  return {
    id: textOf(only(feed, "id")),
    last: atMostOne(last)?.attributes.href,
    entries: named(feed, "entry").map((entry) => ({
      id: textOf(only(entry, "id")),
      stars: textOf(only(entry, "im:rating")),
      title: textOf(only(entry, "title")),
      // An HTML table repeats the same content.
      text: textOf(atMostOne(named(entry, "content").filter(({ attributes }) => attributes.type === "text"))),
      version: textOf(only(entry, "im:version")),
      updated: textOf(only(entry, "updated")),
      appName: textOf(only(entry, "im:name")),
    })),
  }
}

/**
 * Parses the JSON form, a translation of the XML. A single entry is not wrapped in an array. Dates are missing before
 * 2022. Throws ReadFailure (`changed`).
 */
export function feedOfJson(body: string): ReviewsFeed {
  const feed = at(parseJson(body, "the feed"), "feed")
  if (typeof feed !== "object" || feed === null) throw changed("the JSON is not a feed")
  checkParts(Object.keys(feed))
  const label = (value: unknown, name: string) => at(value, name, "label")
  const last = several(at(feed, "link")).filter((link) => at(link, "attributes", "rel") === "last")
  return {
    id: label(feed, "id"),
    last: at(atMostOne(last), "attributes", "href"),
    entries: several(at(feed, "entry")).map((entry) => ({
      id: label(entry, "id"),
      stars: label(entry, "im:rating"),
      title: label(entry, "title"),
      text: label({ content: contentOf(at(entry, "content")) }, "content"),
      version: label(entry, "im:version"),
      updated: label(entry, "updated"),
      appName: label(entry, "im:name"),
    })),
  }
}

const changed = (detail: string) => new ReadFailure("changed", detail)

const PARTS = new Set(["author", "icon", "id", "link", "rights", "title", "updated"])

/**
 * Throws when a feed without entries contains unknown elements, because renamed entries must not be taken for an empty
 * feed.
 */
function checkParts(names: readonly string[]): void {
  if (!names.includes("entry") && names.some((name) => !PARTS.has(name)))
    throw changed("no entries, but unknown elements")
}

function named({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child) => child.name === name)
}

function only(element: XmlElement, name: string): XmlElement | undefined {
  return atMostOne(named(element, name))
}

function atMostOne<T>(all: readonly T[]): T | undefined {
  if (all.length > 1) throw changed("an element occurs twice")
  return all[0]
}

function textOf(element: XmlElement | undefined): string | undefined {
  if (element && element.children.length > 0) throw changed("a text element has child elements")
  return element?.text
}

/** Returns the items of an array, or a single value as an array. Empty if there is no value. */
function several(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? list(value) : [value]
}

function contentOf(content: unknown): unknown {
  return atMostOne(several(content).filter((part) => at(part, "attributes", "type") === "text"))
}
