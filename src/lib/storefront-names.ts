import { normalForm } from "./normal-form.ts"
import { ALL_STOREFRONTS, isStorefront } from "./storefronts.ts"

/** Returns the storefront of a code or of a country's English name. Undefined if there is none. */
export function storefrontNamed(text: string): string | undefined {
  const code = text.trim().toLowerCase()
  return isStorefront(code) ? code : BY_NAME.get(spelt(text))
}

/** Returns the English name by Unicode CLDR. */
export function storefrontName(code: string): string {
  return names.of(code.toUpperCase()) ?? code
}

/** Returns the name before another noun: "US", "Japan". */
export function shortStorefront(code: string): string {
  return SHORT[code] ?? storefrontName(code)
}

/** Returns the name within a sentence: "the US", "Japan". */
export function nameOfStorefront(code: string): string {
  return `${WITH_ARTICLE.has(code) ? "the " : ""}${shortStorefront(code)}`
}

/** Returns the names within a sentence: "the US, Japan". */
export function saidStorefronts(codes: readonly string[]): string {
  return codes.map(nameOfStorefront).join(", ")
}

/** Returns, for example, "in the US App Store" or "on Google Play in Germany". */
export function inStore({ platform, storefront }: { platform: string | null; storefront: string | null }): string {
  if (platform === "ios") return `in the ${storefront === null ? "" : `${shortStorefront(storefront)} `}App Store`
  return storefront === null ? "on Google Play" : `on Google Play in ${nameOfStorefront(storefront)}`
}

const SHORT: Readonly<Record<string, string>> = { ae: "UAE", gb: "UK", us: "US" }

const WITH_ARTICLE = new Set("ae bs cf ck do fo gb gm im km ky mh mv nl ph sb sc tc us vg vi".split(" "))

// Apple's names for countries that the runtime names differently, and former names.
const OTHER_NAMES: Record<string, string> = {
  "bahamas the": "bs",
  burma: "mm",
  "cabo verde": "cv",
  "china mainland": "cn",
  "congo democratic republic of the": "cd",
  "congo republic of the": "cg",
  "cote d ivoire": "ci",
  "czech republic": "cz",
  "democratic republic of the congo": "cd",
  "hong kong": "hk",
  "ivory coast": "ci",
  "korea republic of": "kr",
  "lao people s democratic republic": "la",
  macao: "mo",
  macau: "mo",
  macedonia: "mk",
  "mainland china": "cn",
  "micronesia federated states of": "fm",
  myanmar: "mm",
  "republic of korea": "kr",
  "republic of the congo": "cg",
  "russian federation": "ru",
  swaziland: "sz",
  turkey: "tr",
  uk: "gb",
  "united states of america": "us",
  usa: "us",
  "viet nam": "vn",
}

const names = new Intl.DisplayNames(["en"], { type: "region" })
const BY_NAME = new Map([
  ...ALL_STOREFRONTS.map((code) => [spelt(names.of(code.toUpperCase()) ?? code), code] as const),
  ...Object.entries(OTHER_NAMES),
])

/** Normalises a country's name: ignores case, accents and punctuation; "&" is "and", "St." is "saint". */
function spelt(text: string): string {
  const letters = normalForm(text, "NFKD").replace(/\p{M}/gu, "").toLowerCase()
  return letters
    .replaceAll("&", " and ")
    .replace(/\bst\b/g, "saint")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
}
