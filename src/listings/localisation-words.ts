import type { GridLocale, GridWord } from "./formulas/localisation-grid.ts"

const names = new Intl.DisplayNames(["en"], { type: "language" })

export function localeName(locale: string): string {
  return names.of(locale) ?? locale
}

const FIELD_NAMES = { name: "name", subtitle: "subtitle", keywords: "keyword field" } as const

const WASTES: Readonly<Record<string, string>> = {
  unread: "none of your storefronts reads this locale",
  repeated_word: "repeated in this field",
  repeated_in_name: "already in the name",
  repeated_in_subtitle: "already in the subtitle",
  similar_word: "another form of a word that is already used",
  own_brand: "your own name, which search finds anyway",
  filler_word: "does not describe your app",
  stop_word: "a common word that nobody searches for",
}

/** Returns why a word adds nothing, for pages and the terminal. */
export function wasteWords({
  field,
  waste,
  also,
}: Pick<GridWord, "field" | "also"> & { waste: string | null }): string {
  const why =
    waste === "repeated_across" && also !== null
      ? `already in ${localeName(also)}, which the same storefronts index`
      : (WASTES[waste ?? ""] ?? waste)
  return `${FIELD_NAMES[field]}: ${why}`
}

/** Returns a line about a field with its unused characters. */
export function fieldLine({ field, length, limit }: GridLocale["fields"][number]): string {
  if (length === null) return `${FIELD_NAMES[field]} not known`
  const unused = Math.max(0, limit - length)
  return `${FIELD_NAMES[field]} ${length} of ${limit}${unused > 0 ? `, ${unused} unused` : ""}`
}
