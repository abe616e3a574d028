/** A page of the App Store's feed. */
export interface Page {
  /** Ids. */
  reviews: readonly number[]
  /** Number of the last page. Null if the feed's links to its first, last and next page are empty. */
  last: number | null
}

/**
 * Returns the page in the recorded XML form. A review's stars, text and date follow from its id; greater ids are newer.
 */
export function xmlFeed(storefront: string, storeId: string, page: number, { reviews, last }: Page): string {
  const address = (page: number) =>
    `https://itunes.apple.com/${storefront}/rss/customerreviews/page=${page}/id=${storeId}/sortby=mostrecent/xml`
  const entries = reviews.map(
    (id) => `<entry>
<updated>${writtenAt(id).toISOString().replace(".000Z", "-00:00")}</updated><id>${id}</id><title>Title ${id}</title>
<content type="text">Text ${id}</content><im:rating>${1 + (id % 5)}</im:rating><im:version>1.${id % 7}</im:version>
<author><name>A reviewer</name><uri>https://itunes.apple.com/${storefront}/reviews/id0</uri></author>
<content type="html">&lt;b&gt;Title ${id}&lt;/b&gt;</content></entry>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns:im="http://itunes.apple.com/rss" xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${address(page)}</id><title>iTunes Store: Customer Reviews</title>
<link rel="first" href="${last === null ? "" : address(1)}"/>
<link rel="last" href="${last === null ? "" : address(last)}"/>
<link rel="next" href="${last === null ? "" : address(page + 1)}"/>
${entries.join("\n")}</feed>`
}

/** Returns the date of the review with this id. Dates are a minute apart. */
export function writtenAt(id: number): Date {
  return new Date(Date.UTC(2026, 0, 1) + id * 60_000)
}

/** Returns Google Play's answer with reviews of these ids (r-900) and a token. Null ids give an empty answer. */
export function playAnswer(ids: readonly number[] | null, token: string | null): string {
  const rows = ids?.map((id) => [
    `r-${id}`,
    ["A reviewer", null],
    1 + (id % 5),
    null,
    `Text ${id}`,
    [writtenAt(id).getTime() / 1_000, 0],
    0,
    null,
    null,
    ["0", "A reviewer"],
    `1.${id % 7}`,
  ])
  const payload = rows ? JSON.stringify([rows, [null, token]]) : null
  return `)]}'\n\n${JSON.stringify([
    ["wrb.fr", "UsvDTd", payload, null, null, null, "generic"],
    ["di", 1],
  ])}`
}
